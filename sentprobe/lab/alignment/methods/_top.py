"""The largest numbers of every row, faster than by sorting: first the best groups of columns, then the best in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.space import Matrix, Rows

GROUP = 16
"""Columns in a group."""


def top_columns(scores: Matrix | NDArray[np.float64], k: int) -> Rows:
    """The columns (n, k) of the k largest numbers of each row, in no order; all columns if there are no more than k.

    The k largest numbers of a row are in the k groups with the largest maxima, so that only these are searched.
    """
    n, m = scores.shape
    width = m // GROUP
    if m <= k:
        return np.broadcast_to(np.arange(m), (n, m))
    if width <= 2 * k:
        return np.argpartition(scores, -k, axis=1)[:, -k:]
    maxima = scores[:, : width * GROUP].reshape(n, GROUP, width).max(1)
    groups = np.argpartition(maxima, -k, axis=1)[:, -k:]
    columns = (groups[:, :, None] + width * np.arange(GROUP)).reshape(n, -1)
    rest = np.broadcast_to(np.arange(width * GROUP, m), (n, m - width * GROUP))
    columns = np.concatenate([columns, rest], axis=1)
    best = np.argpartition(np.take_along_axis(scores, columns, 1), -k, axis=1)[:, -k:]
    return np.asarray(np.take_along_axis(columns, best, 1), np.int64)


def top_mean(scores: Matrix, k: int) -> Matrix:
    """The mean (n,) of the k largest numbers of each row, or of all if there are fewer."""
    best = np.take_along_axis(scores, top_columns(scores, k), 1)
    # sorted, so that the sum does not depend on the order in which they were found
    return np.asarray(np.sort(best, axis=1).mean(1, dtype=np.float64), np.float32)
