"""Whether a map found without a dictionary is better than none, and which of several is best.

The criterion depends on how a method weighs dimensions. To compare maps of different methods, or with maps that know
nothing, each is replaced by the orthogonal matrix that fits its own translations best, between vectors of length one
that are centred, and the criterion of that one counts. Random rotations get the same round of fitting: the
range of their values is what a search that found nothing ends with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sonde.alignment.criterion import criterion
from sonde.alignment.maps import prepare
from sonde.alignment.method import Matrices
from sonde.alignment.methods.procrustes import orthogonal
from sonde.alignment.refine import mutual_neighbours
from sonde.alignment.space import Matrix

WORDS = 10_000
"""The most frequent words of either side that are looked at."""
STEPS = ("unit", "center", "unit")
RANDOM_MAPS = 5
MARGIN = 4.0
"""Standard deviations of the values of random maps by which a map must be better than the best of them."""
LEAST_MARGIN = 0.01


class StartRange(NamedTuple):
    """What random rotations come to."""

    low: float
    high: float
    limit: float
    """A map that comes to less has found nothing."""


def comparable(source: Matrix, target: Matrix, matrices: Matrices) -> float:
    """The criterion of prepared vectors (n, d), (m, d) after a fit to the map's own translations; 0 if it has none."""
    source, target = source[:WORDS], target[:WORDS]
    pairs = mutual_neighbours(source, target, matrices)
    if not len(pairs):
        return 0.0
    one, two = np.array(source), np.array(target)
    for rows in (one, two):
        prepare(rows, STEPS)
    return criterion(one, two, Matrices(orthogonal(one[pairs[:, 0]], two[pairs[:, 1]])))


def start_range(source: Matrix, target: Matrix) -> StartRange:
    """The range of random rotations; the same for the same spaces."""
    found = []
    for number in range(RANDOM_MAPS):
        rng = np.random.default_rng([19, number])
        random, _ = np.linalg.qr(rng.standard_normal((source.shape[1], target.shape[1])))
        found.append(comparable(source, target, Matrices(random.astype(np.float32))))
    low, high = min(found), max(found)
    return StartRange(low, high, high + max(MARGIN * float(np.std(found, ddof=1)), LEAST_MARGIN))
