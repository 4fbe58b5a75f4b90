"""Rows from tables: TSV, CSV, JSON lines and Parquet, with the columns named, numbered or recognised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter

from sentprobe.corpus.brackets import parse_tree
from sentprobe.data.records import (
    column_place,
    csv_lines,
    json_keys,
    json_records,
    parquet_columns,
    parquet_records,
    tsv_lines,
    unknown_column,
)
from sentprobe.errors import CorpusError, DataError, UsageError
from sentprobe.training.reading.part import TREE, Row

TABLES = ("tsv", "csv", "json", "parquet")
ALIASES = {
    "text": ("sentence",),
    "text1": ("sentence1", "premise"),
    "text2": ("sentence2", "hypothesis", "hypo"),
    "label": ("gold_label",),
    "document": ("doc",),
}
"""Other names of columns: those of SNLI, MultiNLI, XNLI, GLUE and their copies."""
FLAG = "--columns"


def read_table(kind: str, path: str, fields: Sequence[str], columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a table; its columns are those typed, or else those with the names of the fields, or else in order.

    The first line of a TSV or CSV file is a header if it has the names of all columns that are needed.
    """
    if columns and len(columns) != len(fields):
        raise UsageError(
            f"{FLAG} {','.join(columns)}: expected {len(fields)} column{'s' * (len(fields) != 1)}, for "
            f"{', '.join(fields)}."
        )
    if kind in ("tsv", "csv"):
        lines = csv_lines(path) if kind == "csv" else tsv_lines(path, f"tab-separated columns: {', '.join(fields)}")
        rows = _delimited(path, lines, fields, columns)
    else:
        names = json_keys(path) if kind == "json" else parquet_columns(path)
        if not names:
            return
        requested = [(FLAG, name) for name in columns or _recognised(path, names, fields)]
        rows = json_records(path, requested) if kind == "json" else parquet_records(path, requested)
    if TREE in fields:
        yield from _with_words(path, rows, fields.index(TREE))
    else:
        for number, cells in rows:
            yield Row(cells, path, number)


def has_header(cells: Sequence[str], fields: Sequence[str]) -> bool:
    """Whether cells are the names of columns, among them all fields."""
    return all(_name_of(field, cells) for field in fields)


def _delimited(
    path: str, lines: Iterator[tuple[int, list[str]]], fields: Sequence[str], columns: Sequence[str]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    first = next(lines, None)
    if first is None:
        return
    names = [cell.strip() for cell in first[1]]
    places, header = _places(path, first[0], names, fields, columns)
    one = itemgetter(places[0])
    pick = itemgetter(*places) if len(places) > 1 else lambda cells: (one(cells),)
    width, needed = len(names), max(places) + 1
    for number, cells in lines if header else chain([first], lines):
        if not needed <= len(cells) <= width:  # fewer than in the header are usual: MultiNLI's does not fit its lines
            shown = f"{len(cells)} column{'s' * (len(cells) != 1)}"
            expected = f"{width}, as in the first line" if len(cells) > width else f"at least {needed}"
            raise CorpusError(path, number, shown, f"{expected}, tab-separated: {', '.join(fields)}")
        yield number, pick(cells)


def _places(
    path: str, number: int, names: Sequence[str], fields: Sequence[str], columns: Sequence[str]
) -> tuple[list[int], bool]:
    """Where the columns are, and whether the first line is a header."""
    header = has_header(names, fields)
    if columns:
        header = header or any(not column.isdecimal() or column in names for column in columns)
        return [column_place(path, names if header else (), len(names), FLAG, column) for column in columns], header
    if header or sum(_name_of(field, names) is not None for field in fields) > 1:  # one name may be a sentence
        return [names.index(name) for name in _recognised(path, names, fields)], True
    if len(names) < len(fields):
        got = f"{len(names)} column{'s' * (len(names) != 1)}"
        raise CorpusError(path, number, got, f"{len(fields)}, tab-separated: {', '.join(fields)}")
    if len(names) > len(fields):
        raise UsageError(
            f"{path} has {len(names)} columns, and its first line does not name {', '.join(fields)}: say which columns "
            f"are meant, such as {FLAG} {','.join(map(str, range(1, len(fields) + 1)))}."
        )
    return list(range(len(fields))), False


def _recognised(path: str, names: Sequence[str], fields: Sequence[str]) -> list[str]:
    """The names that the fields have in a table."""
    found = [_name_of(field, names) for field in fields]
    for field, name in zip(fields, found, strict=True):
        if name is None:
            raise unknown_column(path, names, FLAG, field)
    return [name for name in found if name is not None]


def _name_of(field: str, names: Sequence[str]) -> str | None:
    return next((name for name in (field, *ALIASES.get(field, ())) if name in names), None)


def _with_words(path: str, rows: Iterator[tuple[int, tuple[str, ...]]], place: int) -> Iterator[Row]:
    """Rows with a bracketed tree, and its words as their text."""
    for number, cells in rows:
        if not cells[place].strip():
            yield Row(cells, path, number)
            continue
        try:
            words = " ".join([word for _, word in parse_tree(cells[place]).leaves()])
        except DataError as error:
            raise CorpusError(path, number, f"no tree ({error})", "a bracketed tree") from None
        yield Row(cells, path, number, (words,))
