"""Iterated nullspace projection (Ravfogel et al. 2020): what a classifier goes by is taken out, one after the other.

It is the older way to erase a property, and takes more directions than LEACE does. That both end where no classifier is
above the majority is a check of either.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import linalg

from sonde.core.threads import single_threaded
from sonde.errors import ShapeError
from sonde.probes.convex import TOLERANCE, log_probabilities
from sonde.probes.erase import Eraser
from sonde.probes.features import Features
from sonde.probes.warm_start import Rows, refit

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

INLP_TOLERANCE = 1e-3
"""How near to an optimum the classifiers of the first rounds are, as in ``convex``: what one misses, the next finds."""
NEW = 1e-6
"""Share of the weights' size below which a direction is one that was taken out before, but for rounding."""


def inlp(
    rows: Rows, dev: Features, dev_labels: Ints, *, l2: float, tolerance: float = 0.01, rounds: int = 100
) -> Eraser:
    """Take out what a linear classifier of the training rows goes by, train the next one on the rest, and so on.

    A round's classifier is the probe ``linear`` at one penalty. The rounds end when it is right on dev at most as often
    as the most frequent class of training, and ``tolerance`` more; or after ``rounds`` of them, or with no direction
    left. Vectors are projected onto the directions that are orthogonal to the weights of all classifiers, each time
    from the start (Ben-Israel 2013: the intersection of nullspaces is the nullspace of the sum of the projections onto
    the rowspaces), so that errors of one round are not carried to the next.
    """
    if len(dev) != len(dev_labels):
        raise ShapeError(f"There are {len(dev)} dev rows and {len(dev_labels)} labels; expected as many.")
    constant = float((dev_labels == rows.counts.argmax()).mean())
    taken, near = np.empty((len(rows.scale), 0)), INLP_TOLERANCE
    with single_threaded():
        while rounds:
            (model,) = refit(rows, [_out(rows, taken)], l2, near=near)
            if (log_probabilities(model, dev).argmax(axis=1) == dev_labels).mean() <= constant + tolerance:
                if near == TOLERANCE:
                    break
                near = TOLERANCE  # a rough search may stop before it finds what little is left
                continue
            rounds -= 1
            new = _new(model.weights - model.weights.mean(axis=0), taken)  # what all classes share tells nothing
            if not new.shape[1]:
                break
            taken = np.hstack([taken, new])
    return _out(rows, taken)


def _out(rows: Rows, taken: Doubles) -> Eraser:
    return Eraser(rows.moments.mean, taken, taken.T.copy())


def _new(weights: Doubles, taken: Doubles) -> Doubles:
    """An orthonormal basis (d, any) of what the rowspace of weights (classes, d) has beyond orthonormal columns."""
    rest = weights.T
    for _ in range(2):  # once more, for what rounding leaves
        rest = rest - taken @ (taken.T @ rest)
    basis, sizes, _ = linalg.svd(rest, full_matrices=False, check_finite=False)
    found: Doubles = basis[:, sizes > NEW * np.linalg.norm(weights)]
    return found
