"""Whether a map found without a dictionary is better than none, and which of several is best.

The criterion depends on how a method weighs dimensions. To compare maps of different methods, or with maps that know
nothing, each is replaced by the orthogonal matrix that fits its own translations best, between vectors of length one
that are centred, and the criterion of that one counts, over the most frequent words.

Any map gets better by this measure when it is fitted to its own translations again and again, even if all of them are
wrong. So the range that a search starts from, and that one which found nothing ends in, is that of random rotations
after several such rounds. In small or easy spaces they may end at the right map, as several searches that fail never
do; then they confirm it.
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

WORDS = 4000
"""The most frequent words of either side that are looked at."""
STEPS = ("unit", "center", "unit")
RANDOM_MAPS = 3
ROUNDS = 10
"""Fits of a random rotation to its own translations; further ones change little."""
MARGIN = 4.0
"""Standard deviations of the values of random rotations by which a map must be better than the best of them."""
LEAST_MARGIN = 0.02
ALIKE = 0.5
"""The mean cosine of the rows of two matrices from which on they are the same solution."""


class Verdict(NamedTuple):
    """How a map compares with what random rotations come to."""

    value: float
    low: float
    high: float
    """The range of random rotations that ended elsewhere."""
    limit: float
    """A map that comes to no more has found nothing."""
    confirmed: int
    """Random rotations that ended at this very map, which shows that it is right."""

    @property
    def passed(self) -> bool:
        """Whether something was found."""
        return self.confirmed > 0 or self.value > self.limit


def comparable(source: Matrix, target: Matrix, matrices: Matrices) -> float:
    """The criterion of prepared vectors (n, d), (m, d) after a fit to the map's own translations; 0 if it has none."""
    return _value(source, target, matrices)[0]


def judge(source: Matrix, target: Matrix, matrices: Matrices) -> Verdict:
    """Compare a map of prepared vectors with random rotations, which are the same for the same spaces."""
    value, fitted = _value(source, target, matrices)
    one, two = _frequent(source), _frequent(target)
    found, confirmed = [], 0
    for number in range(RANDOM_MAPS):
        rng = np.random.default_rng([19, number])
        random, _ = np.linalg.qr(rng.standard_normal((one.shape[1], two.shape[1])))
        turned: Matrices | None = Matrices(random.astype(np.float32))
        for _ in range(ROUNDS):
            turned = turned and _fitted(one, two, turned, one, two)
        if turned is not None and fitted is not None and _agree(turned, fitted):
            confirmed += 1
        else:
            found.append(0.0 if turned is None else criterion(one, two, turned))
    found = found or [0.0]
    margin = max(MARGIN * float(np.std(found)), LEAST_MARGIN)
    return Verdict(value, min(found), max(found), max(found) + margin, confirmed)


def _value(source: Matrix, target: Matrix, matrices: Matrices) -> tuple[float, Matrices | None]:
    one, two = _frequent(source), _frequent(target)
    found = _fitted(source[:WORDS], target[:WORDS], matrices, one, two)
    return (0.0 if found is None else criterion(one, two, found)), found


def _agree(one: Matrices, two: Matrices) -> bool:
    """Whether two orthogonal matrices (d, d) are alike; those of different searches that failed are not."""
    return float(np.vdot(one.source, two.source)) > ALIKE * len(one.source)


def _frequent(vectors: Matrix) -> Matrix:
    """The vectors of the most frequent words, prepared alike whatever the method."""
    found = np.array(vectors[:WORDS])
    prepare(found, STEPS)
    return found


def _fitted(source: Matrix, target: Matrix, matrices: Matrices, one: Matrix, two: Matrix) -> Matrices | None:
    """The orthogonal matrix from rows of ``one`` to those of ``two`` that are translations of each other."""
    pairs = mutual_neighbours(source, target, matrices)
    return Matrices(orthogonal(one[pairs[:, 0]], two[pairs[:, 1]])) if len(pairs) else None
