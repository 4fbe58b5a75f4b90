"""From cells to rows: which columns of a table hold what, and tables that are in memory: frames and lists.

A frame is anything that has columns by name: of pandas, polars, Arrow or Hugging Face's datasets, or a dict of lists.
None of these is imported. The rows are those that the same table has when it is read from a CSV file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.reader import Requested
from sentprobe.data.random_split import RandomSplit, is_random_split, parse_random_split, split_rows
from sentprobe.errors import CorpusError, DataError, UsageError
from sentprobe.tasks import SPLITS, Example

SPLIT_NAMES = {
    **dict.fromkeys(("tr", "train", "training"), "tr"),
    **dict.fromkeys(("va", "dev", "val", "valid", "validation", "trial"), "va"),
    **dict.fromkeys(("te", "test", "testing"), "te"),
}
"""Common names of the three splits."""
DEFAULT_SHARES = "80/10/10"
_FIRST_LINE = 2
"""The line of a file on which its first row is, after the header."""
_SHOWN_COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns hold the parts of a row: names in a header, keys of JSON objects, or numbers counted from 1.

    A second ``text`` makes it a set of sentence pairs; ``target`` is the form that splits must not share.
    """

    text: tuple[str, ...] = ("text",)
    label: str = "label"
    split: str | None = None
    target: str | None = None
    header: bool = True
    random: RandomSplit | None = None
    """How to split rows that have no split; its groups, without ``target``, are the target forms."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the texts after the first have in the rows."""
        return tuple(f"column{name}" if name.isdecimal() else name for name in self.text[1:])

    @property
    def has_targets(self) -> bool | None:
        """True if splits must not share a target form or a group; None if that is not said."""
        return bool(self.target or (self.random and self.random.group)) or None

    @property
    def manifest(self) -> dict[str, Any]:
        """What the manifest of a set with these columns says."""
        inputs: dict[str, Any] = {"inputs": list(self.inputs)} if self.inputs else {}
        return {**inputs, "split": self.random.record(keyed=not self.target)} if self.random else inputs

    @property
    def requested(self) -> list[tuple[str, str]]:
        """The columns to read, each with the option that names it: texts, label, split, target, group."""
        group = self.random.group if self.random else None
        single = (("--label", self.label), ("--split", self.split), ("--target", self.target), ("--group", group))
        return [*(("--text", name) for name in self.text), *((flag, name) for flag, name in single if name is not None)]


def parse_columns(
    text: tuple[str, ...] = (),
    label: str | None = None,
    split: str | None = None,
    target: str | None = None,
    no_header: bool = False,
    group: str | None = None,
    split_seed: int | None = None,
) -> Columns | None:
    """The columns of a table that the options name, if any, and how it is split if ``split`` names shares."""
    needs_table = {"--split": split, "--group": group, "--split-seed": split_seed is not None, "--target": target}
    if (unused := [option for option, value in needs_table.items() if value] + ["--no-header"] * no_header) and not (
        text and label
    ):
        raise UsageError(f"{unused[0]} is for tables: add --text and --label.")
    if bool(text) != bool(label):
        raise UsageError("A table needs both --text and --label.")
    random = parse_random_split(split, group, split_seed) if split and is_random_split(split) else None
    if random is None and (group or split_seed is not None):
        option = "--group" if group else "--split-seed"
        raise UsageError(f"{option} is for rows that are split here: add their shares, such as --split 80/10/10.")
    column = None if random else split
    return Columns(text, label, column, target, not no_header, random) if text and label else None


# From a label and a text to a row

RowsBySplit = dict[str, list[Example]]


class Interned(dict[str, str]):
    """Strings mapped to themselves, so that a word is one object however often it is read."""

    def __missing__(self, word: str) -> str:
        return self.setdefault(word, word)


