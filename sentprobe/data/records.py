"""The requested columns of a table, row by row: TSV, CSV, JSON lines or Parquet, compressed or not."""

from __future__ import annotations

import csv
import difflib
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from sentprobe.core.files import open_text
from sentprobe.data.file_names import TABLE_SUFFIXES, without_compression_suffix
from sentprobe.data.random_split import RandomSplit
from sentprobe.errors import CorpusError, DataError, UsageError

_SHOWN_COLUMNS = 12


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
    def requested(self) -> list[tuple[str, str]]:
        """The columns to read, each with the option that names it: texts, label, split, target, group."""
        group = self.random.group if self.random else None
        rest = (("--label", self.label), ("--split", self.split), ("--target", self.target), ("--group", group))
        return [*(("--text", name) for name in self.text), *((flag, name) for flag, name in rest if name is not None)]


Requested = Sequence[tuple[str, str]]
"""Columns, each with the option that names it."""


def records(path: str, columns: Columns) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line number and the cells of the requested columns."""
    suffix = without_compression_suffix(path).suffix.lower()
    match "json" if suffix == ".json" else TABLE_SUFFIXES.get(suffix):  # JSON lines often have that suffix
        case "json":
            return json_records(path, columns.requested)
        case "parquet":
            return parquet_records(path, columns.requested)
        case "csv":
            return _picked(path, csv_lines(path), columns)
    return _picked(path, tsv_lines(path, "tab-separated columns"), columns)


def _picked(
    path: str, records: Iterator[tuple[int, list[str]]], columns: Columns
) -> Iterator[tuple[int, tuple[str, ...]]]:
    for start, first in records:
        names = [cell.strip() for cell in first] if columns.header else []
        pick = itemgetter(*(column_place(path, names, len(first), flag, name) for flag, name in columns.requested))
        if not columns.header:
            yield start, pick(first)
        for number, cells in records:
            if len(cells) != len(first):
                raise CorpusError(path, number, f"{len(cells)} columns", f"{len(first)}, as in the first line")
            yield number, pick(cells)


def column_place(path: str, names: Sequence[str], width: int, flag: str, name: str) -> int:
    """The position of a column, by its name or else by its number."""
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        raise UsageError(f"{path} has {names.count(name)} columns called {name!r}; give {flag} the number of one.")
    if name.isdecimal() and len(name) < 6 and 1 <= int(name) <= width:
        return int(name) - 1
    if names:
        raise unknown_column(path, names, flag, name)
    raise UsageError(f"{path} has no column {flag} {name}: without a header a column is a number from 1 to {width}.")


def unknown_column(path: str, names: Sequence[str], flag: str, name: str) -> UsageError:
    """The error for a column that a file does not have; ``flag`` is the option that names it."""
    shown = ", ".join(repr(n if len(n) <= 30 else f"{n[:30]}…") for n in names[:_SHOWN_COLUMNS]) or "none"
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f" Did you mean {near[0]!r}?"
    elif len(names) == 1 and "\t" in names[0]:
        hint = " Its columns are tab-separated: rename it to .tsv."
    elif flag == "--columns":
        hint = " Name the columns with --columns, by name, or by number if its first line is not a header."
    else:
        hint = " If its first line is not a header, use --no-header and give column numbers."
    return UsageError(
        f"{path} has no column {name!r} ({flag}); it has {shown}{', …' if len(names) > _SHOWN_COLUMNS else ''}.{hint}"
    )


def _lines(path: str, expected: str) -> Iterator[str]:
    for number, line in enumerate(open_text(path), 1):
        if "\0" in line:
            raise CorpusError(path, number, "a NUL byte", f"text: {expected}")
        yield line


def tsv_lines(path: str, expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of every line that is not empty; ``expected`` goes into an error."""
    for number, line in enumerate(_lines(path, expected), 1):
        if line := line.rstrip("\r\n"):
            yield number, line.split("\t")


