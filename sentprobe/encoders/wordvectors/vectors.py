"""Word vectors, and how they are read from their file or from the cache."""

from __future__ import annotations

import hashlib
import os
import struct
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sentprobe.core.files import reject_special_file
from sentprobe.encoders.wordvectors.cache_file import (
    CacheMetadata,
    CacheWriter,
    CorruptCacheError,
    Origin,
    open_cache_file,
)
from sentprobe.encoders.wordvectors.fasttext import Blocks, Subwords, map_subwords
from sentprobe.encoders.wordvectors.formats import explain_errors, matrix_beside, open_vectors, words_beside
from sentprobe.encoders.wordvectors.rows import CheckedRows, Checksums, Matrix, row_checksums
from sentprobe.errors import DataError, SentProbeWarning

CHUNK_BYTES = 1 << 20
MAX_FULL_HASH_BYTES = 1 << 25
"""Files up to this size are hashed completely, which takes some hundredths of a second."""
BLOCK_ROWS = 1024


class CacheWarning(SentProbeWarning):
    """A file of the cache was damaged; it is deleted and rebuilt."""


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors, the most frequent word first if the file is ordered so, as most are."""

    words: Sequence[str]
    matrix: Matrix | CheckedRows
    """(n, d), one row per word; memory-mapped, and verified row by row as it is read, if it comes from the cache."""
    digest: str
    """A hash of all words and vectors that were read: the same for the same vectors in another format."""
    size: int
    """How many words were read."""
    subword: Subwords | None = None
    """A function from words to vectors made of their character n-grams, if the file has those."""
    ranks: NDArray[np.int64] | None = None
    """The ranks of the words among all that were read, if some were left out since."""

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Word → its row."""
        return {word: row for row, word in enumerate(self.words)}

    def take(self, rows: NDArray[np.int64]) -> WordVectors:
        """Only some rows (m,), held in memory; size and digest stay those of the full file."""
        ranks = rows if self.ranks is None else self.ranks[rows]
        return replace(self, words=[self.words[r] for r in rows], matrix=self.matrix[rows], ranks=ranks)


class _Request(NamedTuple):
    """What is to be read, and where it is cached."""

    source: str
    limit: int | None
    cache: Path | None
    rebuilt: bool = False
    """Whether the file of the cache was rebuilt already; if it is damaged again, the disk is to blame."""


def read_vectors(path: Path | str, cache: Path | None = None, limit: int | None = None) -> WordVectors:
    """Read a file, or only its first ``limit`` vectors; with a cache folder the second time is a memory map."""
    return _read(_Request(str(path), limit, cache))


def _read(request: _Request) -> WordVectors:
    with explain_errors(request.source):
        origin = Origin(_fingerprint(request.source), request.limit)
    if request.cache is None:
        return _gather(request, origin)
    cache_file = request.cache / f"{origin.fingerprint}{f'-{request.limit}' if request.limit else ''}.npy"
    if (vectors := _mapped(request, cache_file, origin)) is None:
        try:
            _write_cache(request, cache_file, origin)
        except OSError:  # a full disk or a read-only folder should not be fatal
            return _mapped(request, cache_file, origin) or _gather(request, origin)
        vectors = _mapped(request, cache_file, origin)
    return vectors or _gather(request, origin)


def fingerprint(path: Path) -> str:
    """What identifies the state of a file: size, times, inode, and its content, or its beginning and end.

    The time of the last change of any kind cannot be set by hand, unlike that of the content. It may miss a change that
    follows within a clock tick of another; a file that is read in so little time is small, and hashed completely.
    """
    reject_special_file(path)
    state = hashlib.blake2b(b"sentprobe vectors 2", digest_size=16)
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        state.update(
            struct.pack("<4q", about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino & (2**63 - 1))
        )
        if about.st_size <= MAX_FULL_HASH_BYTES:
            state.update(file.read())
        else:
            state.update(file.read(CHUNK_BYTES))
            file.seek(-CHUNK_BYTES, os.SEEK_END)
            state.update(file.read(CHUNK_BYTES))
    return state.hexdigest()


def _fingerprint(source: str) -> str:
    """What identifies the state of a file; with that of the file beside it, if there is one."""
    content = fingerprint(Path(source))
    beside = words_beside(source) if Path(source).name.endswith(".npy") else matrix_beside(source)
    if not beside.is_file():
        return content
    return hashlib.blake2b(f"{content} {fingerprint(beside)}".encode(), digest_size=16).hexdigest()


def _unchanged(request: _Request, origin: Origin) -> None:
    """Reject a file that changed while it was read: half of it may be old and half new."""
    with explain_errors(request.source):
        if _fingerprint(request.source) != origin.fingerprint:
            raise DataError(f"{request.source} changed while it was read. Run the same command again.")


def _gather(request: _Request, origin: Origin) -> WordVectors:
    """Read into memory."""
    state = hashlib.blake2b(digest_size=16)
    blocks, subword = open_vectors(request.source, request.limit)
    words: list[str] = []
    rows: list[Matrix] = []
    for block_words, block in _first(request.source, blocks):
        words += block_words
        rows.append(block)
        state.update(block.data)
    digest, checks = _digest(state, words, subword, request.source)
    _unchanged(request, origin)
    if subword is not None:
        subword = _checked(request, None, subword, checks)
    return WordVectors(words, np.concatenate(rows), digest, len(words), subword)