@dataclass(frozen=True, slots=True)
class RowBuilder:
    """Makes rows of what the lines of a file hold."""

    path: str
    strings: Interned
    """Those of all files of the set."""
    inputs: Sequence[str] = ()
    """The names of the columns that follow the text: the second sentence of a pair."""

    def __call__(self, number: int, label: str, text: str, *further: str, key: str | None = None) -> Example:
        """The row at this line; a label is required. A text without words is kept, because an audit must see it."""
        if not (label := label.strip()):
            raise CorpusError(self.path, number, "an empty label", "a label")
        intern = self.strings.__getitem__
        extra = tuple(zip(self.inputs, further, strict=True)) if further else ()
        return Example(intern(label), tuple(map(intern, text.split())), text, f"{number}", key, extra=extra)


def empty_splits() -> RowsBySplit:
    """Three empty splits."""
    return {split: [] for split in SPLITS}


@dataclass(frozen=True)
class TableRows:
    """Collects the rows of one table, which may have several files, and splits them."""

    columns: Columns
    strings: Interned = field(default_factory=Interned)
    splits: RowsBySplit = field(default_factory=empty_splits)
    unsplit: list[tuple[Example, str]] = field(default_factory=list)
    """Rows to split by a hash, each with its group."""

    def add(self, path: str, numbered_cells: Iterable[tuple[int, Sequence[str]]], split: str = "") -> None:
        """Add rows by number; their cells are those that ``columns.requested`` names. ``path`` is for errors."""
        columns, n = self.columns, len(self.columns.text)
        build = RowBuilder(path, self.strings, columns.inputs)
        for number, cells in numbered_cells:
            label, *options = cells[n:]  # split, target and group, as far as they were requested
            group = options.pop() if columns.random and columns.random.group else ""
            if columns.split:
                split = _split(path, number, columns.split, options[0])
            target = options[-1] if columns.target else group
            row = build(number, label, *cells[:n], key=self.strings[target] if target else None)
            if columns.random:
                self.unsplit.append((row, group))
            else:
                self.splits[split].append(row)

    def by_split(self, path: str) -> RowsBySplit:
        """All rows by split; ``path`` names the table in errors."""
        if self.columns.random and self.unsplit:
            return split_rows(self.unsplit, self.columns.random, path)
        return self.splits


def _split(path: str, number: int, column: str, value: str) -> str:
    if split := SPLIT_NAMES.get(value.strip().lower()):
        return split
    got = f"{value[:20]!r} in the column {column}"
    raise CorpusError(path, number, got, f"the name of a split: {', '.join(SPLIT_NAMES)}")


# Tables in memory


def columns_in_memory(
    text: str | int | Sequence[str | int],
    label: str | int,
    split: str | int | None,
    group: str | int | None,
    split_seed: int | None,
) -> Columns:
    """The columns of a frame or of rows; without ``split``, rows are split by the default shares."""
    texts = (text,) if isinstance(text, str | int) else text
    typed = DEFAULT_SHARES if split is None else str(split)
    columns = parse_columns(
        tuple(map(str, texts)), str(label), typed, group=None if group is None else str(group), split_seed=split_seed
    )
    if columns is None:
        raise UsageError("A set needs the name of a column with texts and of one with labels.")
    return columns


def rows_in_memory(cells: Iterable[tuple[Sequence[str], int]], columns: Columns, name: str) -> RowsBySplit:
    """The rows of cells, by split; beside each, the number of line breaks in its row, for the lines of a CSV file."""
    table, n_rows = TableRows(columns), 0

    def numbered() -> Iterator[tuple[int, Sequence[str]]]:
        nonlocal n_rows
        line = _FIRST_LINE
        for row_cells, line_breaks in cells:
            n_rows += 1
            yield line, row_cells
            line += 1 + line_breaks

    try:
        table.add(name, numbered())
    except CorpusError as e:
        raise DataError(f"{name}: row {n_rows - 1} (the first is 0) has {e.got}; expected {e.expected}.") from None
    if not n_rows:
        raise DataError(f"{name} has no rows; expected labelled sentences.")
    return table.by_split(name)


