"""A request for annotation: which texts, read how, by which annotator, and which sentences are kept."""

from __future__ import annotations

import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sentprobe.annotate.annotator import Model
from sentprobe.annotate.source import LINES, TEXT_SOURCES, Lines, Piece, ReadOptions, source_of
from sentprobe.core.arguments import check_options
from sentprobe.core.files import find_remote, is_remote, nearest, plain_name, reject_special_file, stamp_remote
from sentprobe.core.hashing import b2sum, hash_64
from sentprobe.core.reader import OnBad
from sentprobe.corpus.files import spool_stdin
from sentprobe.corpus.languages import code_of
from sentprobe.errors import CorpusError, DataError, UsageError

Dedupe = Literal["exact", "near"]
NonTrees = Literal["repair", "drop"]
SUFFIXES = (".conllu", ".conllu.gz")
STDIN = "-"
MIN_PENDING_KEYS = 1 << 16
"""Keys that are held in a set before they are merged into the array."""


@dataclass(frozen=True)
class Input:
    """A file."""

    path: str
    name: str
    """The id of the file, from which ids of documents are made."""
    source: str
    """The name of its format."""
    stamp: str
    """What changes when the file does: its size and a digest of its content; of an address, what its store says."""
    times: tuple[int, ...] = ()
    """When it was written to, before the digest was computed; nothing for an address."""


@dataclass(frozen=True)
class AnnotationRequest:
    """All that decides what is written."""

    annotator: str
    """As it was typed: ``spacy:fr_core_news_sm``."""
    inputs: tuple[Input, ...]
    text: str | None = None
    """The field of a record with its text."""
    id: str | None = None
    """The field of a record with its id."""
    lines: Lines | None = None
    """What a line break means; None: what it usually means in such a file."""
    split: str = ""
    """The name of a sentence splitter; empty: the annotator splits, or the one of the language."""
    language: str | None = None
    check_language: bool = False
    """Whether sentences in another language are dropped."""
    dedupe: Dedupe | None = None
    length: tuple[int, int] | None = None
    """The shortest and the longest sentence that is kept, in words."""
    limit: int = 0
    """How many sentences are kept; 0: all."""
    non_trees: NonTrees = "repair"
    skip_bad: bool = False
    gold: str | None = None
    """A treebank on which the annotator is scored."""

    def __post_init__(self) -> None:
        check_options(0, limit=self.limit)

    @property
    def readings(self) -> dict[str, ReadOptions]:
        """How files of each source are read."""
        sources = {file.source for file in self.inputs}
        return {
            name: ReadOptions(self.lines or TEXT_SOURCES[name].lines, self.text or "text", self.id) for name in sources
        }

    def check(self, model: Model) -> None:
        """Refuse what has no effect, or contradicts the model."""
        if self.lines is not None and self.lines not in LINES:
            raise UsageError(f"--lines {self.lines}: expected {', '.join(LINES)}.")
        if (self.text or self.id) and not any(TEXT_SOURCES[file.source].records for file in self.inputs):
            option = "--text" if self.text else "--id"
            raise UsageError(f"{option} names a field of JSON lines or Parquet; {self.inputs[0].path} has none.")
        if self.split and self.lines == "sentences":
            raise UsageError("--split has no effect with --lines sentences, which are split: leave one of them out.")
        if self.language and model.language and code_of(self.language) != code_of(model.language):
            raise UsageError(
                f"--as-language {self.language}: {self.annotator} is a model of {model.language}. Leave it out, "
                "or choose a model of that language."
            )
        if self.check_language and not (self.language or model.language):
            raise UsageError(
                f"--check-language needs --as-language CODE: {self.annotator} does not say which it is for."
            )

    def facts(self, model: Model) -> dict[str, Any]:
        """What must be the same when work is resumed, and what is compared with a finished file, as plain data."""
        return {
            "--with": self.annotator,
            "model": model.identity,
            "texts": [f"{file.name} ({file.source}): {file.stamp}" for file in self.inputs],
            "--text": self.text,
            "--id": self.id,
            "--lines": self.lines,
            "--split": self.split,
            "--as-language": self.language,
            "--check-language": self.check_language,
            "--dedupe": self.dedupe,
            "--length": None if self.length is None else list(self.length),
            "--limit": self.limit,
            "--non-trees": self.non_trees,
            "--skip-bad": self.skip_bad,
            "--gold": f"{self.gold}: {stamp_file(self.gold)}" if self.gold and Path(self.gold).is_file() else self.gold,
        }


def parse_length(typed: str) -> tuple[int, int] | None:
    """``5-50`` as two numbers; None if nothing was typed."""
    if not typed:
        return None
    m = re.fullmatch(r"(\d+)-(\d+)", typed)
    if not m or not 1 <= int(m[1]) <= int(m[2]):
        raise UsageError(f"--length {typed}: expected the minimum and maximum number of tokens, such as 5-50.")
    return int(m[1]), int(m[2])


# The files, and the pieces of their texts


def find_inputs(paths: Sequence[str], format: str | None = None) -> tuple[Input, ...]:
    """The files that paths, globs and directories mean, in the order typed, each once; ``-`` is standard input."""
    inputs: dict[str, Input] = {}
    for path in paths:
        for file, name in _expand(path, format):
            inputs.setdefault(file, _input(file, name, format))
    if not inputs:
        raise UsageError("No text was given: name a file, a directory, a glob, or - for standard input.")
    return tuple(_with_distinct_names(inputs.values()))


