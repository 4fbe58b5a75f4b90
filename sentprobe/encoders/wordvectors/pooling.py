"""Pooling of many rows into one, many times at once.

Every function takes a matrix (m, d) and, for n results, ``columns``, the rows to be pooled, result after result,
and ``lengths`` (n,), how many of them each result has. It returns an array (n, d) in double precision, zero where there
is nothing to pool. No result depends on the others, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GATHERED = 1 << 15
"""Rows copied at a time."""


def sum_rows(matrix: NDArray[Any], columns: Ints, lengths: Ints, weights: Floats | None = None) -> Floats:
    """Sums, weighted by ``weights``, one for each column: a product with a sparse matrix."""
    from scipy.sparse import csr_array

    weights = np.ones(len(columns)) if weights is None else weights
    ends = np.concatenate(([0], np.cumsum(lengths)))
    made: Floats = csr_array((weights, columns, ends), shape=(len(lengths), len(matrix))) @ matrix
    return made


def max_rows(matrix: NDArray[Any], columns: Ints, lengths: Ints) -> Floats:
    """The largest number in each dimension."""
    made = np.zeros((len(lengths), matrix.shape[1]))
    filled = np.flatnonzero(lengths)
    ends = np.cumsum(lengths)[filled]
    begins = ends - lengths[filled]
    done = 0
    while done < len(filled):
        # as many results as fit, but at least one, of which every row is needed only once
        stop = max(done + 1, int(np.searchsorted(ends, begins[done] + GATHERED, "right")))
        here = columns[begins[done] : ends[stop - 1]]
        rows = matrix[np.unique(here) if stop == done + 1 else here]
        made[filled[done:stop]] = np.maximum.reduceat(rows, begins[done:stop] - begins[done], axis=0)
        done = stop
    return made


def positional_rows(matrix: NDArray[Any], columns: Ints, lengths: Ints) -> Floats:
    """Sums weighted by (1 - j/J) - (k/d) (1 - 2j/J) for the j-th row of J and the k-th dimension of d.

    Only the second term of the weight depends on the dimension, so that two plain sums suffice.
    """
    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
    share = (np.arange(1, len(columns) + 1) - begins) / np.repeat(lengths, lengths)
    d = matrix.shape[1]
    falling = sum_rows(matrix, columns, lengths, 1 - share)
    turning = sum_rows(matrix, columns, lengths, 1 - 2 * share)
    made: Floats = falling - np.arange(1, d + 1) / d * turning
    return made
