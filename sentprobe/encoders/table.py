"""The vectors of texts while they are collected: in memory or in a temporary file, from the store and into it."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
import time
from collections.abc import Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.folders import cache_folder
from sentprobe.encoders.batches import poll_attempts
from sentprobe.encoders.call import preview
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError, ShapeError

Array = npt.NDArray[Any]

SHARD_ROWS, SHARD_SECONDS = 8192, 20.0
"""Vectors are written to the store when there are this many, or this much time has passed."""
READ_BYTES = 1 << 24
"""Minimum number of bytes that are read from the store at a time."""
COPY_ROWS = 4096
"""Rows copied at a time."""
MAX_IN_MEMORY = 2**30
"""Bytes of vectors that are kept in memory by default. Pages of a file are read as fast, as long as there is room."""


class VectorTable:
    """Vectors (layers, n, d) of n texts; the first of them determine the dimension.

    With a store, every layer has an identity of its own there, and vectors that are put here are written to it.
    """

    def __init__(
        self,
        texts: Sequence[str],
        layers: int,
        spill: int,
        store: Store | None = None,
        identities: Sequence[Identity] = (),
    ) -> None:
        self.texts, self.layers, self.spill = texts, layers, spill
        self.filled = np.zeros(len(texts), bool)
        self.vectors: Array = np.zeros((layers, len(texts), 0), np.float32)
        self.store, self.identities = store, identities
        self._pending: list[int] = []
        self._flushed = time.monotonic()

    def read_stored(self, indices: Sequence[int]) -> None:
        """Fill the rows whose vectors the store has in all layers."""
        if self.store is None:
            return
        store = self.store
        kinds = {(vectors.shape[1], vectors.dtype) for _, vectors in (store.read(name, ()) for name in self.identities)}
        (dimension, dtype), *other_kinds = kinds
        if other_kinds or not dimension:
            return
        width = self.layers * dimension * dtype.itemsize
        if self.layers == 1 and len(indices) == len(self.texts) and len(indices) * width <= self.spill:
            self.filled, vectors = store.read(self.identities[0], self.texts)
            self.vectors = vectors[None]  # without a copy
            return
        # roughly in the order in which they were written, so that those read at a time are near each other
        indices = sorted(indices, key=lambda i: -len(self.texts[i]))
        rows = max(1, max(READ_BYTES, self.spill // 4) // width)
        for a in range(0, len(indices), rows):
            batch = indices[a : a + rows]
            texts = [self.texts[i] for i in batch]
            read = [store.read(name, texts) for name in self.identities]
            present = np.logical_and.reduce([mask for mask, _ in read])
            if present.any() and all(vectors.shape[1] == dimension for _, vectors in read):
                self._fill(np.array(batch)[present], np.stack([vectors[present] for _, vectors in read]))

    def read_new(self, indices: Sequence[int]) -> None:
        """Fill the rows whose vectors other machines have just written to the store."""
        for _ in poll_attempts():
            if not (unread := [i for i in indices if not self.filled[i]]):
                return
            self.read_stored(unread)
        raise EncoderError(
            f"{len(unread)} vectors that workers have written to {self.store and self.store.root} are not there, or "
            "are damaged. Run the same command again: it encodes what is missing."
        )

    def put(self, indices: Sequence[int], vectors: Array) -> None:
        """Copy vectors (layers, m, d), since the encoder may reuse its array; they are stored now or later."""
        self._fill(np.array(indices, np.int64), vectors)
        if self.store is not None:
            self._pending += indices
            if len(self._pending) >= SHARD_ROWS or time.monotonic() - self._flushed > SHARD_SECONDS:
                self.flush()

    def flush(self) -> None:
        """Write to the store what has not been written yet."""
        if self.store is not None and self._pending:
            texts = [self.texts[i] for i in self._pending]
            for name, vectors in zip(self.identities, self.vectors, strict=True):
                self.store.write(name, texts, vectors[self._pending])
            self._pending = []
        self._flushed = time.monotonic()

    def copy_duplicates(self, first_indices: npt.NDArray[np.int64]) -> None:
        """Copy to each row that of its text's first occurrence; few at a time, since memory may not hold two copies."""
        duplicates = np.flatnonzero(first_indices != np.arange(len(first_indices)))
        for a in range(0, len(duplicates), COPY_ROWS):
            batch = duplicates[a : a + COPY_ROWS]
            self.vectors[:, batch] = self.vectors[:, first_indices[batch]]

    def _fill(self, indices: Array, vectors: Array) -> None:
        if vectors.shape[0] != self.layers:
            raise ShapeError(
                f"The encoder returned {vectors.shape[0]} layers; expected {self.layers}. An encoder that returns "
                "several, and whose vectors are stored, names them in its attribute `layers`."
            )
        if not self.filled.any():
            self.vectors = _zeros((self.layers, len(self.filled), vectors.shape[2]), vectors.dtype, self.spill)
        if vectors.shape[2] != self.vectors.shape[2]:
            raise ShapeError(
                f"The encoder returned vectors of {vectors.shape[2]} numbers for {preview(self.texts[indices[0]])} and "
                f"of {self.vectors.shape[2]} before; expected one dimension."
            )
        self.vectors[:, indices] = vectors
        self.filled[indices] = True


def default_spill() -> int:
    """Bytes of vectors to keep in memory: at most a quarter of the machine's, where the system says how much it has."""
    try:
        return min(MAX_IN_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4)
    except (AttributeError, ValueError, OSError):
        return MAX_IN_MEMORY


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any], spill: int) -> Array:
    """Zeros in memory, or, above ``spill`` bytes, in a file that has no name and disappears with them."""
    size = math.prod(shape) * dtype.itemsize
    if size <= spill:
        return np.zeros(shape, dtype)
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file, size)
            # not np.memmap: joblib would look for its file by name
            return np.ndarray(shape, dtype, mmap.mmap(file.fileno(), size))
    except OSError as e:
        raise EncoderError(
            f"The vectors take {size:,} bytes, which is more than the {spill:,} that may be kept in memory, and "
            f"{folder} has no space for them: {e.strerror or e}. Free some space there, set SENTPROBE_CACHE to a "
            "folder on another disk, or encode fewer texts at a time, fewer layers, or in half precision."
        ) from e


def _reserve(file: IO[bytes], size: int) -> None:
    """Allocate the space on disk now: a mapped file that finds the disk full later kills the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(READ_BYTES)
    for a in range(0, size, READ_BYTES):
        file.write(zeros[: size - a])
    file.flush()
