"""Both languages under one map: the cosines of a word with all words, from one product of a matrix and a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.alignment.maps import BLOCK, MappedRows, SideMap, WordMap
from sentprobe.alignment.space import Matrix, Rows, Space

SideName = Literal["source", "target"]
OTHER: Mapping[SideName, SideName] = {"source": "target", "target": "source"}
Vector = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Side:
    """The words of one language under a map.

    The steps of a map scale rows and subtract means, so that the unit vector of row x in the common space is
    (scale · x − shifts · means) matrix; for a dot product with it, no row needs to be mapped.
    """

    space: Space
    map: SideMap
    scales: Vector
    """(n,)."""
    shifts: Matrix
    """(n, means)."""

    def vector(self, row: int) -> Vector:
        """A word in the common space, (k,), of length one."""
        return np.asarray(self.rows()[np.array([row])][0])

    def cosines(self, vector: Vector) -> Vector:
        """The cosines (n,) of all words with a vector (k,) of length one."""
        back = vector if self.map.matrix is None else self.map.matrix @ vector
        found = self.scales * (self.space.vectors @ back)
        for j, mean in enumerate(self.map.means):
            found -= self.shifts[:, j] * (mean @ back)
        return np.asarray(found)

    def rows(self) -> MappedRows:
        """All words in the common space, mapped as they are read."""
        return MappedRows(self.space.vectors, self.map)


class View(NamedTuple):
    """Both sides under a map."""

    source: Side
    target: Side

    def side(self, name: SideName) -> Side:
        """One of them."""
        return self.source if name == "source" else self.target


def view_of(spaces: tuple[Space, Space], found: WordMap) -> View:
    """Two spaces under a map."""
    return View(_side(spaces[0], found.source), _side(spaces[1], found.target))


def best_rows(scores: Vector, k: int) -> Rows:
    """The rows of the k highest scores, the best first; of equal scores, the lower row first."""
    k = min(k, len(scores))
    enough = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    return enough[np.argsort(-scores[enough], kind="stable")][:k]


def _side(space: Space, side: SideMap) -> Side:
    scales, shifts = np.ones(len(space), np.float32), np.zeros((len(space), len(side.means)), np.float32)
    for at in range(0, len(space), BLOCK):
        rows, means = np.array(space.vectors[at : at + BLOCK], np.float32), iter(enumerate(side.means))
        scale, shift = scales[at : at + BLOCK], shifts[at : at + BLOCK]
        for step in (*side.steps, "matrix"):
            if step == "center":
                j, mean = next(means)
                rows -= mean
                shift[:, j] += 1
                continue
            if step == "matrix" and side.matrix is not None:
                rows = rows @ side.matrix
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)).astype(np.float32)
            lengths[lengths == 0] = 1  # zero rows stay zero
            for some in (rows, shift):
                some /= lengths[:, None]
            scale /= lengths
    return Side(space, side, scales, shifts)
