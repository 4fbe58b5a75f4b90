"""How the vectors of either side get to the common space: named steps, then a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.lab.alignment.space import Matrix, Rows

STEPS = ("unit", "center")
"""``unit``: every vector gets length one; ``center``: the mean of all vectors is subtracted."""
BLOCK = 4096
"""Rows that are mapped at a time."""


@dataclass(frozen=True, eq=False)
class SideMap:
    """The map of one side: the steps in order, then a product with the matrix."""

    steps: tuple[str, ...] = ()
    means: tuple[Matrix, ...] = ()
    """What each step ``center`` subtracts, in order; shape (d,)."""
    matrix: Matrix | None = None
    """(d, k); rows are multiplied by it from the left: x @ matrix. None: the identity."""

    def prepared(self, rows: Matrix) -> Matrix:
        """Rows (n, d) after the steps, as a copy."""
        prepared, means = np.array(rows, np.float32), iter(self.means)
        for step in self.steps:
            if step == "unit":
                unit_rows(prepared)
            else:
                prepared -= next(means)
        return prepared

    def apply(self, rows: Matrix) -> Matrix:
        """Rows (n, d) in the common space, (n, k), as a copy."""
        prepared = self.prepared(rows)
        return prepared if self.matrix is None else prepared @ self.matrix


@dataclass(frozen=True, eq=False)
class WordMap:
    """The maps of both sides."""

    source: SideMap
    target: SideMap


def unit_rows(rows: Matrix) -> None:
    """Scale every row to length one, in place; zero rows stay zero."""
    for at in range(0, len(rows), BLOCK):
        block = rows[at : at + BLOCK]
        norms = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64)).astype(np.float32)
        norms[norms == 0] = 1
        block /= norms[:, None]


def check_steps(steps: Sequence[str]) -> tuple[str, ...]:
    """The steps, if all are known; UsageError otherwise."""
    for step in steps:
        if step not in STEPS:
            raise UsageError(
                f"There is no step {step!r}; expected {' or '.join(STEPS)}, in the order they are applied."
            )
    return tuple(steps)


def prepare(vectors: Matrix, steps: Sequence[str]) -> SideMap:
    """Apply steps to all vectors (n, d) of a space, in place; returns them as a map without a matrix."""
    means: list[NDArray[np.float32]] = []
    for step in check_steps(steps):
        if step == "unit":
            unit_rows(vectors)
        else:
            means.append(vectors.mean(0, dtype=np.float64).astype(np.float32))
            vectors -= means[-1]
    return SideMap(tuple(steps), tuple(means))


class MappedRows:
    """The rows of a matrix in the common space, of length one, computed block by block as they are read."""

    def __init__(self, vectors: Matrix, side: SideMap | None = None) -> None:
        self._vectors, self._side = vectors, side
        width = side.matrix.shape[1] if side is not None and side.matrix is not None else vectors.shape[1]
        self.shape = (len(vectors), int(width))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | Rows) -> Matrix:
        mapped = self._vectors[rows] if self._side is None else self._side.apply(self._vectors[rows])
        # a slice is a view of the vectors of the space, which must not be scaled
        mapped = np.array(mapped, np.float32) if mapped.base is not None or mapped is self._vectors else mapped
        unit_rows(mapped)
        return mapped
