"""The rows of a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sentprobe.errors import DataError, UsageError
from sentprobe.training.reading.aligned import read_aligned
from sentprobe.training.reading.find import TRAIN, find_parts
from sentprobe.training.reading.part import Part, Row
from sentprobe.training.reading.sentences import read_lines, read_sentences
from sentprobe.training.reading.sets import read_probing_set, read_transfer_set, transfer_set_files
from sentprobe.training.reading.tables import TABLES, read_table


def read_rows(source: str, fields: Sequence[str], columns: Sequence[str] = (), role: str = TRAIN) -> Iterator[Row]:
    """The rows of a source, with the values of these fields.

    Parameters
    ----------
    source : str
        A file, a folder, a glob, or aligned files with commas between them.
    fields : sequence of str
        What the objective needs, such as ``("text1", "text2", "label")``.
    columns : sequence of str
        The columns of a table, in the order of the fields, by name or number from 1.
    role : str
        ``train`` or ``dev``: which part of a source that has both.
    """
    for part in find_parts(source, fields, role, columns):
        yield from read_part(part, fields, columns)


def read_part(part: Part, fields: Sequence[str], columns: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of one part of a source; there is at least one, or a DataError."""
    rows = _rows(part, fields, columns)
    first = next(rows, None)
    if first is None:
        what = f" of the split {part.split}" if part.split else ""
        raise DataError(f"{part} has no rows{what}; expected rows of {', '.join(fields)}.")
    yield first
    yield from rows


def part_files(part: Part) -> list[str]:
    """The files of a part."""
    if part.kind == "set":
        return transfer_set_files(part.name, part.paths[0], part.split)
    return list(part.paths)


def _rows(part: Part, fields: Sequence[str], columns: Sequence[str]) -> Iterator[Row]:
    if part.kind in TABLES:
        return read_table(part.kind, part.paths[0], fields, columns)
    if columns:
        raise UsageError(f"--columns {','.join(columns)}: {part} is not a table; leave --columns out.")
    match part.kind:
        case "senteval":
            return read_probing_set(part.paths[0], fields, part.split)
        case "conllu" | "brackets":
            return read_sentences(part.kind, part.paths[0], fields)
        case "lines":
            return read_lines(part.paths[0], fields)
        case "set":
            return read_transfer_set(part.name, part.paths[0], fields, part.split)
    return read_aligned(part.paths, fields)
