"""How the rows of a set are read: block by block, dense or sparse, in a fixed order; and how they are standardised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.errors import DataError
from sentprobe.probes.features import Array, Doubles, Features, Floats, Ints, is_sparse

if TYPE_CHECKING:
    from scipy import sparse

BLOCK_ROWS, BLOCK_LOGITS = 2**13, 2**22
"""The largest number of sparse rows and of their logits in a block: float32 sums are over few enough rows to stay exact
enough."""
FAR, EXTREME = 50.0, 1e15
"""Deviations between a mean and 0, and sizes of a deviation, beyond which float32 loses too much: such rows are
standardised as they are read."""
MAX_SORTED_BYTES = 2**26
"""Bytes of rows up to which they are sorted, which takes a copy. Sparse rows are not sorted."""
SORT_COLUMNS = 4
"""Dimensions that are compared first: they nearly always tell rows apart."""


def block_rows(cells: int, *widths: int) -> int:
    """The number of rows in a block of about ``cells`` numbers."""
    return max(64, min(cells // 1024, cells // max(widths)))


def read_blocks(features: Features, size: int) -> Iterator[tuple[int, Floats]]:
    """(first row, rows): without a copy where the rows are contiguous in one table."""
    table, indices = features.tables[0], features.indices[0]
    first = int(indices[0])
    is_plain = len(features.tables) == 1 and not is_sparse(table)
    is_plain = is_plain and table.dtype == np.float32 and table.flags.c_contiguous
    if not (is_plain and first >= 0 and np.array_equal(indices, np.arange(first, first + len(indices)))):
        yield from features.chunks(size)
        return
    rows: Floats = np.asarray(table)[first : first + len(indices)]
    for start in range(0, len(rows), size):
        yield start, rows[start : start + size]


def sparse_blocks(features: Features, outputs: int) -> Iterator[tuple[int, sparse.csr_array]]:
    """(first row, rows) from top to bottom, as many at a time as suit so many outputs."""
    size = max(64, min(BLOCK_ROWS, BLOCK_LOGITS // outputs))
    for start in range(0, len(features), size):
        yield start, features.take_sparse(slice(start, start + size))


def sort_rows(features: Features, labels: Ints | None = None) -> tuple[Features, Ints]:
    """The rows in an order that follows from the rows themselves, and the indices (n,) that they had.

    Sums depend on their order in the last bit, and a search on the rows that were sampled to precondition it; what ends
    near the optimum may then differ in a prediction. So rows are sorted before anything is computed from them, and
    results are the same to the last bit in whatever order rows are given, unless there are very many. Rows with the
    same vector are sorted by label.
    """
    n, d = features.shape
    if features.sparse or 4 * n * d > MAX_SORTED_BYTES or not n:
        return features, np.arange(n)
    rows = features.take(slice(None))
    keys = [rows[:, i] for i in range(0, d, -(-d // SORT_COLUMNS))]
    last_key: list[Array] = [] if labels is None else [labels]
    order = np.lexsort([*last_key, *reversed(keys)])
    sorted_keys = np.stack([key[order] for key in keys])
    if (sorted_keys[:, 1:] == sorted_keys[:, :-1]).all(axis=0).any():
        ranks = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        order = np.lexsort([*last_key, ranks])
    return Features.of(rows[order]), order


def is_far(mean: Doubles, scale: Doubles) -> bool:
    """Whether rows with these means and deviations are to be standardised as they are read."""
    return bool((np.abs(mean) > FAR * scale).any() or (np.abs(np.log(scale)) > np.log(EXTREME)).any())


def standardised(rows: Floats, mean: Doubles, scale: Doubles) -> Floats:
    """Rows (m, d) with mean 0 and deviation 1, computed in float64."""
    scaled: Floats = ((rows - mean) / scale).astype(np.float32)
    return scaled


def moments(features: Features, size: int) -> tuple[Doubles, Doubles]:
    """Mean and standard deviation of each dimension, (d,) each; 1 for a deviation of 0."""
    n, d = features.shape
    sums, squares, near = np.zeros(d), np.zeros(d), np.zeros(d, np.float32)
    with np.errstate(invalid="ignore"):  # reported below
        if features.sparse:
            near, sums, squares = _sparse_sums(features)
        for start, rows in () if features.sparse else read_blocks(features, size):
            if start == 0:  # sums are about the mean of the first block; in float32, or constants would not become 0
                near = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
            differences = np.subtract(rows, near, dtype=np.float64)
            sums += differences.sum(axis=0)
            squares += np.einsum("ij,ij->j", differences, differences)
    if not np.isfinite(squares).all():
        not_finite = np.count_nonzero(~np.isfinite(squares))
        raise DataError(f"{not_finite} of {d} dimensions of the training vectors have values that are not finite.")
    scale = np.sqrt(np.maximum(squares / n - (sums / n) ** 2, 0))
    return near + sums / n, np.where(scale > 0, scale, 1.0)


def _sparse_sums(features: Features) -> tuple[Floats, Doubles, Doubles]:
    """A number near the mean of each dimension, and sums of differences from it and of their squares; (d,) each."""
    n, d = features.shape
    rows = features.take_sparse()
    # in float32, or the differences of constants would not be 0
    near = (np.bincount(rows.indices, rows.data, d) / n).astype(np.float32)
    zeros = np.asarray(n - np.bincount(rows.indices, minlength=d), np.float64)
    differences = np.subtract(rows.data, near[rows.indices], dtype=np.float64)
    sums = np.bincount(rows.indices, differences, d) - zeros * near
    squares = np.bincount(rows.indices, differences * differences, d) + zeros * near * near
    return near, sums, squares
