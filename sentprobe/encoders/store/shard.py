"""A shard of the store: one file, so that one rename commits it; little-endian throughout.

    header    64 bytes: magic, digest of the identity, rows, dimension, dtype, digest of the table, CRC-32 of all this;
              a later version may put other things between the magic and the CRC-32, but both stay where they are
    table     20 bytes per row: key of the text (16 bytes of BLAKE2b), CRC-32 of the vector seeded with the first four
    vectors   (rows, dimension), from the next multiple of 64 bytes on; np.memmap can map them

A header or table that does not match its checksum makes the shard unusable; a vector that does not match its own counts
as missing. Vectors are read with plain reads and not through a map: a mapped file that another program truncates, or
that is on a failing disk, kills the process instead of raising an error. Files are written under a temporary name,
synced, and renamed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import struct
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.encoders.identity import Identity

SHARD_MAGIC = b"sprobe\0\1"
"""Eight bytes: six that stay, and the version."""
HEADER = struct.Struct("<8s16sQI4s16s")
HEADER_BYTES = 64
"""Bytes before the table, and the alignment of the vectors."""
ROW = np.dtype([("high", "<u8"), ("low", "<u8"), ("check", "<u4")])
"""A row of the table: the key in two halves, and the checksum of the vector."""
STORED_DTYPES: dict[bytes, np.dtype[Any]] = {b"<f4\0": np.dtype("<f4"), b"<f2\0": np.dtype("<f2")}
BLOCK_BYTES = 1 << 20
"""Bytes read at a time: few enough to be checked and copied while in the processor's cache."""
SPARSE = 16
"""If fewer than one row in this many is needed, the others are skipped; otherwise reading on is faster than seeking."""
MAX_GAP_BYTES = 1 << 13
"""Bytes between two rows that are read even then."""
PART_SUFFIX = ".part"
STALE_SECONDS = 24 * 60 * 60
"""Age in seconds at which an unfinished file was left behind by a process that died."""

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class CorruptShardError(Exception):
    """A shard that cannot be used."""


@dataclass(frozen=True, slots=True)
class VectorShard:
    """A shard whose header was read and is valid."""

    path: Path
    rows: int
    dimension: int
    dtype: np.dtype[Any]
    table: bytes
    bytes: int
    seconds: float

    @property
    def kind(self) -> str:
        """Dimension and dtype, as text."""
        return f"{self.dimension} x {self.dtype.name}"


def text_keys(texts: Sequence[str]) -> Array:
    """The keys of texts, as the two halves (n, 2) that the table has."""
    keys = np.empty((len(texts), 2), "<u8")
    for a in range(0, len(texts), 4096):  # a list of all digests would be four times the size of the array
        digests = [digest_of(t.encode("utf-8", "surrogatepass")) for t in texts[a : a + 4096]]
        keys[a : a + 4096] = np.frombuffer(b"".join(digests), "<u8").reshape(-1, 2)
    return keys


def digest_of(content: bytes) -> bytes:
    """Sixteen bytes."""
    return hashlib.blake2b(content, digest_size=16).digest()


def _checksums(vectors: Array, high: Array) -> Array:
    """CRC-32 of each vector, seeded with the first four bytes of its key: no vector passes for another text's."""
    return np.fromiter(map(zlib.crc32, vectors, (high & 0xFFFFFFFF).tolist()), np.uint32, len(vectors))


