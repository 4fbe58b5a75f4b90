"""Both spaces in the common one, as files that ``vec:`` and other programs read: word2vec's text or binary format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sentprobe.core.files import write_parts_atomically
from sentprobe.errors import DataError
from sentprobe.lab.alignment.folder import AlignmentFolder
from sentprobe.lab.alignment.maps import SideMap
from sentprobe.lab.alignment.method import Reporter, note
from sentprobe.lab.alignment.request import AlignmentRequest
from sentprobe.lab.alignment.space import Block, Matrix, read_blocks

SUFFIXES = {"text": ".vec", "binary": ".bin"}
DIGITS = 7
"""Significant digits of numbers in text."""


def export_files(folder: Path, export: str) -> tuple[Path, ...]:
    """The files of an export: source, target; none for ``none``."""
    if export not in SUFFIXES:
        return ()
    return folder / f"source{SUFFIXES[export]}", folder / f"target{SUFFIXES[export]}"


def write_exports(folder: AlignmentFolder, export: str, report: Reporter) -> None:
    """Write all words of both spaces, not only those that were used, mapped to the common space; once."""
    files = export_files(folder.path, export)
    if all(file.is_file() for file in files):
        return
    word_map = folder.map()
    for name, side, file in zip(("source", "target"), (word_map.source, word_map.target), files, strict=True):
        report(note(f"writing {file}"))
        write_mapped(folder.path_of(name), side, file, binary=export == "binary")


def check_exportable(request: AlignmentRequest) -> None:
    """Read all words of both spaces before anything is computed, if all are to be exported: a damaged vector far down
    would otherwise be found in the end. What is read is cached."""
    if request.export != "none":
        for path in (request.source, request.target):
            read_blocks(path)


def write_mapped(space: Path, side: SideMap, file: Path, *, binary: bool) -> None:
    """Write a space in the common one, block by block."""
    count, dim, blocks = read_blocks(str(space))
    wide = dim if side.matrix is None else side.matrix.shape[1]
    lines = _binary_lines if binary else _text_lines

    def parts() -> Iterator[bytes]:
        yield f"{count} {wide}\n".encode()
        for block in blocks:
            yield lines(Block(block.words, side.apply(block.vectors)), file)

    write_parts_atomically(file, parts())


def _text_lines(block: Block, file: Path) -> bytes:
    form = f"%.{DIGITS}g " * (block.vectors.shape[1] - 1) + f"%.{DIGITS}g\n"
    lines = [f"{word} {form % tuple(row)}" for word, row in zip(block.words, _float_lists(block.vectors), strict=True)]
    return "".join(lines).encode(errors="backslashreplace")


def _binary_lines(block: Block, file: Path) -> bytes:
    if wrong := next((word for word in block.words if " " in word), None):
        raise DataError(f"{file}: the word {wrong!r} has a space, which ends words there; use --export text.")
    rows = np.ascontiguousarray(block.vectors, "<f4")
    words = (word.encode(errors="backslashreplace") for word in block.words)
    return b"".join(b"%s %s\n" % (word, row.tobytes()) for word, row in zip(words, rows, strict=True))


def _float_lists(rows: Matrix) -> list[list[float]]:
    lists: list[list[float]] = rows.tolist()
    return lists
