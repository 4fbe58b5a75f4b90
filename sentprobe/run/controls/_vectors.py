"""Vectors in blocks, because a table may be larger than memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sentprobe.run.control import Table

BLOCK_ROWS = 256
"""Vectors read at a time."""
Floats = npt.NDArray[np.float32]


def norms_of(table: Table) -> npt.NDArray[np.float64]:
    """Euclidean norms (n,) of vectors (n, d)."""
    found = np.empty(len(table))
    for rows in blocks(len(table)):
        some = np.asarray(table[rows], np.float64)
        found[rows] = np.sqrt(np.einsum("ij,ij->i", some, some))
    return found


def blocks(n: int) -> Iterator[slice]:
    """Slices that cover n rows."""
    return (slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS))
