"""What a probe reads: rows of tables of vectors, concatenated, and gathered only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError, ShapeError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Features:
    """An (n, d) matrix that is never stored: row i is ``tables[0][indices[0][i]]``, ``tables[1][…]``, … concatenated.

    A table (rows, d_t) may be memory-mapped, or a sparse array of scipy; it is never copied in full.
    """

    tables: tuple[Any, ...]
    indices: tuple[Ints, ...]
    """For each table, the row of it that row i takes, (n,)."""
    combine: Callable[[Sequence[Floats]], Floats] | None = None
    """Makes rows (m, any) from the rows (m, d_t) of every table, where these are not simply concatenated."""

    def __post_init__(self) -> None:
        """Refuse tables and indices that do not fit together."""
        shapes = [table.shape for table in self.tables]
        if not shapes or len(shapes) != len(self.indices) or any(len(shape) != 2 for shape in shapes):
            raise ShapeError(f"Features need a table (rows, dimension) per column of indices, got {shapes}.")
        lengths = sorted({len(column) for column in self.indices})
        if len(lengths) != 1:
            raise ShapeError(f"Features have columns of {lengths} rows; expected the same number.")
        if self.combine is not None and len(shapes) < 2:  # a single table may be read directly, without ``take``
            raise ShapeError("Features that are combined need at least two tables, got one.")

    @classmethod
    def of(cls, array: Any) -> Features:
        """All rows of one array (n, d), in order."""
        return cls((array,), (np.arange(array.shape[0], dtype=np.int64),))

    @property
    def shape(self) -> tuple[int, int]:
        """n and d."""
        widths = [table.shape[1] for table in self.tables]
        if self.combine is None:
            return len(self), sum(widths)
        return len(self), self.combine([np.empty((0, width), np.float32) for width in widths]).shape[1]

    @property
    def sparse(self) -> bool:
        """Whether all tables are sparse, and their rows simply concatenated."""
        return self.combine is None and all(map(is_sparse, self.tables))

    def __len__(self) -> int:
        return len(self.indices[0])

    def select(self, rows: Ints | Sequence[int] | slice) -> Features:
        """Some of the rows, in this order; nothing is gathered."""
        return replace(self, indices=tuple(column[rows] for column in self.indices))

    def take(self, rows: Ints | slice) -> Floats:
        """These rows as a new contiguous array (m, d), float32."""
        parts = [dense(table[column[rows]]) for table, column in zip(self.tables, self.indices, strict=True)]
        if self.combine is not None:
            return self.combine([np.asarray(part, np.float32) for part in parts])
        whole = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        return np.ascontiguousarray(whole, np.float32)

    def take_sparse(self, rows: Ints | slice = slice(None)) -> csr_array:
        """These rows as a sparse array (m, d), float32, where ``sparse``."""
        from scipy.sparse import csr_array, hstack

        parts = [table[column[rows]] for table, column in zip(self.tables, self.indices, strict=True)]
        array = csr_array(parts[0] if len(parts) == 1 else hstack(parts), dtype=np.float32)
        array.sum_duplicates()
        return array

    def chunks(self, size: int) -> Iterator[tuple[int, Floats]]:
        """(first row, rows) from top to bottom, ``size`` at a time."""
        for start in range(0, len(self), size):
            yield start, self.take(slice(start, start + size))


def is_sparse(table: Any) -> bool:
    """Whether a table is a sparse array of scipy."""
    return hasattr(table, "indptr")


def dense(rows: Any) -> Array:
    """Rows of a table as an array of numpy."""
    array: Array = rows.toarray() if is_sparse(rows) else rows
    return array


def check_labels(features: Features, labels: Ints, classes: int | None = None, name: str = "", lowest: int = 0) -> None:
    """Raise ShapeError unless each row has a label, and DataError unless labels are ``lowest`` … classes - 1.

    ``name`` says which rows they are, such as ``dev``. Without ``classes`` any label will do.
    """
    rows_of = f"{name} " if name else ""
    if len(features) != len(labels):
        raise ShapeError(f"There are {len(features)} {rows_of}rows and {len(labels)} labels; expected one per row.")
    if classes is not None and not lowest <= labels.min() <= labels.max() < classes:
        raise DataError(
            f"The {rows_of}labels are {labels.min()} … {labels.max()}; expected {lowest} … {classes - 1}, as there are "
            f"{classes} classes."
        )
