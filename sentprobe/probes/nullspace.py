"""Iterative nullspace projection, INLP (Ravfogel et al. 2020): the directions of one classifier after another.

It is the older method to erase a property, and removes more directions than LEACE does. That both end where no
classifier beats the majority class is a check of either.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import linalg

from sentprobe.core.threads import single_threaded
from sentprobe.errors import ShapeError
from sentprobe.probes.convex import TOLERANCE, log_probabilities
from sentprobe.probes.erase import Eraser
from sentprobe.probes.features import Features
from sentprobe.probes.standardised_rows import Rows
from sentprobe.probes.warm_start import refit

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

INLP_TOLERANCE = 1e-3
"""The tolerance of the first rounds, as ``TOLERANCE`` of ``convex``: what one classifier misses, the next finds."""
NEW = 1e-6
"""The share of the weights' norm below which a direction, up to rounding, was removed before."""


def inlp(
    rows: Rows, dev: Features, dev_labels: Ints, *, l2: float, tolerance: float = 0.01, rounds: int = 100
) -> Eraser:
    """Remove the directions a linear classifier of the training rows uses, train the next one on the rest, and so on.

    A round's classifier is the probe ``linear`` at one penalty. The rounds end when its dev accuracy is at most that of
    the majority class of train plus ``tolerance``; or after ``rounds`` of them, or when no direction is left. Vectors
    are projected onto the directions that are orthogonal to the weights of all classifiers, each time from the start
    (Ben-Israel 2013: the intersection of nullspaces is the nullspace of the sum of the projections onto the rowspaces),
    so that errors of one round do not carry over to the next.
    """
    if len(dev) != len(dev_labels):
        raise ShapeError(f"There are {len(dev)} dev rows and {len(dev_labels)} labels; expected one per row.")
    constant = float((dev_labels == rows.counts.argmax()).mean())
    removed, precision = np.empty((len(rows.scale), 0)), INLP_TOLERANCE
    with single_threaded():
        while rounds:
            (model,) = refit(rows, [_eraser(rows, removed)], l2, tolerance=precision)
            if (log_probabilities(model, dev).argmax(axis=1) == dev_labels).mean() <= constant + tolerance:
                if precision == TOLERANCE:
                    break
                precision = TOLERANCE  # a coarse search may stop before it finds what little is left
                continue
            rounds -= 1
            new = _new(model.weights - model.weights.mean(axis=0), removed)  # what all classes share predicts nothing
            if not new.shape[1]:
                break
            removed = np.hstack([removed, new])
    return _eraser(rows, removed)


def _eraser(rows: Rows, removed: Doubles) -> Eraser:
    return Eraser(rows.moments.mean, removed, removed.T.copy())


def _new(weights: Doubles, removed: Doubles) -> Doubles:
    """An orthonormal basis (d, any) of what the rowspace of weights (classes, d) adds to orthonormal columns."""
    rest = weights.T
    for _ in range(2):  # the second time for what rounding leaves
        rest = rest - removed @ (removed.T @ rest)
    basis, sizes, _ = linalg.svd(rest, full_matrices=False, check_finite=False)
    found: Doubles = basis[:, sizes > NEW * np.linalg.norm(weights)]
    return found
