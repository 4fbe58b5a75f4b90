"""Embeddings on disk that cannot lie: what comes out is what went in, for this encoder and this text, or nothing.

    root/<digest of the identity>/identity.json      the identity as text, for people
    root/<digest of the identity>/<unique>.shard     what one ``write`` wrote; never changed afterwards

A shard is one file, so that one rename commits it, and little-endian throughout:

    header    64 bytes: magic, digest of the identity, rows, dimension, dtype, digest of the table, CRC-32 of all this;
              a later version may put other things between the magic and the CRC-32, but both stand where they do
    table     20 bytes a row: key of the text (16 bytes of BLAKE2b), CRC-32 of the vector begun at the key's first four
    vectors   (rows, dimension), from the next multiple of 64 bytes; np.memmap can map them

A header or table that does not fit its checksum makes the shard unusable, a vector that does not fit its own is not
found, and each is said once. Vectors are read with plain reads and not through a map: a mapped file that another
program cuts short, or that lies on a failing disk, ends the process instead of raising an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import struct
import time
import warnings
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sonde.core.arguments import as_texts
from sonde.core.cache import cache_folder
from sonde.encoders.identity import Identity
from sonde.errors import ShapeError, SondeWarning, UsageError

SHARD_MAGIC = b"sonde\0\0\1"
HEADER = struct.Struct("<8s16sQI4s16s")
HEADER_BYTES = 64
"""Bytes before the table, and what the vectors are aligned to."""
ROW = np.dtype([("high", "<u8"), ("low", "<u8"), ("check", "<u4")])
"""A row of the table: the key in two halves, and the checksum of the vector."""
STORED_DTYPES: dict[bytes, np.dtype[Any]] = {b"<f4\0": np.dtype("<f4"), b"<f2\0": np.dtype("<f2")}
IDENTITY_FILE, SHARD_SUFFIX, PART_SUFFIX = "identity.json", ".shard", ".part"
BLOCK_BYTES = 1 << 20
"""Bytes read at a time: few enough to be checked and copied while in the processor's cache."""
SPARSE = 16
"""With fewer than one row in so many wanted, the others are jumped over: else reading on is faster than jumping."""
MAX_GAP_BYTES = 1 << 13
"""Bytes between two rows that are read even so."""
MAX_INDEX_BYTES = 1 << 28
"""Bytes of indexes kept in memory, over all identities."""
STALE_SECONDS = 24 * 60 * 60
"""Seconds after which an unfinished file was left behind by a process that died."""

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class StoreWarning(SondeWarning):
    """The store is damaged or cannot be written to; the work goes on without what is lost."""


class _Damaged(Exception):
    """A shard of which nothing can be used."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the store holds for one identity; a text written twice counts twice."""

    identity: str
    vectors: int
    dimension: int
    dtype: str
    bytes: int
    written: datetime


@dataclass(frozen=True, slots=True)
class _Shard:
    """A header that was read and found right."""

    path: Path
    rows: int
    dimension: int
    dtype: np.dtype[Any]
    table: bytes
    bytes: int
    seconds: float

    @property
    def kind(self) -> str:
        return f"{self.dimension} x {self.dtype.name}"


@dataclass(frozen=True, slots=True)
class _Index:
    """Every row of one identity, sorted by the first half of its key; copies of a text stand newest first."""

    names: list[str]
    shards: list[_Shard]
    damaged: list[Path]
    high: Array
    low: Array
    check: Array
    shard: Array
    row: Array


