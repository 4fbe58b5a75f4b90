"""The unfinished corpus: what is written so far, and where reading goes on.

Until it is complete, a corpus grows in a job folder, ``corpus.conllu.part/`` (``core/job_folder.py``), whose
``checksums.json`` says how many of its bytes count, what their digest is, and how far the work is. Whatever ends the
process, the same command goes on from there, unless something was changed meanwhile. A part of a compressed file is a
gzip member of its own.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.job_folder import JobFolder, check_same_request
from sentprobe.core.seal import other_format
from sentprobe.errors import DataError

COMMAND = "sentprobe annotate"
COMPRESSION = 6
KEPT = "What was written is kept: free some space, and the same command goes on."


class State(msgspec.Struct):
    """How far the work is."""

    request: dict[str, Any]
    """See ``Request.facts``."""
    pieces: int = 0
    """Pieces of the texts that are done."""
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


def unfinished(out: Path) -> JobFolder:
    """The folder in which a corpus grows."""
    path = out.with_name(f"{out.name}.part")
    if path.is_file():
        raise DataError(f"{other_format(path, 1, 2)} Remove it to begin anew.")
    return JobFolder(
        path, COMMAND, lambda _: f"Restore it, or remove the folder {path} to begin anew.", error=DataError
    )


class Journal:
    """The files of a corpus that is being written, within ``writing``."""

    def __init__(self, out: Path, files: Mapping[str, Path], request: dict[str, Any]) -> None:
        """``files`` are those to be written, by suffix, which is empty for ``out``."""
        self._files, self.job, self.state = files, unfinished(out), State(request)
        self._is_compressed = out.suffix == ".gz"

    @contextmanager
    def writing(self) -> Iterator[State]:
        """Go on where an earlier command has ended, whose request must be the same; no one else may write meanwhile."""
        with self.job.writing():
            if self.job.is_begun:
                try:
                    state = msgspec.convert(self.job.facts, State)
                except msgspec.ValidationError as e:
                    raise DataError(f"{self.job.path} is damaged: {e}. Remove it to begin anew.") from None
                check_same_request(
                    self.job.path, "a corpus", state.request, self.state.request, self.state.request, "name"
                )
                self.state = state
            try:
                yield self.state
            finally:
                with suppress(OSError):  # not empty, unless nothing was written, or all is done
                    self.job.path.rmdir()

    def written(self) -> Iterator[str]:
        """The lines of the corpus that have been written."""
        name = self._files[""].name
        if not self.job.grown(name).bytes:  # what is left of a state that was removed does not count
            return
        with (self.job.path / name).open("rb") as raw:
            source = gzip.GzipFile(fileobj=raw) if self._is_compressed else raw
            with io.TextIOWrapper(source, "utf-8", errors="surrogatepass") as lines:
                yield from lines

    def commit(self, texts: Mapping[str, str]) -> None:
        """Append to the files, and record the state: from now on both count."""
        contents = {self._files[suffix].name: self._encoded(text) for suffix, text in texts.items()}
        try:
            self.job.extend(contents, {"command": COMMAND, **msgspec.to_builtins(self.state)})
        except DataError as e:
            raise DataError(f"{e} {KEPT}") from e

    def _encoded(self, text: str) -> bytes:
        content = text.encode(errors="surrogatepass")
        return gzip.compress(content, COMPRESSION, mtime=0) if self._is_compressed and content else content

    def finish(self) -> None:
        """Give the files their names; some may have them, if this ended in between before."""
        if not self.state.is_complete:
            self.state.is_complete = True
            self.commit(dict.fromkeys(self._files, ""))
        try:
            self.job.move_out({path.name: path.name for path in self._files.values()})
        except DataError as e:
            raise DataError(f"{e} {KEPT}") from e

    def digests(self) -> dict[str, tuple[int, str]]:
        """By suffix, the size of each file with something in it, and its BLAKE2b digest, as that of ``b2sum``."""
        grown = {suffix: self.job.grown(path.name) for suffix, path in self._files.items()}
        return {suffix: (known.bytes, known.blake2b) for suffix, known in grown.items() if known.bytes}
