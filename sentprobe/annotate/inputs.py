"""Which files are annotated, in which format each is, and their pieces."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentprobe.annotate.dedupe import SeenKeys
from sentprobe.annotate.source import TEXT_SOURCES, Piece, Reading, source_of
from sentprobe.core.files import find_remote, is_remote, nearest, plain_name, reject_special_file, stamp_remote
from sentprobe.core.hashing import b2sum, hash_64
from sentprobe.core.reader import OnBad
from sentprobe.corpus.files import spool_stdin
from sentprobe.errors import CorpusError, DataError, UsageError

STDIN = "-"


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


def find_inputs(paths: Sequence[str], format: str | None = None) -> tuple[Input, ...]:
    """The files that paths, globs and directories mean, in the order typed, each once; ``-`` is standard input."""
    found: dict[str, Input] = {}
    for path in paths:
        for file, name in _expand(path, format):
            found.setdefault(file, _input(file, name, format))
    if not found:
        raise UsageError("No text was given: name a file, a directory, a glob, or - for standard input.")
    return tuple(_distinct([*found.values()]))


def _expand(path: str, format: str | None) -> list[tuple[str, str]]:
    """Files with their ids: the name without suffixes, below a directory with the folders that lead to it."""
    if path == STDIN:
        return [(STDIN, "stdin")]
    if is_remote(path):
        found = find_remote(path, lambda name: _is_wanted(name, format))
        return [(file, _id(below)) for file, below in found]
    if Path(path).is_dir():
        if below := _below(path, format):
            return [(file, _id(str(Path(file).relative_to(path)))) for file in below]
        known = " ".join(suffix for source in TEXT_SOURCES.parts().values() for suffix in source.suffixes)
        raise UsageError(f"The directory {path!r} holds no text; known suffixes: {known} (also compressed).")
    if Path(path).exists():
        return [(path, _stem(path))]
    if glob.has_magic(path):
        matches = glob.glob(path, recursive=True)  # noqa: PTH207 - pathlib's cannot take an absolute pattern
        if files := sorted(match for match in matches if not Path(match).is_dir()):
            return [(file, _stem(file)) for file in files]
        raise UsageError(f"No file matches {path!r}; the current directory is {str(Path.cwd())!r}.")
    raise UsageError(f"There is no file or directory {path!r}{nearest(path) or '.'}")


def _below(directory: str, format: str | None) -> list[str]:
    """Every file below a directory in a known format, or in this one, sorted; hidden ones are not seen."""
    found: list[str] = []
    for folder, folders, names in os.walk(directory):
        folders[:] = [f for f in folders if not f.startswith(".")]
        paths = [Path(folder, name) for name in names if _is_wanted(name, format)]
        found += [str(path) for path in paths if path.is_file()]
    return sorted(found)


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


def _distinct(inputs: list[Input]) -> Iterator[Input]:
    """The inputs with names of their own: a second one of a name gets a number."""
    taken: Counter[str] = Counter()
    for one in inputs:
        taken[one.name] += 1
        yield one if taken[one.name] == 1 else replace(one, name=f"{one.name}.{taken[one.name]}")


def _id(below: str) -> str:
    """The id of a file below a folder: the folders in between are part of it."""
    return str(Path(below).parent / _stem(below))


def _stem(path: str) -> str:
    name = plain_name(path)
    source = source_of(path)
    suffix = max((s for s in (source.suffixes if source else ()) if name.lower().endswith(s)), key=len, default="")
    return " ".join(name[: len(name) - len(suffix)].split()) or name


def read_pieces(
    inputs: Sequence[Input], readings: Mapping[str, Reading], on_bad: OnBad | None
) -> Iterator[tuple[str, Piece]]:
    """The pieces of all files with the names of their sources, in order.

    A file that breaks off is given up there, if there is someone to tell.
    """
    seen = SeenKeys()
    for one in inputs:
        has_ids = readings[one.source].id is not None
        try:
            for piece in TEXT_SOURCES[one.source].read(one.path, one.name, readings[one.source], on_bad):
                if has_ids and piece.first and not seen.add(hash_64(piece.doc)):
                    raise DataError(
                        f"{one.path}: the id {piece.doc!r} occurs a second time; expected an id of its own for each "
                        "document. Name another field with --id, or leave it out."
                    )
                yield one.source, piece
        except CorpusError as bad:
            if on_bad is None:
                raise
            on_bad(bad)
        if one.times and _times(one.path) != one.times:
            raise DataError(
                f"{one.path!r} changed while it was read, so that the corpus is of neither text: restore the file as "
                "it was, or remove what was written, and repeat the command."
            )
