"""The store: vectors by identity and text, in shards that are only ever added or removed."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import as_texts
from sentprobe.core.folders import cache_folder
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.store.shard import (
    ROW,
    CorruptShardError,
    VectorShard,
    commit,
    digest_of,
    main_kind,
    read_header,
    read_rows,
    read_table,
    remove,
    remove_stale,
    shard_content,
    sync_folder,
    text_keys,
)
from sentprobe.errors import SentProbeWarning, ShapeError, UsageError

IDENTITY_FILE, SHARD_SUFFIX = "identity.json", ".shard"
RESULTS_FOLDER, RESULT_SUFFIX = "baselines", ".result"
"""Where runs keep the results of baselines, beside the vectors."""
MAX_INDEX_BYTES = 1 << 28
"""Bytes of indexes kept in memory, over all identities."""
UNUSED = "What cannot be trusted is not used; its texts are encoded again."

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class StoreWarning(SentProbeWarning):
    """The store is damaged or cannot be written to; the work goes on without what is lost."""


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
class _Index:
    """Every row of one identity, sorted by the first half of its key; copies of a text come newest first."""

    names: list[str]
    shards: list[VectorShard]
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
        """Which texts have a vector here (n,), and the vectors (n, d); the rows of the other texts are zeros.

        Vectors have the dtype they were written in. If the store has none for this identity, d is 0.
        """
        texts = as_texts(texts)
        index = self._index(identity.digest)
        present = np.zeros(len(texts), bool)
        if not index.shards:
            return present, np.zeros((len(texts), 0), np.float32)
        out = np.zeros((len(texts), index.shards[0].dimension), index.shards[0].dtype)
        keys = text_keys(texts)
        high, low = keys[:, 0], keys[:, 1]
        at = np.searchsorted(index.high, high).astype(np.uint32)
        pending = np.arange(len(texts), dtype=np.uint32)
        while True:  # once, and again for those whose newest copy is damaged
            pending = pending[at[pending] < len(index.high)]
            pending = pending[index.high[at[pending]] == high[pending]]
            if not pending.size:
                return present, out
            same = pending[index.low[at[pending]] == low[pending]]
            self._fetch(index, at[same], same, present, out)
            pending = pending[~present[pending]]
            at[pending] += 1

    def write(self, identity: Identity, texts: Sequence[str], vectors: Array) -> bool:
        """Append one shard with a vector (n, d) for each text; texts that are already there do no harm.

        float16 is kept as it is and anything else as float32. A call costs a file and a sync: write thousands at once.
        False, with one warning, if the disk is full or the folder cannot be written to; no further write is tried then.
        """
        texts = as_texts(texts)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise ShapeError(f"Expected vectors of shape ({len(texts)}, d), one for each text, got {vectors.shape}.")
        if self._closed or not len(texts):
            return not self._closed
        folder = self.root / identity.digest
        parts = shard_content(identity, texts, vectors)
        if self.limit is not None and sum(map(len, parts)) > self.limit:
            self._warn(self.root, f"is limited to {self.limit} bytes, and one write was larger", "Raise the limit.")
            return False
        # the time makes later shards sort later; process and random number keep writers apart
        name = f"{time.time_ns():016x}-{os.getpid():x}-{secrets.token_hex(4)}{SHARD_SUFFIX}"
        try:
            self._prepare(folder, identity)
            commit(folder / name, parts)
        except OSError as e:
            self._closed = True
            self._warn(self.root, f"cannot be written to: {e.strerror or e}", "Vectors are not stored from here on.")
            return False
        for path in self._indexes[folder.name].damaged if folder.name in self._indexes else ():
            remove(path)  # nothing in it can be used, and it would be warned about every time
        if self.limit is not None:
            self.evict()
        return True

    def forget(self, identity: Identity) -> None:
        """Remove all vectors of an identity, which turned out to be wrong."""
        folder = self.root / identity.digest
        for name in _shard_names(folder):
            remove(folder / name)
        self._indexes.pop(identity.digest, None)

    def ls(self) -> list[Entry]:
        """What the store holds, by identity. Only headers are read."""
        entries = []
        for folder in self._folders():
            if shards := self._shards(folder, _shard_names(folder), []):
                kind = main_kind(shards)
                most = next(s for s in shards if s.kind == kind)
                rows, size, seconds = zip(*((s.rows, s.bytes, s.seconds) for s in shards), strict=True)
                written = datetime.fromtimestamp(max(seconds), UTC)
                identity = _identity(folder) or folder.name
                entries.append(Entry(identity, sum(rows), most.dimension, most.dtype.name, sum(size), written))
        return sorted(entries, key=lambda e: e.identity)

    def evict(self) -> int:
        """Remove the oldest files until the store is within its limit; the number of bytes that were removed.

        Files being written are kept and not counted; those that a process left behind a day ago are removed.
        """
        present = []
        for folder in (*self._folders(), self.root / RESULTS_FOLDER):
            remove_stale(folder)
            for path in (folder / name for name in _shard_names(folder, (SHARD_SUFFIX, RESULT_SUFFIX))):
                with contextlib.suppress(OSError):
                    present.append((path.stat().st_mtime_ns, path.name, path.stat().st_size, path))
        over = 0 if self.limit is None else sum(size for _, _, size, _ in present) - self.limit
        removed = 0
        for _, _, size, path in sorted(present):
            if removed >= over:
                break
            removed += size if remove(path) else 0
        return removed

    def _warn(self, path: Path, what: str, then: str) -> None:
        if (path, then) not in self._warned:
            self._warned.add((path, then))
            warnings.warn(f"{path} {what}. {then}", StoreWarning, stacklevel=3)

    def _folders(self) -> list[Path]:
        with contextlib.suppress(OSError):
            return [f for f in sorted(self.root.iterdir()) if re.fullmatch("[0-9a-f]{32}", f.name) and f.is_dir()]
        return []

    def _prepare(self, folder: Path, identity: Identity) -> None:
        """Make the folder of an identity, and write the identity into it."""
        if folder.name in self._ready and folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True)
        sync_folder(self.root)
        if _identity(folder) is None:
            commit(folder / IDENTITY_FILE, [msgspec.json.encode({"identity": str(identity)})])
        remove_stale(folder)
        self._ready.add(folder.name)

    def _index(self, digest: str) -> _Index:
        """The index of an identity, rebuilt if the shards in its folder have changed."""
        names = _shard_names(self.root / digest)
        index = self._indexes.pop(digest, None)
        if index is None or index.names != names:
            index = self._load(self.root / digest, names)
        self._indexes[digest] = index  # the last one used comes last
        while len(self._indexes) > 1 and sum(len(i.high) * 28 for i in self._indexes.values()) > MAX_INDEX_BYTES:
            del self._indexes[next(iter(self._indexes))]
        return index

    def _load(self, folder: Path, names: list[str]) -> _Index:
        damaged: list[Path] = []
        shards, tables = [], []
        headers = self._shards(folder, names[::-1], damaged)
        most = main_kind(headers)
        for shard in headers:
            if shard.kind != most:
                what = f"has vectors of {shard.kind} where others of this encoder have {most}"
                self._warn(shard.path, what, UNUSED)
                continue
            with self._reporting(shard.path, damaged):
                tables.append(read_table(shard))
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

    def _shards(self, folder: Path, names: list[str], damaged: list[Path]) -> list[VectorShard]:
        """The shards whose headers are valid."""
        shards = []
        for name in names:
            with self._reporting(folder / name, damaged):
                shards.append(read_header(folder / name))
        return shards

    @contextlib.contextmanager
    def _reporting(self, path: Path, damaged: list[Path]) -> Iterator[None]:
        """Warn about a shard that cannot be used, and go on; one that was evicted meanwhile is simply not there."""
        try:
            yield
        except FileNotFoundError:
            pass
        except OSError as e:
            self._warn(path, f"cannot be read: {e.strerror or e}", UNUSED)
        except CorruptShardError as e:
            damaged.append(path)
            self._warn(path, f"is damaged: {e}", UNUSED)

    def _fetch(self, index: _Index, at: Array, to: Array, present: Mask, out: Array) -> None:
        """Read the rows ``at`` of the index into the rows ``to`` of ``out``, and mark those that are valid."""
        order = np.lexsort((index.row[at], index.shard[at]))
        at, to = at[order], to[order]
        ends = np.flatnonzero(np.diff(index.shard[at], append=np.uint32(len(index.shards)))) + 1
        for a, b in pairwise((0, *ends.tolist())):
            shard = index.shards[index.shard[at[a]]]
            with self._reporting(shard.path, []):
                rows_at = at[a:b]
                read_rows(shard, index.row[rows_at], index.high[rows_at], index.check[rows_at], to[a:b], present, out)
                if bad := b - a - int(present[to[a:b]].sum()):
                    raise CorruptShardError(f"{bad} of {b - a} vectors that were read do not match their checksums")


def default_root() -> Path:
    """The folder of the default store."""
    return cache_folder() / "store"


def _shard_names(folder: Path, suffixes: str | tuple[str, ...] = SHARD_SUFFIX) -> list[str]:
    """The shards of a folder, oldest first; none if it cannot be read."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return sorted(f.name for f in entries if f.name.endswith(suffixes))
    return []


def _identity(folder: Path) -> str | None:
    """The identity that a folder belongs to, if its file can be read and matches the folder."""
    with contextlib.suppress(OSError, msgspec.DecodeError, KeyError, ValueError):
        name = msgspec.json.decode((folder / IDENTITY_FILE).read_bytes(), type=dict[str, str])["identity"]
        return name if digest_of(name.encode()).hex() == folder.name else None
    return None