def _write_cache(request: _Request, cache_file: Path, origin: Origin) -> None:
    """Read into a file of the cache."""
    with CacheWriter(cache_file) as out:
        state = hashlib.blake2b(digest_size=16)
        blocks, subword = open_vectors(request.source, request.limit)
        words: list[str] = []
        for block_words, block in _first(request.source, blocks):
            out.add(block)
            words += block_words
            state.update(block.data)
        ngrams = (subword.offset, len(subword.rows), subword.min_ngram, subword.max_ngram) if subword else None
        digest, checks = _digest(state, words, subword, request.source)
        _unchanged(request, origin)
        out.finish(CacheMetadata(origin, words, digest, *out.shape, ngrams), checks)


def _mapped(request: _Request, cache_file: Path, origin: Origin) -> WordVectors | None:
    """Map a file of the cache into memory; None if it is missing, or was damaged and is gone."""
    try:
        metadata, stored, checks, ngram_checksums = open_cache_file(cache_file, origin)
    except OSError:  # missing, or unreadable but perhaps replaceable
        return None
    except CorruptCacheError as why:
        _discard(request, cache_file, str(why))
        return None
    matrix = CheckedRows(stored, checks, partial(_rebuild, request, cache_file, metadata.digest))
    subword = None
    if metadata.subwords:
        with explain_errors(request.source):
            mapped = map_subwords(request.source, metadata.dim, *metadata.subwords)
        subword = _checked(request, cache_file, mapped, ngram_checksums)
    return WordVectors(metadata.words, matrix, metadata.digest, len(metadata.words), subword)


def _rebuild(request: _Request, cache_file: Path, digest: str, wrong: int) -> Matrix | CheckedRows:
    """The matrix read from its source again, since some rows of the cache are damaged."""
    what = f"{wrong} of the rows that were read do not match their checksums"
    if request.rebuilt:
        raise DataError(
            f"{cache_file} is damaged again, just after it was rebuilt: {what}. The disk or the memory of this machine "
            "is faulty; set SENTPROBE_CACHE to a folder on another disk."
        )
    _discard(request, cache_file, what)
    vectors = _read(request._replace(rebuilt=True))
    if vectors.digest != digest:
        raise DataError(f"{request.source} changed while it was in use. Run the same command again.")
    return vectors.matrix


def _discard(request: _Request, cache_file: Path, what: str) -> None:
    """Delete a damaged file of the cache, with a warning."""
    message = f"{cache_file} is damaged: {what}. It is deleted and rebuilt from {request.source}."
    warnings.warn(message, CacheWarning, stacklevel=2)
    with suppress(OSError):
        cache_file.unlink(missing_ok=True)


def _checked(request: _Request, cache_file: Path | None, subword: Subwords, checks: Checksums) -> Subwords:
    """N-grams whose rows are verified when they are read, since they stay in the source."""

    def damaged(wrong: int) -> Matrix:
        if cache_file is not None:  # the cache is of the file as it was
            with suppress(OSError):
                cache_file.unlink(missing_ok=True)
        raise DataError(
            f"{request.source} has changed since it was first read: {wrong} vectors of n-grams are different. "
            "Download the file again, or run the same command again to use it as it is now."
        )

    assert isinstance(subword.rows, np.ndarray)
    return replace(subword, rows=CheckedRows(subword.rows, checks, damaged))


def _first(path: str, blocks: Blocks) -> Blocks:
    """Leave out repeated words; reject numbers that are not finite, and a file without words."""
    seen: set[str] = set()
    for words, rows in blocks:
        if not (finite := np.isfinite(rows).all(1)).all():
            bad = words[int(np.argmin(finite))]
            raise DataError(f"{path}: the vector of {bad!r} has a number that is not finite; download the file again.")
        fresh: list[int] = []
        for row, word in enumerate(words):
            if word not in seen:
                seen.add(word)
                fresh.append(row)
        if len(fresh) == len(words):
            yield words, rows
        elif fresh:
            yield [words[row] for row in fresh], rows[fresh]
    if not seen:
        raise DataError(f"{path} holds no word vectors; expected lines of a word and its numbers, or a binary file.")


def _digest(state: Any, words: list[str], subword: Subwords | None, path: str) -> tuple[str, Checksums]:
    """Finish a hash that has seen the matrix; with the checksums of the n-grams' rows."""
    state.update(msgspec.json.encode(words))
    checks = [np.zeros(0, np.uint32)]
    if subword is not None:
        assert isinstance(subword.rows, np.ndarray)
        state.update(struct.pack("<2q", subword.min_ngram, subword.max_ngram))
        for at in range(0, len(subword.rows), BLOCK_ROWS):
            rows = np.array(subword.rows[at : at + BLOCK_ROWS])
            if not np.isfinite(rows.view("<f4")).all():
                raise DataError(f"{path}: an n-gram's vector has a number that is not finite; download the file again.")
            state.update(rows.data)
            checks.append(row_checksums(rows))
    return str(state.hexdigest()), np.concatenate(checks)
