"""Whether a map found without a dictionary is better than chance, and which of several is best.

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

from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.maps import prepare
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.methods.procrustes import orthogonal
from sentprobe.lab.alignment.refine import mutual_neighbours
from sentprobe.lab.alignment.space import Matrix

WORDS = 4000
"""The most frequent words of either side that are compared."""
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


class Validation(NamedTuple):
    """How a map compares with rotations that know only the distributions of both sides."""

    fit: float
    """After one fit: what maps of different methods are compared by."""
    value: float
    """After all rounds."""
    low: float
    high: float
    """The range of the rotations that ended elsewhere, after as many rounds."""
    limit: float
    """A map that comes to no more is no better than chance, unless it is confirmed."""
    confirmed: int
    """Rotations that ended at this very map, which shows that it is right."""

    @property
    def passed(self) -> bool:
        """Whether the map is above the limit, or confirmed."""
        return self.confirmed > 0 or self.value > self.limit


def can_validate(source: Matrix, target: Matrix) -> bool:
    """Whether there are enough words to tell a right map from a wrong one: two or more for each dimension."""
    dim = int(source.shape[1])
    return dim >= FEWEST_DIMENSIONS and min(len(source), len(target)) >= 2 * dim


def validate(source: Matrix, target: Matrix, matrices: Matrices) -> Validation:
    """Compare a map of prepared vectors (n, d), (m, d) with rotations that are the same for the same spaces."""
    source_rows, target_rows = _frequent_rows(source), _frequent_rows(target)
    first_fit = _fitted(source[:WORDS], target[:WORDS], matrices, source_rows, target_rows)
    final_fit = _refit(source_rows, target_rows, first_fit, ROUNDS - 1)
    rotation_values, confirmed = [], 0
    for rotation_number in range(RANDOM_MAPS):
        start = _axis_rotation(source_rows, target_rows, np.random.default_rng([19, rotation_number]))
        rotated = _refit(source_rows, target_rows, start, ROUNDS)
        if rotated is not None and final_fit is not None and _are_alike(rotated, final_fit):
            confirmed += 1
        else:
            rotation_values.append(_criterion_of_fit(source_rows, target_rows, rotated))
    rotation_values = rotation_values or [0.0]
    highest = max(rotation_values)
    # at most half of what is left, since no map comes to more than 1
    margin = min(max(MARGIN * float(np.std(rotation_values)), LEAST_MARGIN), (1 - highest) / 2)
    fit, value = (
        _criterion_of_fit(source_rows, target_rows, first_fit),
        _criterion_of_fit(source_rows, target_rows, final_fit),
    )
    return Validation(fit, value, min(rotation_values), highest, highest + margin, confirmed)


def _axis_rotation(source: Matrix, target: Matrix, rng: np.random.Generator) -> Matrices:
    """The rotation that matches the principal axes of both sides, by their variance, with random signs."""
    axes = [np.linalg.eigh(rows.T.astype(np.float64) @ rows)[1] for rows in (source, target)]
    return Matrices(((axes[0] * rng.choice([-1.0, 1.0], source.shape[1])) @ axes[1].T).astype(np.float32))


def _refit(source: Matrix, target: Matrix, matrices: Matrices | None, rounds: int) -> Matrices | None:
    """A map after some fits to its own translations; None if it has none."""
    for _ in range(rounds):
        if matrices is not None:
            matrices = _fitted(source, target, matrices, source, target)
    return matrices


def _criterion_of_fit(source: Matrix, target: Matrix, matrices: Matrices | None) -> float:
    return 0.0 if matrices is None else criterion(source, target, matrices)


def _are_alike(first: Matrices, second: Matrices) -> bool:
    """Whether two orthogonal matrices (d, d) are alike; those of different searches that failed are not."""
    return float(np.vdot(first.source, second.source)) > ALIKE * len(first.source)


def _frequent_rows(vectors: Matrix) -> Matrix:
    """The vectors of the most frequent words, prepared alike whatever the method."""
    rows = np.array(vectors[:WORDS])
    prepare(rows, STEPS)
    return rows


def _fitted(
    source: Matrix, target: Matrix, matrices: Matrices, source_rows: Matrix, target_rows: Matrix
) -> Matrices | None:
    """The orthogonal matrix from source rows to those target rows that a map makes their translations."""
    pairs = mutual_neighbours(source, target, matrices)
    return Matrices(orthogonal(source_rows[pairs[:, 0]], target_rows[pairs[:, 1]])) if len(pairs) else None
