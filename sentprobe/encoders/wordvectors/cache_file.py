"""A file of the cache: a matrix in numpy's format, followed by what is needed to verify it.

    matrix     an array (n, d) of little-endian float32, as numpy.save writes it
    about      JSON: the source file, its words, a hash of everything that was read
    checks     CRC-32 of every row, and of every row of n-grams, which stay in the file they came from
    end        the lengths of these two, and their hash

The end verifies the block before it, which in turn verifies the rows, each when it is read: mapping a file of
gigabytes costs no more than reading its words.
"""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import msgspec
import numpy as np

from sentprobe.encoders.wordvectors.fasttext import map_bytes
from sentprobe.encoders.wordvectors.rows import Bytes, Checksums, Matrix, row_checksums

END = struct.Struct("<2q16s")


class CorruptCacheError(Exception):
    """A file that has changed since it was written."""


class Origin(msgspec.Struct, frozen=True):
    """What a file of the cache was made from."""

    fingerprint: str
    limit: int | None


class CacheMetadata(msgspec.Struct, frozen=True):
    """What is known of the matrix."""

    origin: Origin
    words: list[str]
    digest: str
    offset: int
    dim: int
    subwords: tuple[int, int, int, int] | None
    """Of n-grams: their offset in the source, their number, and the shortest and longest length."""


class CacheFile(NamedTuple):
    """A file of the cache whose end was verified."""

    metadata: CacheMetadata
    stored: Bytes
    checks: Checksums
    ngram_checksums: Checksums


class CacheWriter:
    """Writes a file under a temporary name until it is complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._checks: list[Checksums] = []
        self._offset = self._dim = 0

    def __enter__(self) -> CacheWriter:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, self._part = tempfile.mkstemp(".part", f".{self._path.stem}.", self._path.parent)
        self._out: IO[bytes] = os.fdopen(handle, "w+b")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._out.close()
        Path(self._part).unlink(missing_ok=True)

    def add(self, block: Matrix) -> None:
        """Append some rows."""
        block = np.ascontiguousarray(block, "<f4")
        self._dim = block.shape[1]
        self._offset = self._offset or _npy_header(self._out, 0, self._dim)
        self._out.write(block.data)
        self._checks.append(row_checksums(block))

    @property
    def shape(self) -> tuple[int, int]:
        """The offset of the matrix, and the length of its rows."""
        return self._offset, self._dim

    def finish(self, metadata: CacheMetadata, ngram_checksums: Checksums) -> None:
        """Write what follows the matrix, and rename the file."""
        about = msgspec.json.encode(metadata)
        checks = np.concatenate([*self._checks, ngram_checksums]).astype("<u4").tobytes()
        self._out.write(about + checks + END.pack(len(about), len(checks), _hash(about, checks)))
        self._out.seek(0)
        _npy_header(self._out, len(metadata.words), metadata.dim)
        self._out.flush()
        os.fsync(self._out.fileno())
        self._out.close()
        Path(self._part).replace(self._path)
        for unfinished in self._path.parent.glob(f".{self._path.stem}.*.part"):  # left by a process that was killed
            unfinished.unlink(missing_ok=True)


def open_cache_file(path: Path, origin: Origin) -> CacheFile:
    """Map a file of the cache into memory. CorruptCacheError if it was changed, or is of another source."""
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END) - END.size
        if end < 0:
            raise CorruptCacheError("it has no end")
        file.seek(end)
        first, second, digest = END.unpack(file.read())
        begin = end - first - second
        if first < 0 or second < 0 or begin < 0:
            raise CorruptCacheError("its end is that of another file")
        file.seek(begin)
        about, checks = file.read(first), file.read(second)
    if _hash(about, checks) != digest:
        raise CorruptCacheError("its end does not match its hash")
    try:
        metadata = msgspec.json.decode(about, type=CacheMetadata)
    except (ValueError, msgspec.MsgspecError):
        raise CorruptCacheError("its end is of another version") from None
    if metadata.origin != origin:
        raise CorruptCacheError("it was made from another file")
    rows, ngrams = len(metadata.words), metadata.subwords[1] if metadata.subwords else 0
    if metadata.offset + 4 * rows * metadata.dim != begin or len(checks) != 4 * (rows + ngrams):
        raise CorruptCacheError("it is not as long as it should be")
    checksums = np.frombuffer(checks, "<u4")
    return CacheFile(metadata, map_bytes(path, metadata.offset, rows, metadata.dim), checksums[:rows], checksums[rows:])


def _hash(*parts: bytes) -> bytes:
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(part)
    return state.digest()


def _npy_header(out: Any, rows: int, dim: int) -> int:
    """Write the header of a matrix file; numpy leaves space for the number of rows to grow."""
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)})
    return int(out.tell())
