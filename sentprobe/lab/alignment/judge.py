"""Whether a map found without a dictionary is better than none, and which of several is best.

The criterion depends on how a method weighs dimensions. To compare maps of different methods, or with maps that know
nothing, each is replaced by the orthogonal matrix that fits its own translations best, between vectors of length one
that are centred, and the criterion of that one counts, over the most frequent words.

Any map gets better by this measure when it is fitted to its own translations again and again, even if all of them are
wrong; and one that matches the distributions of both sides, as an adversarial one does, begins higher than a random
rotation, right or wrong. So a map is compared with rotations that know the distributions and nothing else: they match
the principal axes of both sides in order, with random signs. Both get the same number of rounds. In small or easy
spaces such a rotation may end at the right map, as searches that fail never do; then it confirms it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentprobe.lab.alignment.criterion import criterion
from sentprobe.lab.alignment.maps import prepare
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.methods.procrustes import orthogonal
from sentprobe.lab.alignment.refine import mutual_neighbours
from sentprobe.lab.alignment.space import Matrix

WORDS = 4000
"""The most frequent words of either side that are looked at."""
STEPS = ("unit", "center", "unit")
RANDOM_MAPS = 3
ROUNDS = 10
"""Fits of a map to its own translations; further ones change little."""
MARGIN = 4.0
"""Standard deviations of the values of these rotations by which a map must be better than the best of them."""
LEAST_MARGIN = 0.02
ALIKE = 0.5
"""The mean cosine of the rows of two matrices from which on they are the same solution."""


FEWEST_DIMENSIONS = 5
"""In fewer, unrelated matrices are alike by chance."""


class Verdict(NamedTuple):
    """How a map compares with rotations that know only the distributions of both sides."""

    fit: float
    """After one fit: what maps of different methods are compared by."""
    value: float
    """After all rounds."""
    low: float
    high: float
    """The range of the rotations that ended elsewhere, after as many rounds."""
    limit: float
    """A map that comes to no more has found nothing."""
    confirmed: int
    """Rotations that ended at this very map, which shows that it is right."""

    @property
    def passed(self) -> bool:
        """Whether something was found."""
        return self.confirmed > 0 or self.value > self.limit


def can_judge(source: Matrix, target: Matrix) -> bool:
    """Whether there are enough words to tell a right map from a wrong one: two or more for each dimension."""
    dim = int(source.shape[1])
    return dim >= FEWEST_DIMENSIONS and min(len(source), len(target)) >= 2 * dim


def judge(source: Matrix, target: Matrix, matrices: Matrices) -> Verdict:
    """Compare a map of prepared vectors (n, d), (m, d) with rotations that are the same for the same spaces."""
    one, two = _frequent(source), _frequent(target)
    first = _fitted(source[:WORDS], target[:WORDS], matrices, one, two)
    fitted = _climb(one, two, first, ROUNDS - 1)
    found, confirmed = [], 0
    for number in range(RANDOM_MAPS):
        turned = _climb(one, two, _axes(one, two, np.random.default_rng([19, number])), ROUNDS)
        if turned is not None and fitted is not None and _agree(turned, fitted):
            confirmed += 1
        else:
            found.append(_value(one, two, turned))
    found = found or [0.0]
    # at most half of what is left, since no map comes to more than 1
    margin = min(max(MARGIN * float(np.std(found)), LEAST_MARGIN), (1 - max(found)) / 2)
    fit, value = _value(one, two, first), _value(one, two, fitted)
    return Verdict(fit, value, min(found), max(found), max(found) + margin, confirmed)


def _axes(one: Matrix, two: Matrix, rng: np.random.Generator) -> Matrices:
    """The rotation that matches the principal axes of both sides, by their variance, with random signs."""
    axes = [np.linalg.eigh(rows.T.astype(np.float64) @ rows)[1] for rows in (one, two)]
    return Matrices(((axes[0] * rng.choice([-1.0, 1.0], one.shape[1])) @ axes[1].T).astype(np.float32))


def _climb(one: Matrix, two: Matrix, matrices: Matrices | None, rounds: int) -> Matrices | None:
    """A map after some fits to its own translations; None if it has none."""
    for _ in range(rounds):
        if matrices is not None:
            matrices = _fitted(one, two, matrices, one, two)
    return matrices


def _value(one: Matrix, two: Matrix, matrices: Matrices | None) -> float:
    return 0.0 if matrices is None else criterion(one, two, matrices)


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
