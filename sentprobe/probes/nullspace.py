"""Iterative nullspace projection, INLP (Ravfogel et al. 2020): one direction after another, until nothing is found.

Each round removes the direction in which the classes' means differ most, which is the first one of linear discriminant
analysis, and trains the probe ``linear`` on what is left. The rounds end when dev rows do not show that the probe still
finds anything. Three things keep the number of directions at that of the property:

- Vectors are projected along the whitened direction, so that what is left is uncorrelated with what was removed. An
  orthogonal projection along the weights of a classifier leaves a part of the property wherever dimensions are
  correlated, since weights and class means then point in different directions, and every further round finds that part.
- Discriminants, unlike weights that are shrunk by a penalty, leave the classes no difference along their direction. Two
  classes therefore take one round, and k classes at most k - 1, as in LEACE (``erase``). They are singular vectors, so
  that those of all rounds are known beforehand, and rounds can be tried in any order.
- A probe is compared with chance by a test. With a fixed margin in accuracy, the noise of a hundred dev rows would
  start one round after another.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sentprobe.errors import ShapeError
from sentprobe.probes.convex import Linear, log_probabilities
from sentprobe.probes.erase import Eraser, discriminants
from sentprobe.probes.erased_probes import refit
from sentprobe.probes.features import Features
from sentprobe.probes.standardised_rows import StandardisedRows
from sentprobe.stats.means import mean
from sentprobe.stats.resample import Clusters

Ints = npt.NDArray[np.int64]

CHANCE_LEVEL = 0.01
"""The one-sided p-value below which a probe finds something on dev: of properties that vectors do not encode, one in a
hundred is given a direction."""


def inlp(
    train: Features,
    labels: Ints,
    classes: int,
    dev: Features,
    dev_labels: Ints,
    *,
    l2: float,
    clusters: Clusters | None = None,
    rows: StandardisedRows | None = None,
) -> Eraser:
    """Remove as many directions as it takes until the probe ``linear`` at one penalty finds nothing on dev.

    ``clusters`` (m,) are those of the dev rows, such as target forms. ``rows`` are the training rows, if they were read
    before. Dev labels of -1 are not in train, and their rows do not count.
    """
    if len(dev) != len(dev_labels):
        raise ShapeError(f"There are {len(dev)} dev rows and {len(dev_labels)} labels; expected one per row.")
    rows = StandardisedRows.of(train, labels, classes) if rows is None else rows
    basis = discriminants(train, labels, classes, rows.moments)
    labelled = np.flatnonzero(dev_labels >= 0)
    dev, dev_labels = dev.select(labelled), dev_labels[labelled]
    clusters = None if clusters is None else [clusters[i] for i in labelled.tolist()]
    tried: dict[int, bool] = {basis.shape[1]: False}  # without them all, every class has the same mean

    def try_ranks(ranks: Sequence[int]) -> None:
        models = refit(rows, [rows.moments.oblique(basis[:, :rank]) for rank in ranks], l2)
        for rank, model in zip(ranks, models, strict=True):
            tried[rank] = p_value(model, dev, dev_labels, clusters) < CHANCE_LEVEL

    # with a thousand classes there are hundreds of rounds: powers of two first, which share their reads, then halves
    try_ranks([rank for rank in (0, *(2**i for i in range(20))) if rank < basis.shape[1]])
    while True:
        high = min(rank for rank, finds in tried.items() if not finds)
        low = max((rank for rank in tried if rank < high), default=-1)
        if high - low <= 1:
            return rows.moments.oblique(basis[:, :high])
        try_ranks([(low + high) // 2])


def p_value(model: Linear, dev: Features, labels: Ints, clusters: Clusters | None = None) -> float:
    """The one-sided p-value of a classifier that knows nothing about the labels (m,) of dev rows.

    The log-probability of the label of a row is compared with that of a label drawn by the classes' shares. Unlike
    accuracy, it also shows what a classifier knows that predicts the same class for all rows.
    """
    from scipy.special import stdtr

    logs = log_probabilities(model, dev).astype(np.float64)
    logs -= logs.mean(axis=0)  # what all rows have in common says nothing about any of them
    shares = np.bincount(labels, minlength=logs.shape[1]) / len(labels)
    gain = logs[np.arange(len(labels)), labels] - logs @ shares
    several = clusters is not None and len(set(clusters)) > 1
    estimate = mean(gain, clusters if several else None)
    if estimate.variance <= 0:
        return 1.0
    return float(stdtr(estimate.df, -estimate.value / estimate.variance**0.5))
