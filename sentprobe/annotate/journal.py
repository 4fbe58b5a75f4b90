"""The unfinished corpus: what is written so far, and where reading goes on.

Data are appended to ``corpus.conllu.part`` and synced; then ``corpus.conllu.part.json``, which is replaced as a whole,
says how many bytes of them count, and what their digest is. Whatever ends the process in between, the same command cuts
the data back to that and goes on, unless they were changed meanwhile. A part of a compressed file is a gzip member of
its own.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from sentprobe.core.checksum import is_intact, read_document, seal_document
from sentprobe.core.files import write_atomically
from sentprobe.core.lock import locked
from sentprobe.errors import DataError, UsageError

COMPRESSION = 6
KEPT = "What was written is kept: free some space, and the same command goes on."


class State(msgspec.Struct):
    """How far the work is."""

    facts: dict[str, Any]
    """Of the request; see ``Request.facts``."""
    pieces: int = 0
    """Pieces of the texts that are done."""
    sizes: dict[str, int] = msgspec.field(default_factory=dict)
    """Bytes that count, by suffix of the file."""
    digests: dict[str, str] = msgspec.field(default_factory=dict)
    """Their BLAKE2b digests, as those of ``b2sum``."""
    doc: str | None = None
    """The document that was being written, and its sentences so far, duplicates included."""
    place: int = 0
    is_headed: bool = False
    """Whether the document's id has been written."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    dropped: dict[str, int] = msgspec.field(default_factory=dict)
    repaired: dict[str, int] = msgspec.field(default_factory=dict)
    bad: int = 0
    """What could not be read and was skipped."""
    messages: list[str] = msgspec.field(default_factory=list)
    """The first of these."""
    crashes: list[str] = msgspec.field(default_factory=list)
    """What crashed where and was left out: the first of these."""
    accuracy: dict[str, Any] | None = None
    """On a gold treebank, as plain data."""
    is_complete: bool = False


def add_counts(counts: dict[str, int], more: Mapping[str, int]) -> None:
    """Add counts to those of a state."""
    for name, n in more.items():
        counts[name] = counts.get(name, 0) + n


