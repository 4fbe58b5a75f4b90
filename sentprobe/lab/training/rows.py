"""The rows of a source: tables, treebanks, plain text, aligned files, and SentEval's files.

Everything is streamed: no reader holds more than a few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, get_args

from sentprobe.core.reader import (
    TableFormat,
    column_index,
    find_file,
    picker,
    read_aligned,
    read_csv,
    read_lines,
    read_tsv,
    table_columns,
    unknown_column,
    wrong_width,
)
from sentprobe.core.reader import read_rows as read_table_rows
from sentprobe.corpus.brackets import escape, parse_tree, read_brackets
from sentprobe.corpus.conllu import read_conllu
from sentprobe.corpus.files import stem
from sentprobe.data.layouts import LAYOUTS, scan
from sentprobe.data.tables import senteval_rows
from sentprobe.errors import CorpusError, DataError, UsageError
from sentprobe.lab.training.sources import (
    DOCUMENT,
    LABEL,
    NOT_TEXT,
    TEXT,
    TRAIN,
    TREE,
    DataPart,
    find_parts,
    has_header,
    name_of,
)
from sentprobe.sentence import Sentence

FLAG = "--columns"


class DataRow(NamedTuple):
    """One example as it was read."""

    values: tuple[str, ...]
    """Those of the fields, in their order."""
    path: str
    line: int
    """From 1; where sentences take several lines, the number of the sentence."""
    texts: tuple[str, ...] = ()
    """The sentences of the row, where these are not the values: the words of a tree."""


def text_places(fields: Sequence[str]) -> tuple[int, ...]:
    """Which of the fields are sentences."""
    return tuple(column for column, name in enumerate(fields) if name not in NOT_TEXT)


def read_rows(source: str, fields: Sequence[str], columns: Sequence[str] = (), role: str = TRAIN) -> Iterator[DataRow]:
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


def read_part(part: DataPart, fields: Sequence[str], columns: Sequence[str] = ()) -> Iterator[DataRow]:
    """The rows of one part of a source; there is at least one, or a DataError."""
    rows = _rows(part, fields, columns)
    first = next(rows, None)
    if first is None:
        what = f" of the split {part.split}" if part.split else ""
        raise DataError(f"{part} has no rows{what}; expected rows of {', '.join(fields)}.")
    yield first
    yield from rows


def part_files(part: DataPart) -> list[str]:
    """The files of a part."""
    if part.kind == "set":
        return transfer_set_files(part.name, part.paths[0], part.split)
    return list(part.paths)


def _rows(part: DataPart, fields: Sequence[str], columns: Sequence[str]) -> Iterator[DataRow]:
    if columns and part.kind not in get_args(TableFormat):
        raise UsageError(f"--columns {','.join(columns)}: {part} is not a table; leave --columns out.")
    match part.kind:
        case "tsv" | "csv" | "json" | "parquet":
            return read_table(part.kind, part.paths[0], fields, columns)
        case "senteval":
            return read_probing_set(part.paths[0], fields, part.split)
        case "conllu" | "brackets":
            return read_sentences(part.kind, part.paths[0], fields)
        case "lines":
            return read_text(part.paths[0], fields)
        case "set":
            return read_transfer_set(part.name, part.paths[0], fields, part.split)
    return read_aligned_files(part.paths, fields)


# Tables


def read_table(format: TableFormat, path: str, fields: Sequence[str], columns: Sequence[str]) -> Iterator[DataRow]:
    """The rows of a table; its columns are those typed, or else those with the names of the fields, or else in order.

    The first line of a TSV or CSV file is a header if it has the names of all columns that are needed.
    """
    if columns and len(columns) != len(fields):
        raise UsageError(
            f"{FLAG} {','.join(columns)}: expected {len(fields)} column{'s' * (len(fields) != 1)}, for "
            f"{', '.join(fields)}."
        )
    if format in ("tsv", "csv"):
        lines = read_csv(path) if format == "csv" else read_tsv(path, f"tab-separated columns: {', '.join(fields)}")
        rows = _delimited(path, lines, fields, columns)
    else:
        names = table_columns(path, format)
        if not names:
            return
        requested = [(FLAG, name) for name in columns or _recognised(path, names, fields)]
        rows = read_table_rows(path, requested, format=format)
    if TREE in fields:
        yield from _with_words(path, rows, fields.index(TREE))
    else:
        for number, cells in rows:
            yield DataRow(cells, path, number)


def _delimited(
    path: str, lines: Iterator[tuple[int, list[str]]], fields: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    first = next(lines, None)
    if first is None:
        return
    names = [cell.strip() for cell in first[1]]
    indices, header = _places(path, first[0], names, fields, columns)
    pick = picker(indices)
    width, needed = len(names), max(indices) + 1
    for number, cells in lines if header else chain([first], lines):
        if not needed <= len(cells) <= width:  # fewer than in the header are usual: MultiNLI's does not fit its lines
            expected = f"{width}, as in the first line" if len(cells) > width else f"at least {needed}"
            raise wrong_width(path, number, cells, f"{expected}, tab-separated: {', '.join(fields)}")
        yield number, pick(cells)


def _places(
    path: str, number: int, names: Sequence[str], fields: Sequence[str], columns: Sequence[str]
) -> tuple[list[int], bool]:
    """Where the columns are, and whether the first line is a header."""
    header = has_header(names, fields)
    if columns:
        header = header or any(not column.isdecimal() or column in names for column in columns)
        return [column_index(path, names if header else (), len(names), FLAG, column) for column in columns], header
    if header or sum(name_of(field, names) is not None for field in fields) > 1:  # one name may be a sentence
        return [names.index(name) for name in _recognised(path, names, fields)], True
    if len(names) < len(fields):
        raise wrong_width(path, number, names, f"{len(fields)}, tab-separated: {', '.join(fields)}")
    if len(names) > len(fields):
        raise UsageError(
            f"{path} has {len(names)} columns, and its first line does not name {', '.join(fields)}: say which columns "
            f"are meant, such as {FLAG} {','.join(map(str, range(1, len(fields) + 1)))}."
        )
    return list(range(len(fields))), False


def _recognised(path: str, names: Sequence[str], fields: Sequence[str]) -> list[str]:
    """The names that the fields have in a table."""
    recognised = [name_of(field, names) for field in fields]
    for field, name in zip(fields, recognised, strict=True):
        if name is None:
            raise unknown_column(path, names, FLAG, field)
    return [name for name in recognised if name is not None]


def _with_words(path: str, rows: Iterator[tuple[int, tuple[str, ...]]], column: int) -> Iterator[DataRow]:
    """Rows with a bracketed tree, and its words as their text."""
    for number, cells in rows:
        if not cells[column].strip():
            yield DataRow(cells, path, number)
            continue
        try:
            words = " ".join([word for _, word in parse_tree(cells[column]).leaves()])
        except DataError as error:
            raise CorpusError(path, number, f"no tree ({error})", "a bracketed tree") from None
        yield DataRow(cells, path, number, (words,))


# Treebanks and plain text


def read_sentences(kind: str, path: str, fields: Sequence[str]) -> Iterator[DataRow]:
    """A row for every sentence of a CoNLL-U file or a file of bracketed trees.

    The text of a CoNLL-U sentence is its text as written, that of a tree its words with spaces between them; where no
    document is named, the file is one.
    """
    _check(path, fields, (TEXT, DOCUMENT, TREE) if kind == "brackets" else (TEXT, DOCUMENT), kind)
    name = stem(path)
    brackets = kind == "brackets"
    values: dict[str, Callable[[Sentence], str]] = {
        TEXT: (lambda s: " ".join(s.forms)) if brackets else (lambda s: s.text),
        DOCUMENT: lambda s: s.doc or name,
        TREE: lambda s: "" if s.tree is None else s.tree.bracketed(escape),
    }
    take = [values[field] for field in fields]
    for number, sentence in enumerate((read_brackets if brackets else read_conllu)(path), 1):
        texts = (" ".join(sentence.forms), sentence.text) if brackets else ()
        yield DataRow(tuple([value(sentence) for value in take]), path, number, texts)


def read_text(path: str, fields: Sequence[str]) -> Iterator[DataRow]:
    """A row for every line that is not blank; a blank line ends a document."""
    _check(path, fields, (TEXT, DOCUMENT), "text")
    name, document, inside = stem(path), 1, False
    with_document = DOCUMENT in fields
    for number, line in read_lines(path):
        if text := line.strip():
            if with_document:
                inside = True
                yield DataRow(
                    tuple([text if field == TEXT else f"{name}-{document}" for field in fields]), path, number
                )
            else:
                yield DataRow((text,), path, number)
        elif inside:
            document, inside = document + 1, False


def _check(path: str, fields: Sequence[str], available: Sequence[str], kind: str) -> None:
    if missing := [field for field in fields if field not in available]:
        what = {"conllu": "a CoNLL-U file", "brackets": "a file of trees", "text": "plain text"}[kind]
        raise UsageError(f"{path} is {what}, which has no {missing[0]}; expected data with {', '.join(fields)}.")


# Aligned files, and SentEval's


def read_aligned_files(paths: Sequence[str], fields: Sequence[str]) -> Iterator[DataRow]:
    """A row for every line of aligned files, as parallel corpora and InferSent's data are published.

    A line that is empty on one side stays, since whoever reads rows counts these.
    """
    error_path = paths[fields.index(LABEL)] if LABEL in fields else paths[0]
    for number, values in read_aligned(paths):
        yield DataRow(tuple(map(str.strip, values)), error_path, number)


def read_probing_set(path: str, fields: Sequence[str], split: str) -> Iterator[DataRow]:
    """The rows of one split of lines ``tr|va|te<TAB>label<TAB>…<TAB>sentence``."""
    columns = [_place(path, field, {LABEL: 0, TEXT: 1}) for field in fields]
    for number, row_split, label, _, sentence in senteval_rows(path):
        if row_split == split:
            values = (label, sentence)
            yield DataRow(tuple([values[column] for column in columns]), path, number)


def read_transfer_set(name: str, folder: str, fields: Sequence[str], split: str) -> Iterator[DataRow]:
    """The rows of one split of a transfer set, or all of a set that has no splits."""
    layout = LAYOUTS[name]
    names = {"text1": 1, "text2": 2, LABEL: 0} if layout.inputs else {TEXT: 1, LABEL: 0}
    columns = [_place(f"{folder} ({name})", field, names) for field in fields]
    for _, path, row in scan(name, Path(folder), split=split):
        values = (row.label, row.text, *(value for _, value in row.extra))
        yield DataRow(tuple([values[column] for column in columns]), path, int(row.source))


def transfer_set_files(name: str, folder: str, split: str) -> list[str]:
    """The files of one split of a transfer set, or all of a set that has no splits."""
    names = [file for part in LAYOUTS[name].parts if split in ("", part.split) for file in part.files]
    return [str(find_file(Path(folder, file)) or Path(folder, file)) for file in names]


def _place(what: str, field: str, columns: dict[str, int]) -> int:
    if field not in columns:
        raise UsageError(f"{what} has no {field}; it has {', '.join(columns)}.")
    return columns[field]