@dataclass
class Store:
    """Vectors kept under ``root``, at most ``limit`` bytes of them. Processes may share a root, threads not a Store."""

    root: Path
    limit: int | None = field(default=None, kw_only=True)
    _indexes: dict[str, _Index] = field(default_factory=dict, init=False, repr=False, compare=False)
    _ready: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _warned: set[tuple[Path, str]] = field(default_factory=set, init=False, repr=False, compare=False)
    _closed: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise UsageError(f"The store's limit is {self.limit} bytes; expected 0 or more, or None.")

    def read(self, identity: Identity, texts: Sequence[str]) -> tuple[Mask, Array]:
        """Which texts have a vector here (n,), and the vectors (n, d), of which the other rows are zeros.

        The vectors have the dtype they were written in. With nothing there at all, d is 0.
        """
        texts = as_texts(texts)
        index = self._index(identity.digest)
        found = np.zeros(len(texts), bool)
        if not index.shards:
            return found, np.zeros((len(texts), 0), np.float32)
        out = np.zeros((len(texts), index.shards[0].dimension), index.shards[0].dtype)
        keys = _keys(texts)
        high, low = keys[:, 0], keys[:, 1]
        at = np.searchsorted(index.high, high).astype(np.uint32)
        left = np.arange(len(texts), dtype=np.uint32)
        while True:  # once, and again for those whose newest copy is damaged
            left = left[at[left] < len(index.high)]
            left = left[index.high[at[left]] == high[left]]
            if not left.size:
                return found, out
            same = left[index.low[at[left]] == low[left]]
            self._fetch(index, at[same], same, found, out)
            left = left[~found[left]]
            at[left] += 1

    def write(self, identity: Identity, texts: Sequence[str], vectors: Array) -> bool:
        """Append one shard with a vector (n, d) for each text; texts that are there already do no harm.

        float16 is kept as it is and anything else as float32. A call costs a file and a sync: write thousands at once.
        False, with one warning, if the disk is full or the folder cannot be written to; no further write is tried then.
        """
        texts = as_texts(texts)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise ShapeError(f"Met vectors of shape {vectors.shape}; expected ({len(texts)}, d), one for each text.")
        if self._closed or not len(texts):
            return not self._closed
        folder = self.root / identity.digest
        parts = _shard(identity, texts, vectors)
        if self.limit is not None and sum(map(len, parts)) > self.limit:
            self._warn(self.root, f"may hold {self.limit} bytes, and more were to be kept at once", "Raise the limit.")
            return False
        # the time makes later shards sort later; the process and chance keep two writers apart
        name = f"{time.time_ns():016x}-{os.getpid():x}-{secrets.token_hex(4)}{SHARD_SUFFIX}"
        try:
            self._prepare(folder, identity)
            _commit(folder / name, parts)
        except OSError as e:
            self._closed = True
            self._warn(self.root, f"cannot be written to: {e.strerror or e}", "Vectors are not kept from here on.")
            return False
        for path in self._indexes[folder.name].damaged if folder.name in self._indexes else ():
            _remove(path)  # nothing in it is of use, and it would be warned about for ever
        if self.limit is not None:
            self.evict()
        return True

    def ls(self) -> list[Entry]:
        """What is there, by identity. Only headers are read."""
        found = []
        for folder in self._folders():
            if shards := self._shards(folder, _names(folder), []):
                kind = _most(shards)
                most = next(s for s in shards if s.kind == kind)
                rows, size, seconds = zip(*((s.rows, s.bytes, s.seconds) for s in shards), strict=True)
                written = datetime.fromtimestamp(max(seconds), UTC)
                identity = _identity(folder) or folder.name
                found.append(Entry(identity, sum(rows), most.dimension, most.dtype.name, sum(size), written))
        return sorted(found, key=lambda e: e.identity)

    def evict(self) -> int:
        """Remove the oldest shards until the limit is kept; the number of bytes that went.

        Files being written stay and do not count; those that a process left behind a day ago go.
        """
        there = []
        for folder in self._folders():
            _sweep(folder)
            for path in (folder / name for name in _names(folder)):
                with contextlib.suppress(OSError):
                    there.append((path.stat().st_mtime_ns, path.name, path.stat().st_size, path))
        over = 0 if self.limit is None else sum(size for _, _, size, _ in there) - self.limit
        gone = 0
        for _, _, size, path in sorted(there):
            if gone >= over:
                break
            gone += size if _remove(path) else 0
        return gone

    def _warn(self, path: Path, what: str, then: str) -> None:
        if (path, then) not in self._warned:
            self._warned.add((path, then))
            warnings.warn(f"{path} {what}. {then}", StoreWarning, stacklevel=3)

    def _folders(self) -> list[Path]:
        with contextlib.suppress(OSError):
            return [f for f in sorted(self.root.iterdir()) if re.fullmatch("[0-9a-f]{32}", f.name) and f.is_dir()]
        return []

    def _prepare(self, folder: Path, identity: Identity) -> None:
        """Make the folder, and say in it whose it is."""
        if folder.name in self._ready and folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True)
        _sync(self.root)
        if _identity(folder) is None:
            _commit(folder / IDENTITY_FILE, [msgspec.json.encode({"identity": str(identity)})])
        _sweep(folder)
        self._ready.add(folder.name)

    def _index(self, digest: str) -> _Index:
        """The index of an identity, made again if its folder has other shards than it had."""
        names = _names(self.root / digest)
        index = self._indexes.pop(digest, None)
        if index is None or index.names != names:
            index = self._load(self.root / digest, names)
        self._indexes[digest] = index  # the last one used stands last
        while len(self._indexes) > 1 and sum(len(i.high) * 28 for i in self._indexes.values()) > MAX_INDEX_BYTES:
            del self._indexes[next(iter(self._indexes))]
        return index

    def _load(self, folder: Path, names: list[str]) -> _Index:
        damaged: list[Path] = []
        shards, tables = [], []
        headers = self._shards(folder, names[::-1], damaged)
        most = _most(headers)
        for shard in headers:
            if shard.kind != most:
                what = f"has vectors of {shard.kind} where others of this encoder have {most}"
                self._warn(shard.path, what, UNUSED)
                continue
            with self._telling(shard.path, damaged):
                tables.append(_table(shard))
                shards.append(shard)
        sizes = [len(t) for t in tables]
        rows = np.concatenate([np.zeros(0, ROW), *tables])
        del tables
        order = np.argsort(rows["high"], kind="stable")
        high, low, check = (rows[name][order] for name in ("high", "low", "check"))
        del rows
        shard_of = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)[order]
        row_of = np.concatenate([np.zeros(0, np.uint32), *(np.arange(n, dtype=np.uint32) for n in sizes)])[order]
        return _Index(names, shards, damaged, high, low, check, shard_of, row_of)

    def _shards(self, folder: Path, names: list[str], damaged: list[Path]) -> list[_Shard]:
        """The shards whose headers are right."""
        found = []
        for name in names:
            with self._telling(folder / name, damaged):
                found.append(_header(folder / name))
        return found

    @contextlib.contextmanager
    def _telling(self, path: Path, damaged: list[Path]) -> Iterator[None]:
        """Warn of a shard that cannot be used, and go on; one that was evicted meanwhile is no loss."""
        try:
            yield
        except FileNotFoundError:
            pass
        except OSError as e:
            self._warn(path, f"cannot be read: {e.strerror or e}", UNUSED)
        except _Damaged as e:
            damaged.append(path)
            self._warn(path, f"is damaged: {e}", UNUSED)

    def _fetch(self, index: _Index, at: Array, to: Array, found: Mask, out: Array) -> None:
        """Read the rows ``at`` of the index into the rows ``to`` of ``out``, and mark as found those that are right."""
        order = np.lexsort((index.row[at], index.shard[at]))
        at, to = at[order], to[order]
        ends = np.flatnonzero(np.diff(index.shard[at], append=np.uint32(len(index.shards)))) + 1
        for a, b in pairwise((0, *ends.tolist())):
            shard = index.shards[index.shard[at[a]]]
            with self._telling(shard.path, []):
                _vectors(shard, index, at[a:b], to[a:b], found, out)
                if bad := b - a - int(found[to[a:b]].sum()):
                    raise _Damaged(f"{bad} of {b - a} vectors that were looked for do not fit their checksums")


