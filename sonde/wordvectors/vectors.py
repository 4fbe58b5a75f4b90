"""The value, how it is read, and how it is kept for the next time."""

from __future__ import annotations

import hashlib
import os
import struct
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sonde.corpus.files import refuse_special
from sonde.errors import DataError
from sonde.wordvectors.fasttext import Blocks, Matrix, Subwords, map_subwords
from sonde.wordvectors.formats import explained, open_vectors

PIECE = 1 << 20
ROWS = 1024


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words and their vectors, the most frequent word first if the file was so ordered, as the usual ones are."""

    words: Sequence[str]
    matrix: Matrix
    """(n, d), one row per word; read-only and memory-mapped if it comes from a cache."""
    digest: str
    """A hash of all words and vectors that were read: the same for the same vectors in another format."""
    size: int
    """How many words were read."""
    subword: Subwords | None = None
    """A function from words to vectors made of their character n-grams, if the file has those."""
    places: NDArray[np.int64] | None = None
    """The places of the words among all that were read, if some were left out since."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""
        return int(self.matrix.shape[1])

    @cached_property
    def index(self) -> dict[str, int]:
        """Word → its row."""
        return {word: row for row, word in enumerate(self.words)}

    def take(self, rows: NDArray[np.int64]) -> WordVectors:
        """Only some rows, held in memory; size and digest stay those of the whole."""
        places = rows if self.places is None else self.places[rows]
        return replace(self, words=[self.words[r] for r in rows], matrix=self.matrix[rows], places=places)


def read_vectors(path: Path | str, cache: Path | None = None, limit: int | None = None) -> WordVectors:
    """Read a file, or only its first ``limit`` vectors; with a cache folder the second time is a memory map."""
    source = str(path)
    with explained(source):
        fingerprint = _fingerprint(Path(source))
    if cache is None:
        return _gather(source, limit)
    kept = cache / f"{fingerprint}{f'-{limit}' if limit else ''}.npy"
    if (found := _mapped(kept, source)) is None:
        try:
            _keep(kept, source, limit)
        except OSError:  # a full disk or a folder that may not be written is no reason not to have the vectors
            return _mapped(kept, source) or _gather(source, limit)
        found = _mapped(kept, source)
    return found or _gather(source, limit)


def _fingerprint(path: Path) -> str:
    state = hashlib.blake2b(digest_size=16)
    refuse_special(path)
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        # the time of the last change of any kind cannot be set by hand, unlike that of the content
        state.update(
            struct.pack("<4q", about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino & (2**63 - 1))
        )
        state.update(file.read(PIECE))
        file.seek(max(0, about.st_size - PIECE))
        state.update(file.read(PIECE))
    return state.hexdigest()


class _Kept(msgspec.Struct):
    """What stands behind the matrix in a file of the cache."""

    words: list[str]
    digest: str
    offset: int
    dim: int
    subwords: tuple[int, int, int, int] | None


_END = struct.Struct("<q16s")
"""The last bytes of a file of the cache: the length of a _Kept, and its hash."""


def _gather(path: str, limit: int | None) -> WordVectors:
    """Read into memory."""
    state = hashlib.blake2b(digest_size=16)
    blocks, subword = open_vectors(path, limit)
    words: list[str] = []
    rows: list[Matrix] = []
    for some, block in _first(path, blocks):
        words += some
        rows.append(block)
        state.update(block.data)
    return WordVectors(words, np.concatenate(rows), _digest(state, words, subword, path), len(words), subword)


def _keep(kept: Path, path: str, limit: int | None) -> None:
    """Read into a file of the cache, under a temporary name until it is whole."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(".part", f".{kept.stem}.", kept.parent)
    try:
        with os.fdopen(handle, "w+b") as out:
            state = hashlib.blake2b(digest_size=16)
            blocks, subword = open_vectors(path, limit)
            words: list[str] = []
            dim = offset = 0
            for some, block in _first(path, blocks):
                dim = block.shape[1]
                offset = offset or _npy_header(out, 0, dim)
                out.write(block.astype("<f4", copy=False).data)
                words += some
                state.update(block.data)
            place = (subword.offset, len(subword.rows), subword.shortest, subword.longest) if subword else None
            tail = msgspec.json.encode(_Kept(words, _digest(state, words, subword, path), offset, dim, place))
            out.write(tail + _END.pack(len(tail), hashlib.blake2b(tail, digest_size=16).digest()))
            out.seek(0)
            _npy_header(out, len(words), dim)
            out.flush()
            os.fsync(out.fileno())
        Path(part).replace(kept)
        for left in kept.parent.glob(f".{kept.stem}.*.part"):  # by a process that was killed
            left.unlink(missing_ok=True)
    finally:
        Path(part).unlink(missing_ok=True)


def _npy_header(out: Any, rows: int, dim: int) -> int:
    """Write the head of a matrix file; numpy leaves room for the number of rows to grow."""
    np.lib.format.write_array_header_1_0(out, {"descr": "<f4", "fortran_order": False, "shape": (rows, dim)})
    return int(out.tell())


def _mapped(kept: Path, path: str) -> WordVectors | None:
    """Map a file of the cache into memory, unless it is missing or broken."""
    try:
        with kept.open("rb") as file:
            end = file.seek(-_END.size, os.SEEK_END)
            length, expected = _END.unpack(file.read())
            begin = file.seek(end - length)
            tail = file.read(length)
        about = msgspec.json.decode(tail, type=_Kept)
        shape = (len(about.words), about.dim)
        if (
            hashlib.blake2b(tail, digest_size=16).digest() != expected
            or about.offset + 4 * shape[0] * shape[1] != begin
        ):
            return None
        matrix = np.asarray(np.memmap(kept, "<f4", "r", about.offset, shape))
        subword = map_subwords(path, about.dim, *about.subwords) if about.subwords else None
    except (OSError, ValueError, struct.error, msgspec.MsgspecError):
        return None
    return WordVectors(about.words, matrix, about.digest, len(about.words), subword)


def _first(path: str, blocks: Blocks) -> Blocks:
    """Leave out words that were there before; refuse numbers that are not finite, and a file without words."""
    seen: set[str] = set()
    for words, rows in blocks:
        if not (finite := np.isfinite(rows).all(1)).all():
            bad = words[int(np.argmin(finite))]
            raise DataError(f"{path}: the vector of {bad!r} has a number that is not finite; fetch the file again.")
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


def _digest(state: Any, words: list[str], subword: Subwords | None, path: str) -> str:
    """Finish a hash that has seen the matrix."""
    state.update(msgspec.json.encode(words))
    if subword is not None:
        state.update(struct.pack("<2q", subword.shortest, subword.longest))
        for at in range(0, len(subword.rows), ROWS):
            rows = np.array(subword.rows[at : at + ROWS])
            if not np.isfinite(rows.view("<f4")).all():
                raise DataError(f"{path}: an n-gram's vector has a number that is not finite; fetch the file again.")
            state.update(rows.data)
    return str(state.hexdigest())
