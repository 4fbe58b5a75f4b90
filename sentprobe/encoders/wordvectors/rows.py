"""Rows of numbers in a file, each verified when it is read, so that a flipped bit never becomes a vector."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Checksums = NDArray[np.uint32]


def row_checksums(rows: NDArray[Any]) -> Checksums:
    """The CRC-32 (n,) of each row; any run of up to 32 wrong bits changes it."""
    return np.fromiter(map(zlib.crc32, np.ascontiguousarray(rows)), np.uint32, len(rows))


class CheckedRows:
    """A matrix (n, d) in a file. What is read from it is a copy, and the copy is verified.

    ``damaged`` is called where rows do not match their checksums, with how many do not. It raises an error, or returns
    the full matrix, read again, which replaces this one.
    """

    def __init__(self, stored: Bytes, checks: Checksums, damaged: Callable[[int], CheckedRows | Matrix]) -> None:
        self._stored, self._checks, self._damaged = stored, checks, damaged
        self._reread: CheckedRows | Matrix | None = None

    @property
    def stored(self) -> Bytes:
        """The bytes (n, 4 d) as they are in the file, unverified."""
        return self._stored

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows, and how many numbers each has."""
        return len(self._stored), self._stored.shape[1] // 4

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, rows: NDArray[np.int64] | slice) -> Matrix:
        """Some rows (m, d), copied and verified."""
        if self._reread is not None:
            return self._reread[rows]
        copied = np.array(self._stored[rows])
        if (wrong := row_checksums(copied) != self._checks[rows]).any():
            self._reread = self._damaged(int(wrong.sum()))
            return self._reread[rows]
        return copied.view("<f4").astype(np.float32, copy=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All of it, copied and verified."""
        return np.asarray(self[:], dtype)
