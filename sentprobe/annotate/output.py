"""The corpus on disk: unfinished, with a state from which the same command resumes; finished, with a card beside it.

Until it is complete, a corpus grows in a job folder, ``corpus.conllu.part/`` (``core/job_folder.py``), whose
``checksums.json`` says how many of its bytes count, what their digest is, and how far the work is. Whatever ends the
process, the same command resumes there, unless something was changed meanwhile. A part of a compressed file is a
gzip member of its own. The card has counts and digests; comments in the file itself say what the annotation is by.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from sentprobe import __version__
from sentprobe.annotate.annotator import Model
from sentprobe.core.files import write_atomically
from sentprobe.core.hashing import b2sum
from sentprobe.core.job_folder import JobFolder, check_same_request
from sentprobe.core.seal import is_intact, other_format, read_document, seal_document
from sentprobe.corpus.provenance import NO, YES, provenance_comments
from sentprobe.errors import DataError

COMMAND = "sentprobe annotate"
COMPRESSION = 6
CARD_FORMAT = "sentprobe.annotation.v2"
REPEAT = "Restore it, or remove the corpus and its card, and repeat the command."
RESUMABLE = "What was written is kept: free some space, and the same command goes on."


class CorpusState(msgspec.Struct):
    """How far the work is."""

    request: dict[str, Any]
    """See ``AnnotationRequest.facts``."""
    pieces: int = 0
    """Pieces of the texts that are done."""
    doc: str | None = None
    """The document that was being written, and its sentences so far, duplicates included."""
    sentence_number: int = msgspec.field(default=0, name="place")
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


def add_counts(totals: dict[str, int], counts: Mapping[str, int]) -> None:
    """Add counts to those of a state."""
    for name, n in counts.items():
        totals[name] = totals.get(name, 0) + n


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
        self._files, self.job, self.state = files, unfinished(out), CorpusState(request)
        self._is_compressed = out.suffix == ".gz"

    @contextmanager
    def writing(self) -> Iterator[CorpusState]:
        """Resume where an earlier command ended, whose request must be the same; no one else may write meanwhile."""
        with self.job.writing():
            if self.job.is_begun:
                try:
                    state = msgspec.convert(self.job.facts, CorpusState)
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
            raise DataError(f"{e} {RESUMABLE}") from e

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
            raise DataError(f"{e} {RESUMABLE}") from e

    def digests(self) -> dict[str, tuple[int, str]]:
        """By suffix, the size of each file with something in it, and its BLAKE2b digest, as that of ``b2sum``."""
        grown = {suffix: self.job.grown(path.name) for suffix, path in self._files.items()}
        return {suffix: (file.bytes, file.blake2b) for suffix, file in grown.items() if file.bytes}


# The card of a finished corpus


def card_file(out: Path) -> Path:
    """The card of a corpus."""
    return out.with_name(f"{out.name}.json")


def header(annotator: str, model: Model, accuracy: str = "") -> str:
    """The comments above the first sentence."""
    facts = {
        "annotator": annotator,
        "software": model.software,
        "model": model.name,
        "version": model.version,
        "licence": model.licence,
        "language": model.language or "",
        "universal": YES if model.universal else NO,
        "columns": ", ".join(model.columns),
        "accuracy": accuracy,
    }
    return provenance_comments(facts, f"sentprobe {__version__}, sentprobe annotate")


def write_card(
    out: Path, annotator: str, model: Model, state: CorpusState, digests: Mapping[str, tuple[int, str]]
) -> None:
    """Write the card of a finished corpus, with sizes and digests by suffix."""
    card = {
        "format": CARD_FORMAT,
        "file": out.name,
        "bytes": {suffix: size for suffix, (size, _) in digests.items()},
        "blake2b": {suffix: blake2b for suffix, (_, blake2b) in digests.items()},
        "sentprobe": __version__,
        "annotator": annotator,
        "model": asdict(model),
        "accuracy": state.accuracy,
        "counts": dict(state.counts),
        "dropped": _largest_first(state.dropped),
        "repaired": _largest_first(state.repaired),
        "not_read": {"count": state.bad, "listed": state.messages},
        "crashed": state.crashes,
        "request": state.request,
    }
    write_atomically(card_file(out), seal_document(card))


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def read_card(out: Path) -> dict[str, Any] | None:
    """The card of a corpus; None if there is none, DataError if it was changed."""
    file = card_file(out)
    try:
        card = read_document(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
    except ValueError as e:
        raise DataError(f"{file} is damaged: {e}. {REPEAT}") from None
    if card.get("format") != CARD_FORMAT:
        raise DataError(f"{other_format(file, card.get('format'), CARD_FORMAT)} {REPEAT}")
    if not is_intact(card) or card.get("file") != out.name:
        raise DataError(f"{file} has changed since `sentprobe annotate` wrote it. {REPEAT}")
    return card


def check_corpus(out: Path, card: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """DataError if the files of a finished corpus are not those that its card is about."""
    for suffix, path in files.items():
        size, digest = card["bytes"].get(suffix, 0), card["blake2b"].get(suffix, b2sum(b""))
        if not path.is_file() or path.stat().st_size != size or b2sum(path) != digest:
            raise DataError(f"{path} has changed since `sentprobe annotate` wrote it. {REPEAT}")