def csv_lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line and the cells of every record that is not empty."""
    reader = csv.reader(_lines(path, "comma-separated columns"), strict=True)
    first = 1  # a quoted cell may go over several lines
    try:
        for cells in reader:
            if cells:
                yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        expected = "comma-separated values, quotes inside quotes doubled; a file with tabs and bare quotes is a .tsv"
        raise CorpusError(path, first, f"malformed CSV ({error})", expected) from None


def json_records(path: str, requested: Requested) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the line number and these values of every object of a file of JSON lines."""
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode  # raw, so that a number stays as it is written
    for number, line in enumerate(open_text(path), 1):
        if line.isspace():
            continue
        try:
            record = decode(line)
            for flag, name in requested:
                if name not in record:
                    raise unknown_column(f"{path}:{number}", list(record), flag, name)
            cells = tuple(_from_json(record[name]) for _, name in requested)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise CorpusError(path, number, f"{line[:20]!r} ({error})", "one JSON object per line") from None
        yield number, cells


def _from_json(value: msgspec.Raw) -> str:
    written = bytes(value)
    if written[:1] == b'"':
        return msgspec.json.decode(written, type=str)
    if written[:1] in b"[{":
        raise msgspec.DecodeError("a list or an object where a string or number was expected")
    return "" if written == b"null" else written.decode()


def parquet_columns(path: str) -> list[str]:
    """The names of the columns of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(_unpacked(path)) as file:
            return list(file.schema_arrow.names)
    except (pa.ArrowException, OSError, EOFError, ValueError, OverflowError, MemoryError, lzma.LZMAError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {str(error).partition(chr(10))[0]}.") from None


def json_keys(path: str) -> list[str]:
    """The keys of the first object of a file of JSON lines; none if it is empty."""
    for number, line in enumerate(open_text(path), 1):
        if not line.isspace():
            try:
                return list(msgspec.json.decode(line, type=dict[str, msgspec.Raw]))
            except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                raise CorpusError(path, number, f"{line[:20]!r} ({error})", "one JSON object per line") from None
    return []


def parquet_records(path: str, requested: Requested) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the number and these cells of every row of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(_unpacked(path)) as file:
            names, kinds = file.schema_arrow.names, file.schema_arrow.types
            places = [column_place(path, names, len(names), flag, name) for flag, name in requested]
            for place in places:
                if not _is_plain(pa, kinds[place]):
                    raise DataError(
                        f"{path}: the column {names[place]!r} holds {kinds[place]}, not strings or numbers."
                    )
            needed = list(dict.fromkeys(names[place] for place in places))
            for batch in file.iter_batches(1 << 13, columns=needed):
                read = {name: [_from_arrow(v) for v in batch.column(name).to_pylist()] for name in needed}
                for cells in zip(*(read[names[place]] for place in places), strict=True):
                    number += 1
                    yield number, cells
    except FileNotFoundError:
        raise DataError(f"there is no file {path!r}") from None
    except (pa.ArrowException, OSError, EOFError, ValueError, OverflowError, MemoryError, lzma.LZMAError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path} cannot be read as Parquet after row {number}: {reason}. Download it again.") from None


def _unpacked(path: str) -> Any:
    """A compressed Parquet file cannot be read in parts: it is unpacked into memory."""
    import pyarrow as pa

    match Path(path).suffix.lower():
        case ".xz":
            with lzma.open(path) as packed:
                return pa.BufferReader(packed.read())
        case ".gz" | ".bz2" | ".zst":
            with pa.input_stream(path, compression="detect") as packed:
                return pa.BufferReader(packed.read())
    return path


def _is_plain(pa: Any, kind: Any) -> bool:
    types = pa.types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_string, types.is_large_string, types.is_string_view, types.is_integer, types.is_floating)
    return any(test(kind) for test in (*tests, types.is_boolean, types.is_null))


def _from_arrow(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or value != value else str(value)  # NaN is not equal to itself
