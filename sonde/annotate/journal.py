"""The unfinished corpus: what is written so far, and where reading goes on.

Data are appended to ``corpus.conllu.part`` and synced; then ``corpus.conllu.part.json``, which is replaced as a whole,
says how many bytes of them count. Whatever ends the process in between, the same command cuts the data back to that and
goes on. A part of a compressed file is a gzip member of its own.
"""

from __future__ import annotations

import gzip
import os
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from sonde.core.files import write_atomically
from sonde.errors import DataError, UsageError


class State(msgspec.Struct):
    """How far the work is."""

    facts: dict[str, Any]
    """Of the request; see ``Request.facts``."""
    pieces: int = 0
    """Pieces of the texts that are done."""
    sizes: dict[str, int] = msgspec.field(default_factory=dict)
    """Bytes that count, by suffix of the file."""
    doc: str | None = None
    """The document that was being written, and its sentences so far, dropped ones included."""
    place: int = 0
    is_headed: bool = False
    """Whether the document's id has been written."""
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    dropped: Counter[str] = msgspec.field(default_factory=Counter)
    repaired: Counter[str] = msgspec.field(default_factory=Counter)
    bad: int = 0
    """What could not be read and was skipped."""
    messages: list[str] = msgspec.field(default_factory=list)
    """The first of these."""
    is_complete: bool = False


class Journal:
    """The files of a corpus that is being written; a context, in which they are open."""

    def __init__(self, out: Path, suffixes: tuple[str, ...], facts: dict[str, Any]) -> None:
        """``suffixes`` are those of the files that are written: an empty one is ``out`` itself."""
        self._out = out
        self._facts = facts
        self._files: dict[str, BinaryIO] = {}
        self._suffixes = suffixes
        self._stack = ExitStack()
        self.state = State(facts)

    @staticmethod
    def part_of(out: Path, suffix: str = "") -> Path:
        """The unfinished form of a file."""
        return out.with_name(f"{out.name}{suffix}.part")

    @property
    def is_compressed(self) -> bool:
        """Whether the files are."""
        return self._out.suffix == ".gz"

    @staticmethod
    def state_file(out: Path) -> Path:
        """The state of an unfinished file."""
        return out.with_name(f"{out.name}.part.json")

    @property
    def _state_file(self) -> Path:
        return self.state_file(self._out)

    def __enter__(self) -> Journal:
        if self._state_file.exists():
            self.state = self._read()
        try:
            for suffix in self._suffixes:
                path = self.part_of(self._out, suffix)
                self._files[suffix] = file = self._stack.enter_context(path.open("r+b" if path.exists() else "w+b"))
                size = self.state.sizes.get(suffix, 0)
                if file.seek(0, os.SEEK_END) < size:
                    raise DataError(f"{path} is shorter than it was. Remove it and {self._state_file} to begin anew.")
                file.truncate(size)
                file.seek(size)
        except OSError as e:
            raise DataError(f"{self._out} cannot be written: {e.strerror}. Choose another place.") from e
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _read(self) -> State:
        try:
            found = msgspec.json.decode(self._state_file.read_bytes(), type=State)
        except (OSError, msgspec.MsgspecError) as e:
            raise DataError(f"{self._state_file} is damaged: {e}. Remove it to begin anew.") from e
        for name, value in self._facts.items():
            if found.facts.get(name) != value:
                raise UsageError(
                    f"{self.part_of(self._out)} was begun with {name} {found.facts.get(name)}, and this is {name} {value}. "
                    f"Repeat the first command to finish it, or remove it and {self._state_file} to begin anew."
                )
        return found

    def written(self) -> BinaryIO:
        """The unfinished file, to be read from its beginning and closed."""
        return self.part_of(self._out).open("rb")

    def commit(self, texts: dict[str, str]) -> None:
        """Append to the files, and record the state: from now on both count."""
        try:
            for suffix, text in texts.items():
                if not text:
                    continue
                content = text.encode(errors="surrogatepass")
                if self.is_compressed:
                    content = gzip.compress(content, 6, mtime=0)
                file = self._files[suffix]
                file.seek(self.state.sizes.get(suffix, 0))
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
                self.state.sizes[suffix] = self.state.sizes.get(suffix, 0) + len(content)
        except OSError as e:
            raise DataError(
                f"{self._out} cannot be written: {e.strerror}. What was written is kept: free some space, and the same "
                "command goes on."
            ) from e
        write_atomically(self._state_file, msgspec.json.encode(self.state))

    def finish(self, names: dict[str, Path]) -> None:
        """Give the files their names."""
        self.state.is_complete = True
        write_atomically(self._state_file, msgspec.json.encode(self.state))
        self._stack.close()
        for suffix, path in names.items():
            if self.part_of(self._out, suffix).exists():
                self.part_of(self._out, suffix).replace(path)