UNUSED = "What cannot be trusted is not used; its texts are encoded again."


def default_root() -> Path:
    """Where vectors are kept unless told otherwise."""
    return cache_folder() / "store"


def _keys(texts: Sequence[str]) -> Array:
    """The keys of texts, as the two halves (n, 2) that the table has."""
    keys = np.empty((len(texts), 2), "<u8")
    for a in range(0, len(texts), 4096):  # a list of all digests would be four times the size of the array
        some = [_digest(t.encode("utf-8", "surrogatepass")) for t in texts[a : a + 4096]]
        keys[a : a + 4096] = np.frombuffer(b"".join(some), "<u8").reshape(-1, 2)
    return keys


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()


def _checks(vectors: Array, high: Array) -> Array:
    """CRC-32 of each vector, begun at the first four bytes of its key, so that no vector passes for another text's."""
    return np.fromiter(map(zlib.crc32, vectors, (high & 0xFFFFFFFF).tolist()), np.uint32, len(vectors))


def _start(rows: int) -> int:
    """Where the vectors begin."""
    return -(-(HEADER_BYTES + rows * ROW.itemsize) // HEADER_BYTES) * HEADER_BYTES


def _shard(identity: Identity, texts: Sequence[str], vectors: Array) -> list[memoryview]:
    """The content of a shard."""
    code = b"<f2\0" if vectors.dtype == np.float16 else b"<f4\0"
    vectors = np.ascontiguousarray(vectors, STORED_DTYPES[code])
    table = np.empty(len(texts), ROW)
    table["high"], table["low"] = _keys(texts).T
    table["check"] = _checks(vectors, table["high"])
    rows = table.tobytes()
    head = HEADER.pack(SHARD_MAGIC, bytes.fromhex(identity.digest), len(texts), vectors.shape[1], code, _digest(rows))
    head += zlib.crc32(head).to_bytes(4, "little")
    front = (head.ljust(HEADER_BYTES, b"\0") + rows).ljust(_start(len(texts)), b"\0")
    return [memoryview(front), vectors.view(np.uint8).data.cast("B")]


def _open(path: Path, *, ahead: bool) -> FileIO:
    """A file of which the system reads what is asked for, or ahead: after any small read that can be megabytes."""
    file = path.open("rb", buffering=0)
    if not ahead and hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
    return file


def _header(path: Path) -> _Shard:
    """Read a header, or raise _Damaged."""
    with _open(path, ahead=False) as file:
        head, stat = file.read(HEADER_BYTES), os.fstat(file.fileno())
    if (
        zlib.crc32(head[: HEADER.size]).to_bytes(4, "little") + bytes(HEADER_BYTES - HEADER.size - 4)
        != head[HEADER.size :]
    ):
        raise _Damaged("its header does not fit its checksum")
    magic, digest, rows, dimension, code, table = HEADER.unpack_from(head)
    if magic[:5] == SHARD_MAGIC[:5] and magic != SHARD_MAGIC:
        raise FileNotFoundError  # whole, but of a later version of sonde, to which it is left
    if magic != SHARD_MAGIC or digest.hex() != path.parent.name or code not in STORED_DTYPES:
        raise _Damaged("its header is of another format or another encoder")
    return _Shard(path, rows, dimension, STORED_DTYPES[code], table, stat.st_size, stat.st_mtime)


def _table(shard: _Shard) -> Array:
    """Read a table, or raise _Damaged."""
    with _open(shard.path, ahead=False) as file:
        file.seek(HEADER_BYTES)
        content = file.read(shard.rows * ROW.itemsize)
    if _digest(content) != shard.table:
        raise _Damaged("its table of texts does not fit its checksum")
    return np.frombuffer(content, ROW)


def _vectors(shard: _Shard, index: _Index, at: Array, to: Array, found: Mask, out: Array) -> None:
    """Read rows of one shard, in the order in which they lie there, whole stretches at once."""
    width = shard.dimension * shard.dtype.itemsize
    rows = index.row[at].astype(np.int64)
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
            straight = bool(in_order[a : b - 1].all())  # then there is nothing to pick out, and no need of a copy
            into = out[to[a] : to[a] + span].view(np.uint8).data.cast("B") if straight else buffer[: span * width]
            file.seek(_start(shard.rows) + first * width)
            whole = (file.readinto(into) or 0) // width  # fewer than asked for if the file was cut short
            block = np.frombuffer(into, shard.dtype, whole * shard.dimension).reshape(whole, shard.dimension)
            b = a + int(np.searchsorted(rows[a:b], first + whole))
            vectors = block if straight else block[rows[a:b] - first]
            right = _checks(vectors, index.high[at[a:b]]) == index.check[at[a:b]]
            found[to[a:b]] = right
            if straight:
                out[to[a] : to[a] + span][~found[to[a] : to[a] + span]] = 0
            else:
                out[to[a:b][right]] = vectors[right]


def _most(shards: list[_Shard]) -> str:
    """The kind of most vectors: all are of one kind, unless an identity does not say everything."""
    rows: dict[str, int] = {}
    for shard in shards:
        rows[shard.kind] = rows.get(shard.kind, 0) + shard.rows
    return max(rows, key=lambda kind: rows[kind], default="")


def _names(folder: Path) -> list[str]:
    """The shards of a folder, oldest first; none if it cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as there:
        return sorted(f.name for f in there if f.name.endswith(SHARD_SUFFIX))
    return []


def _identity(folder: Path) -> str | None:
    """Whose folder it is, if that is to be read there and right."""
    with contextlib.suppress(OSError, msgspec.DecodeError, KeyError, ValueError):
        found = msgspec.json.decode((folder / IDENTITY_FILE).read_bytes(), type=dict[str, str])["identity"]
        return found if _digest(found.encode()).hex() == folder.name else None
    return None


def _commit(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    """Write under a temporary name, sync, rename, sync the folder."""
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
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """Make a rename in the folder last; Windows has no such thing."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _sweep(folder: Path) -> None:
    """Remove unfinished files of processes that died."""
    with contextlib.suppress(OSError):
        for path in folder.glob(f"*{PART_SUFFIX}"):
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                _remove(path)


def _remove(path: Path) -> bool:
    """Whether the file could be removed; another process may have been faster."""
    with contextlib.suppress(OSError):
        path.unlink()
        return True
    return False