def _vectors_offset(rows: int) -> int:
    """The offset of the vectors."""
    return -(-(HEADER_BYTES + rows * ROW.itemsize) // HEADER_BYTES) * HEADER_BYTES


def shard_content(identity: Identity, texts: Sequence[str], vectors: Array) -> list[memoryview]:
    """The content of a shard."""
    code = b"<f2\0" if vectors.dtype == np.float16 else b"<f4\0"
    vectors = np.ascontiguousarray(vectors, STORED_DTYPES[code])
    table = np.empty(len(texts), ROW)
    table["high"], table["low"] = text_keys(texts).T
    table["check"] = _checksums(vectors, table["high"])
    rows = table.tobytes()
    head = HEADER.pack(SHARD_MAGIC, bytes.fromhex(identity.digest), len(texts), vectors.shape[1], code, digest_of(rows))
    head += zlib.crc32(head).to_bytes(4, "little")
    front = (head.ljust(HEADER_BYTES, b"\0") + rows).ljust(_vectors_offset(len(texts)), b"\0")
    return [memoryview(front), vectors.view(np.uint8).data.cast("B")]


def _open(path: Path, *, ahead: bool) -> FileIO:
    """Open a file with or without read-ahead, which can be megabytes after any small read."""
    file = path.open("rb", buffering=0)
    if not ahead and hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    return file


def read_header(path: Path) -> VectorShard:
    """Read a header. CorruptShardError if it is not valid."""
    with _open(path, ahead=False) as file:
        head, stat = file.read(HEADER_BYTES), os.fstat(file.fileno())
    if (
        zlib.crc32(head[: HEADER.size]).to_bytes(4, "little") + bytes(HEADER_BYTES - HEADER.size - 4)
        != head[HEADER.size :]
    ):
        raise CorruptShardError("its header does not match its checksum")
    magic, digest, rows, dimension, code, table = HEADER.unpack_from(head)
    if magic[:6] == SHARD_MAGIC[:6] and magic != SHARD_MAGIC:
        raise FileNotFoundError  # intact, but written by a later version of sentprobe, and left to it
    if magic != SHARD_MAGIC or digest.hex() != path.parent.name or code not in STORED_DTYPES:
        raise CorruptShardError("its header is of another format or another encoder")
    return VectorShard(path, rows, dimension, STORED_DTYPES[code], table, stat.st_size, stat.st_mtime)


def read_table(shard: VectorShard) -> Array:
    """Read a table. CorruptShardError if it is not valid."""
    with _open(shard.path, ahead=False) as file:
        file.seek(HEADER_BYTES)
        content = file.read(shard.rows * ROW.itemsize)
    if digest_of(content) != shard.table:
        raise CorruptShardError("its table of texts does not match its checksum")
    return np.frombuffer(content, ROW)


def read_rows(shard: VectorShard, rows: Array, high: Array, check: Array, to: Array, valid: Mask, out: Array) -> None:
    """Read rows of one shard, in ascending order and a stretch at a time, into the rows ``to`` of ``out``.

    ``high`` has the first halves of their keys and ``check`` their checksums; those that match are marked in ``valid``.
    """
    width = shard.dimension * shard.dtype.itemsize
    rows = rows.astype(np.int64)
    sparse = len(rows) * SPARSE < rows[-1] - rows[0]
    jumps = sparse & (np.diff(rows, prepend=rows[:1]) * width > MAX_GAP_BYTES + width)
    stretch = np.maximum.accumulate(np.where(jumps, rows, rows[0]))  # the row at which the stretch of each begins
    piece = (rows - stretch) // max(BLOCK_BYTES // width, 1)
    cuts = np.flatnonzero(np.diff(stretch).astype(bool) | np.diff(piece).astype(bool)) + 1
    in_order = (np.diff(rows) == 1) & (np.diff(to) == 1)
    buffer = memoryview(bytearray(max(BLOCK_BYTES, width)))
    with _open(shard.path, ahead=not sparse) as file:
        for a, b in pairwise((0, *cuts.tolist(), len(rows))):
            first, span = int(rows[a]), int(rows[b - 1] - rows[a]) + 1
            straight = bool(in_order[a : b - 1].all())  # then no rows have to be picked out, and no copy is needed
            into = out[to[a] : to[a] + span].view(np.uint8).data.cast("B") if straight else buffer[: span * width]
            file.seek(_vectors_offset(shard.rows) + first * width)
            count = (file.readinto(into) or 0) // width  # fewer than requested if the file was truncated
            block = np.frombuffer(into, shard.dtype, count * shard.dimension).reshape(count, shard.dimension)
            b = a + int(np.searchsorted(rows[a:b], first + count))
            vectors = block if straight else block[rows[a:b] - first]
            right = _checksums(vectors, high[a:b]) == check[a:b]
            valid[to[a:b]] = right
            if straight:
                out[to[a] : to[a] + span][~valid[to[a] : to[a] + span]] = 0
            else:
                out[to[a:b][right]] = vectors[right]


def main_kind(shards: list[VectorShard]) -> str:
    """The kind of most vectors: all are of one kind, unless an identity leaves something out."""
    rows: dict[str, int] = {}
    for shard in shards:
        rows[shard.kind] = rows.get(shard.kind, 0) + shard.rows
    return max(rows, key=lambda kind: rows[kind], default="")


# atomic writes


def commit(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    """Write a file under a temporary name, sync it, rename it, and sync the folder."""
    part = path.with_name(f"{path.name}.{os.getpid():x}-{secrets.token_hex(4)}{PART_SUFFIX}")
    try:
        with part.open("xb") as out:
            for content in parts:
                out.write(content)
            out.flush()
            os.fsync(out.fileno())
        part.replace(path)
    finally:
        with contextlib.suppress(OSError):
            part.unlink()
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder durable; Windows has no way to."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def remove_stale(folder: Path) -> None:
    """Remove the unfinished files of processes that died."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"*{PART_SUFFIX}"):
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                remove(path)


def remove(path: Path) -> bool:
    """Remove a file, and say whether that succeeded; another process may have been faster."""
    with contextlib.suppress(OSError):
        path.unlink()
        return True
    return False