def frame_cells(frame: Any, requested_columns: Requested) -> Iterator[tuple[tuple[str, ...], int]]:
    """The cells of the requested columns, and the line breaks in all, of each row of what has columns by name."""
    names = column_names(frame)
    requested = []
    for argument, name in requested_columns:
        matching = [column for column in names if str(column) == name]
        if len(matching) != 1:
            raise _not_one_column(argument, name, names, len(matching))
        requested.append([_cell_text(value, name) for value in _values(frame[matching[0]])])
    line_breaks = [0] * len(requested[0])
    for name in names:
        if names.count(name) == 1:
            for i, value in enumerate(_values(frame[name])):
                line_breaks[i] += _line_breaks(value)
    return zip(zip(*requested, strict=True), line_breaks, strict=True)


def list_cells(rows: Iterable[Any], requested_columns: Requested) -> Iterator[tuple[tuple[str, ...], int]]:
    """The same of rows that are dicts, or tuples in the order of the columns that are requested."""
    names = [name for _, name in requested_columns]
    for i, row in enumerate(rows):
        if isinstance(row, Mapping):
            if missing := [requested for requested in requested_columns if requested[1] not in row]:
                argument, name = missing[0]
                raise UsageError(f"Row {i} (the first is 0): {_not_one_column(argument, name, list(row), 0)}")
            values, requested = [*row.values()], [row[name] for name in names]
        elif isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(names):
            raise UsageError(
                f"Row {i} (the first is 0) is {row!r:.80}; expected a dict, or a tuple of {len(names)} values: "
                f"{', '.join(names)}."
            )
        else:
            values = requested = list(row)
        cells = tuple(_cell_text(value, name) for value, name in zip(requested, names, strict=True))
        yield cells, sum(map(_line_breaks, values))


def _line_breaks(value: Any) -> int:
    return value.count("\n") if isinstance(value, str) else 0


def column_names(frame: Any) -> list[Any]:
    """The names of the columns of a frame."""
    if isinstance(frame, Mapping):
        return list(frame)
    for attribute in ("column_names", "columns"):  # columns of Arrow are values
        if isinstance(names := getattr(frame, attribute, None), Iterable):
            return list(names)
    raise UsageError(
        f"Expected a frame with columns by name (pandas, polars, Arrow, a dict of lists), got {type(frame).__name__}. "
        "For a list of rows, use from_rows."
    )


def _not_one_column(argument: str, name: str, names: Sequence[Any], count: int) -> UsageError:
    argument = argument.strip("-")
    if count:
        return UsageError(f"{argument}={name!r}: {count} columns have this name; rename them.")
    listed = ", ".join(repr(column) for column in names[:_SHOWN_COLUMNS])
    unlisted = f" and {len(names) - _SHOWN_COLUMNS} more" if len(names) > _SHOWN_COLUMNS else ""
    hint = did_you_mean(name, map(str, names))
    return UsageError(f"{argument}={name!r}: there is no such column; expected one of {listed}{unlisted}.{hint}")


def _values(column: Any) -> Iterable[Any]:
    """The values of a column as Python objects."""
    for method in ("to_list", "to_pylist"):
        if hasattr(column, method):
            values: Iterable[Any] = getattr(column, method)()
            return values
    return list(column)


def _cell_text(value: Any, column: str) -> str:
    """A value as a table has it: missing values are empty, truth values as in JSON and Parquet."""
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict | set | bytes):
        raise DataError(f"The column {column!r} holds {type(value).__name__}, not strings or numbers: {value!r:.60}")
    try:
        missing = value is None or value != value  # NaN and NaT are not equal to themselves
        return "" if missing else str(value)
    except TypeError:  # nor is pandas.NA, which is not unequal either
        return ""