def _expand(path: str, format: str | None) -> list[tuple[str, str]]:
    """Files with their ids: the name without suffixes, below a directory with the folders that lead to it."""
    if path == STDIN:
        return [(STDIN, "stdin")]
    if is_remote(path):
        remote = find_remote(path, lambda name: _is_wanted(name, format))
        return [(file, _id(relative)) for file, relative in remote]
    if Path(path).is_dir():
        if files := _files_below(path, format):
            return [(file, _id(str(Path(file).relative_to(path)))) for file in files]
        suffixes = " ".join(suffix for source in TEXT_SOURCES.parts().values() for suffix in source.suffixes)
        raise UsageError(f"The directory {path!r} holds no text; known suffixes: {suffixes} (also compressed).")
    if Path(path).exists():
        return [(path, _stem(path))]
    if glob.has_magic(path):
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - pathlib's cannot take an absolute pattern
        if files := sorted(match for match in matches if not Path(match).is_dir()):
            return [(file, _stem(file)) for file in files]
        raise UsageError(f"No file matches {path!r}; the current directory is {str(Path.cwd())!r}.")
    raise UsageError(f"There is no file or directory {path!r}{nearest(path) or '.'}")


def _files_below(directory: str, format: str | None) -> list[str]:
    """Every file below a directory in a known format, or in this one, sorted; hidden ones are not seen."""
    files: list[str] = []
    for folder, folders, names in os.walk(directory):
        folders[:] = [f for f in folders if not f.startswith(".")]
        paths = [Path(folder, name) for name in names if _is_wanted(name, format)]
        files += [str(path) for path in paths if path.is_file()]
    return sorted(files)


def _is_wanted(name: str, format: str | None) -> bool:
    source = source_of(name)
    return source is not None and format in (None, source.name) and not name.startswith(".")


def _input(path: str, name: str, format: str | None) -> Input:
    source = TEXT_SOURCES.get(format) if format else source_of(path)
    if source is None and path == STDIN:
        source = TEXT_SOURCES["text"]
    if source is None:
        names = ", ".join(TEXT_SOURCES)
        raise UsageError(f"Cannot tell the format of {path!r} from its name; add --format, one of {names}.")
    if is_remote(path):
        return Input(path, name, source.name, stamp_remote(path))
    if path == STDIN:
        path = spool_stdin()
    times = _times(path)
    return Input(path, name, source.name, stamp_file(path), times)


def stamp_file(path: str) -> str:
    """The size of a file and a digest of its content: a second or two per gigabyte, which takes hours to annotate."""
    try:
        reject_special_file(path)
        return f"{Path(path).stat().st_size} bytes, blake2b {b2sum(Path(path))[:32]}"
    except OSError as e:
        raise DataError(f"{path!r} cannot be read: {e.strerror}.") from e


def _times(path: str) -> tuple[int, ...]:
    try:
        facts = Path(path).stat()
    except OSError as e:
        raise DataError(f"{path!r} cannot be read: {e.strerror}.") from e
    return facts.st_size, facts.st_mtime_ns, facts.st_ino


def _with_distinct_names(inputs: Iterable[Input]) -> Iterator[Input]:
    """The inputs with names of their own: a second one of a name gets a number."""
    taken: Counter[str] = Counter()
    for file in inputs:
        taken[file.name] += 1
        yield file if taken[file.name] == 1 else replace(file, name=f"{file.name}.{taken[file.name]}")


def _id(relative: str) -> str:
    """The id of a file below a folder: the folders in between are part of it."""
    return str(Path(relative).parent / _stem(relative))


def _stem(path: str) -> str:
    name = plain_name(path)
    source = source_of(path)
    suffix = max((s for s in (source.suffixes if source else ()) if name.lower().endswith(s)), key=len, default="")
    return " ".join(name[: len(name) - len(suffix)].split()) or name


def read_pieces(
    inputs: Sequence[Input], readings: Mapping[str, ReadOptions], on_bad: OnBad | None
) -> Iterator[tuple[str, Piece]]:
    """The pieces of all files with the names of their sources, in order.

    A file that breaks off is given up there, if there is someone to tell.
    """
    doc_keys = SeenKeys()
    for file in inputs:
        reading = readings[file.source]
        try:
            for piece in TEXT_SOURCES[file.source].read(file.path, file.name, reading, on_bad):
                if reading.id is not None and piece.first and not doc_keys.add(hash_64(piece.doc)):
                    raise DataError(
                        f"{file.path}: the id {piece.doc!r} occurs a second time; expected an id of its own for each "
                        "document. Name another field with --id, or leave it out."
                    )
                yield file.source, piece
        except CorpusError as bad:
            if on_bad is None:
                raise
            on_bad(bad)
        if file.times and _times(file.path) != file.times:
            raise DataError(
                f"{file.path!r} changed while it was read, so that the corpus is of neither text: restore the file as "
                "it was, or remove what was written, and repeat the command."
            )


class SeenKeys:
    """A growing set of 64-bit keys in eight bytes each: most in a sorted array, the last ones in a set."""

    def __init__(self) -> None:
        self._sorted = np.empty(0, np.uint64)
        self._pending: set[int] = set()

    def __len__(self) -> int:
        return len(self._sorted) + len(self._pending)

    def add(self, key: int) -> bool:
        """Add a key; whether it is new."""
        if key in self._pending or self._has(key):
            return False
        self._pending.add(key)
        # merging costs as much as the array is long: it is done each time that it has grown by an eighth
        if len(self._pending) >= max(MIN_PENDING_KEYS, len(self._sorted) >> 3):
            merged = np.concatenate((self._sorted, np.fromiter(self._pending, np.uint64, len(self._pending))))
            merged.sort()
            self._sorted = merged
            self._pending = set()
        return True

    def _has(self, key: int) -> bool:
        value = np.uint64(key)
        at = int(self._sorted.searchsorted(value))
        return at < len(self._sorted) and bool(self._sorted[at] == value)