class Journal:
    """The files of a corpus that is being written; a context, in which they are open and no one else's."""

    def __init__(self, out: Path, files: Mapping[str, Path], facts: dict[str, Any]) -> None:
        """``files`` are those to be written, by the suffix of their unfinished form, which is empty for ``out``."""
        self._out, self._names, self._facts = out, files, facts
        self._files: dict[str, BinaryIO] = {}
        self._hashes: dict[str, hashlib.blake2b] = {}
        self._stack = ExitStack()
        self.state = State(facts)

    @staticmethod
    def state_file(out: Path) -> Path:
        """The state of an unfinished corpus."""
        return out.with_name(f"{out.name}.part.json")

    def _part(self, suffix: str = "") -> Path:
        return self._out.with_name(f"{self._out.name}{suffix}.part")

    def __enter__(self) -> Journal:
        with ExitStack() as stack:
            stack.enter_context(locked(self._part(), self._out, DataError))
            if self.state_file(self._out).exists():
                self.state = self._read()
            if self.state.is_complete:
                for suffix, path in self._names.items():
                    self._verify(suffix, path if self._is_named(suffix, path) else self._part(suffix))
            else:
                try:
                    for suffix in self._names:
                        self._files[suffix] = stack.enter_context(self._opened(suffix))
                except OSError as e:
                    raise DataError(f"{self._out} cannot be written: {e.strerror}. Choose another place.") from e
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _opened(self, suffix: str) -> BinaryIO:
        """An unfinished file, cut back to what counts."""
        path, size = self._part(suffix), self.state.sizes.get(suffix, 0)
        self._hashes[suffix] = self._verify(suffix, path) if size else hashlib.blake2b()
        file = path.open("r+b" if path.exists() else "w+b")
        file.truncate(size)
        return file

    def _verify(self, suffix: str, path: Path) -> hashlib.blake2b:
        """Compare what was written with its digest; returns its hash, to which more is added."""
        state, left = hashlib.blake2b(), self.state.sizes.get(suffix, 0)
        if left and path.exists():
            with path.open("rb") as file:
                while left and (piece := file.read(min(left, 1 << 20))):
                    state.update(piece)
                    left -= len(piece)
        if left or state.hexdigest() != self.state.digests.get(suffix, hashlib.blake2b().hexdigest()):
            raise DataError(
                f"{path} has changed since `sentprobe annotate` wrote it. Restore it, or remove "
                f"{self.state_file(self._out)} to begin anew."
            )
        return state

    def _is_named(self, suffix: str, path: Path) -> bool:
        """Whether a complete file has its name already."""
        part, size = self._part(suffix), self.state.sizes.get(suffix, 0)
        return path.exists() and (not size or not part.exists() or part.stat().st_size != size)

    def _read(self) -> State:
        place = self.state_file(self._out)
        try:
            document = read_document(place.read_bytes())
            if not is_intact(document):
                raise ValueError("its checksum does not match")
            found = msgspec.convert(document, State)
        except (OSError, ValueError) as e:
            raise DataError(f"{place} is damaged: {e}. Restore it, or remove it to begin anew.") from e
        for name, value in self._facts.items():
            if (before := found.facts.get(name)) != value:
                raise UsageError(
                    f"{self._part()} was begun with {name} {before}, not {value}. Repeat the first command to finish "
                    f"it, or remove {place.name} to begin anew."
                )
        return found

    def written(self) -> Iterator[str]:
        """The lines that have been written."""
        with self._part().open("rb") as raw:
            if self.state.sizes.get(""):
                source = gzip.GzipFile(fileobj=raw) if self._is_compressed else raw
                with io.TextIOWrapper(source, "utf-8", errors="surrogatepass") as lines:
                    yield from lines

    @property
    def _is_compressed(self) -> bool:
        return self._out.suffix == ".gz"

    def commit(self, texts: Mapping[str, str]) -> None:
        """Append to the files, and record the state: from now on both count."""
        try:
            for suffix, text in texts.items():
                if not text:
                    continue
                content = text.encode(errors="surrogatepass")
                if self._is_compressed:
                    content = gzip.compress(content, COMPRESSION, mtime=0)
                file = self._files[suffix]
                file.seek(self.state.sizes.get(suffix, 0))
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                self.state.sizes[suffix] = self.state.sizes.get(suffix, 0) + len(content)
                self._hashes[suffix].update(content)
                self.state.digests[suffix] = self._hashes[suffix].hexdigest()
            self._record()
        except OSError as e:
            raise DataError(f"{self._out} cannot be written: {e.strerror}. {KEPT}") from e

    def _record(self) -> None:
        try:
            write_atomically(self.state_file(self._out), seal_document(msgspec.to_builtins(self.state)))
        except DataError as e:
            raise DataError(f"{e} {KEPT}") from e

    def finish(self) -> None:
        """Give the files their names; some may have them, if this ended in between before."""
        self.state.is_complete = True
        self._record()
        for suffix, path in self._names.items():
            part, size = self._part(suffix), self.state.sizes.get(suffix, 0)
            is_whole = part.exists() and part.stat().st_size == size
            if is_whole and (size or not path.exists()):  # an empty one may be the lock of a file that has its name
                try:
                    part.replace(path)
                except OSError as e:
                    raise DataError(f"{path} cannot be written: {e.strerror}. {KEPT}") from e
            if not path.exists():
                raise DataError(f"{part} is not as it was. Remove {self.state_file(self._out)} to begin anew.")

    def forget(self) -> None:
        """Remove what is left of the unfinished form, after all is done."""
        self._part().unlink(missing_ok=True)  # of a corpus that had its name, and was locked under this one
        self.state_file(self._out).unlink(missing_ok=True)
