"""The one reader of rows: lines and tables (TSV, CSV, JSON lines, Parquet), compressed or not, with line numbers.

Every file with rows goes through here: probing sets, training pairs, dictionaries, answers of annotators, raw text.
What a layout needs besides (which columns, which labels) is declared by its own module. An error always says file and
line, what is there, what was expected. Not text are bytes that are not UTF-8, a NUL, and a line of more than 64 MiB.
"""

from __future__ import annotations

import csv
import difflib
import lzma
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from sentprobe.core.files import COMPRESSED, encoding_error, open_bytes, open_seekable
from sentprobe.errors import CorpusError, DataError, UsageError

T = TypeVar("T")

OnBad = Callable[[CorpusError], None]
"""Called with what cannot be read and is skipped."""
Cells = tuple[str, ...]
Requested = Sequence[tuple[str, str]]
"""Columns, each with the option that names it."""
TableFormat = Literal["tsv", "csv", "json", "parquet"]
TABLE_SUFFIXES: dict[str, TableFormat] = {
    ".tsv": "tsv",
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
"""Formats of tables by suffix, without the compression suffix; a file with any other suffix is read as TSV."""
_SHOWN_COLUMNS = 12
_BATCH_ROWS = 256
"""Rows of a Parquet file that are decoded at a time: documents may be long."""


# files


def without_compression_suffix(path: str | Path) -> Path:
    """The path without a compression suffix."""
    file = Path(path)
    return file.with_suffix("") if file.suffix.lower() in COMPRESSED else file


def find_file(path: Path) -> Path | None:
    """The file itself, or else a compressed version of it, if there is one."""
    candidates = (path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def table_format(path: str) -> TableFormat:
    """The format that the suffix of a file says; JSON lines often have that of JSON."""
    suffix = without_compression_suffix(path).suffix.lower()
    return "json" if suffix == ".json" else TABLE_SUFFIXES.get(suffix, "tsv")


# lines


def read_lines(path: str, expected: str = "text", on_bad: OnBad | None = None) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line, without its end; CorpusError for one that is not text.

    With ``on_bad``, such lines are skipped and reported; ``expected`` says in the error what the lines should be.
    """
    number = 1
    for chunk in open_bytes(path):
        try:
            text = chunk.decode()
        except UnicodeDecodeError as error:
            if on_bad is None:
                raise encoding_error(path, number, error) from None
            lines = _decodable(path, number, chunk, on_bad)
        else:
            lines = enumerate(text.removesuffix("\n").split("\n"), number)
        if b"\0" in chunk:
            lines = _without_nul(path, lines, expected, on_bad)
        yield from lines
        number += chunk.count(b"\n")


def _decodable(path: str, first: int, chunk: bytes, on_bad: OnBad) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(chunk.removesuffix(b"\n").split(b"\n"), first):
        try:
            yield number, line.decode()
        except UnicodeDecodeError as error:
            on_bad(encoding_error(path, number, error))


def _without_nul(
    path: str, lines: Iterator[tuple[int, str]], expected: str, on_bad: OnBad | None
) -> Iterator[tuple[int, str]]:
    for number, line in lines:
        if "\0" not in line:
            yield number, line
            continue
        error = CorpusError(path, number, "a NUL byte", expected if expected == "text" else f"text: {expected}")
        if on_bad is None:
            raise error
        on_bad(error)


def read_first_line(path: Path | str) -> str:
    """The first line of a file, for guessing what it holds: undecodable bytes are replaced."""
    return next(open_bytes(str(path)), b"").partition(b"\n")[0].decode(errors="replace")


def read_all_lines(path: str, latin1_fallback: bool = False) -> list[str]:
    """All lines of a file; one that is not UTF-8 may be read as Latin-1, as a whole."""
    content = b"".join(open_bytes(path))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        if not latin1_fallback:
            raise encoding_error(path, 1, error) from None
        text = content.decode("latin-1")
    if "\0" in text:
        raise CorpusError(path, text.count("\n", 0, text.index("\0")) + 1, "a NUL byte", "text")
    # line feeds only: Latin-1 has a letter that is a line end
    return text.removesuffix("\n").split("\n") if text else []


def read_aligned(paths: Sequence[str]) -> Iterator[tuple[int, Cells]]:
    """Yield the number and the i-th line of every file; DataError if one has fewer lines than another."""
    rows = enumerate(zip_longest(*((line for _, line in read_lines(path)) for path in paths)), 1)
    for number, lines in rows:
        if None in lines:
            counts = [number - (line is None) for line in lines]
            for _, surplus in rows:
                counts = [n + (line is not None) for n, line in zip(counts, surplus, strict=True)]
            raise unequal_files(paths, counts)
        yield number, lines


def unequal_files(paths: Sequence[str], counts: Sequence[int]) -> DataError:
    """The error for aligned files that differ in their number of lines."""
    sizes = " and ".join(f"{path} has {n:,} line{'s' * (n != 1)}" for path, n in zip(paths, counts, strict=True))
    return DataError(f"{sizes}; expected as many in each, line i of one with line i of the other.")


# cells


def read_tsv(
    path: str, expected: str = "tab-separated columns", *, least: int = 0, most: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of every line that is not empty; ``expected`` goes into an error.

    ``least`` and ``most`` are how many cells a line may have.
    """
    for number, line in read_lines(path, expected):
        if line := line.rstrip("\r"):
            yield number, split_cells(path, number, line, expected, least=least, most=most)


def split_cells(
    path: str, number: int, line: str, expected: str = "", *, least: int = 0, most: int | None = None
) -> list[str]:
    """The cells of one tab-separated line, of which there must be at least ``least`` and at most ``most``."""
    cells = line.rstrip("\r").split("\t")
    if len(cells) < least or (most is not None and len(cells) > most):
        raise wrong_width(path, number, cells, expected)
    return cells


def wrong_width(path: str, number: int, cells: Sequence[str], expected: str) -> CorpusError:
    """The error for a line with too few or too many cells."""
    return CorpusError(path, number, f"{len(cells)} column{'s' * (len(cells) != 1)}", expected)


def read_csv(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line and the cells of every record that is not empty."""
    lines = (f"{line}\n" for _, line in read_lines(path, "comma-separated columns"))
    reader = csv.reader(lines, strict=True)
    first = 1  # a quoted cell may go over several lines
    try:
        for cells in reader:
            if cells:
                yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        expected = "comma-separated values, quotes inside quotes doubled; a file with tabs and bare quotes is a .tsv"
        raise CorpusError(path, first, f"malformed CSV ({error})", expected) from None


def read_json(path: str, type: type[T], on_bad: OnBad | None = None) -> Iterator[tuple[int, dict[str, T]]]:
    """Yield the line number and the object of every line of JSON lines that is not blank.

    With the type ``msgspec.Raw`` a value stays as it is written: 1.0 is not 1.
    """
    decode = msgspec.json.Decoder(dict[str, type]).decode  # type: ignore[valid-type]
    for number, line in read_lines(path, "one JSON object per line", on_bad):
        if not line or line.isspace():
            continue
        try:
            record = decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            bad = malformed_json(path, number, line, error)
            if on_bad is None:
                raise bad from None
            on_bad(bad)
            continue
        yield number, record


def malformed_json(path: str, number: int, line: str, error: Exception) -> CorpusError:
    """The error for a line that is not a JSON object, or not one of plain values."""
    return CorpusError(path, number, f"malformed JSON ({error}): {line[:20]!r}", "one JSON object per line")


def read_parquet(path: str, columns: Sequence[str]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the number and the values of these columns for every row of a Parquet file."""
    number = 0
    with ExitStack() as stack:
        file = _parquet_file(path, stack)
        try:
            for batch in file.iter_batches(_BATCH_ROWS, columns=list(dict.fromkeys(columns))):
                values = {name: batch.column(name).to_pylist() for name in dict.fromkeys(columns)}
                for cells in zip(*(values[name] for name in columns), strict=True):
                    number += 1
                    yield number, cells
        except _parquet_errors() as error:
            raise _damaged_parquet(path, number + 1, error) from None


def parquet_schema(path: str) -> tuple[list[str], list[Any]]:
    """The names and types of the columns of a Parquet file; those of dictionaries are of their values."""
    with ExitStack() as stack:
        schema = _parquet_file(path, stack).schema_arrow
        import pyarrow as pa

        types = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in schema.types]
        return list(schema.names), types


def _parquet_file(path: str, stack: ExitStack) -> Any:
    import pyarrow.parquet as pq

    try:
        return stack.enter_context(pq.ParquetFile(_parquet_source(path, stack)))
    except FileNotFoundError:
        next(open_bytes(path), None)  # raises an error that suggests the nearest name
        raise
    except _parquet_errors() as error:
        raise _damaged_parquet(path, 1, error) from None


def _parquet_source(path: str, stack: ExitStack) -> Any:
    """A compressed Parquet file cannot be read in parts: it is unpacked into memory."""
    import pyarrow as pa

    match Path(path).suffix.lower():
        case ".xz":
            with lzma.open(path) as packed:
                return pa.BufferReader(packed.read())
        case ".gz" | ".bz2" | ".zst":
            with pa.input_stream(path, compression="detect") as packed:
                return pa.BufferReader(packed.read())
    return open_seekable(path, stack)


def _parquet_errors() -> tuple[type[Exception], ...]:
    """What reading a damaged file may raise."""
    import pyarrow as pa

    return pa.ArrowException, OSError, EOFError, ValueError, OverflowError, MemoryError, lzma.LZMAError


def _damaged_parquet(path: str, row: int, error: Exception) -> CorpusError:
    reason = str(error).partition("\n")[0].rstrip(".")
    got = f"what cannot be read as Parquet ({reason})"
    return CorpusError(path, row, got, "a complete file; download it again", ends_file=True)


# tables: requested columns of any format


def read_rows(
    path: str, requested: Requested, header: bool = True, format: TableFormat | None = None
) -> Iterator[tuple[int, Cells]]:
    """Yield the line number and the cells of the requested columns; the suffix of the file says its format.

    Columns are names in a header, keys of JSON objects, or numbers counted from 1. Without ``header``, the first line
    of a TSV or CSV file is a row.
    """
    match format or table_format(path):
        case "json":
            return _json_cells(path, requested)
        case "parquet":
            return _parquet_cells(path, requested)
        case "csv":
            return pick_columns(path, read_csv(path), requested, header)
        case _:
            return pick_columns(path, read_tsv(path), requested, header)


def pick_columns(
    path: str, rows: Iterator[tuple[int, list[str]]], requested: Requested, header: bool = True
) -> Iterator[tuple[int, Cells]]:
    """The requested cells of delimited rows, all of which must be as long as the first."""
    for start, first in rows:
        names = [cell.strip() for cell in first] if header else []
        pick = picker([column_index(path, names, len(first), flag, name) for flag, name in requested])
        if not header:
            yield start, pick(first)
        for number, cells in rows:
            if len(cells) != len(first):
                raise wrong_width(path, number, cells, f"{len(first)}, as in the first line")
            yield number, pick(cells)


def picker(indices: Sequence[int]) -> Callable[[Sequence[str]], Cells]:
    """A function that takes these cells of a row, always as a tuple."""
    if len(indices) > 1:
        return itemgetter(*indices)
    index = indices[0]
    return lambda cells: (cells[index],)


def table_columns(path: str, format: TableFormat) -> list[str]:
    """The names of the columns of a Parquet file, or the keys of the first object of JSON lines."""
    if format == "parquet":
        return parquet_schema(path)[0]
    return next((list(record) for _, record in read_json(path, msgspec.Raw)), [])


def sample_table(path: str, n: int) -> tuple[list[str], list[Cells]]:
    """The names of the columns of a table that hold strings or numbers, and its first rows; broken ones are left out.

    A TSV or CSV file is taken to have a header.
    """
    match table_format(path):
        case "parquet":
            names, types = parquet_schema(path)
            plain = [name for name, kind in zip(names, types, strict=True) if is_plain_type(kind)]
            values = islice(read_parquet(path, plain), n) if plain else ()
            return plain, [tuple(map(_from_arrow, row)) for _, row in values]
        case "json":
            records = [record for _, record in islice(read_json(path, msgspec.Raw), n)]
            keys = [key for key in (records[0] if records else ()) if all(_is_plain(r.get(key)) for r in records)]
            return keys, [tuple(_from_json(record[key]) for key in keys) for record in records]
        case format:
            lines = (cells for _, cells in (read_csv(path) if format == "csv" else read_tsv(path)))
            header = [cell.strip() for cell in next(lines, [])]
            return header, [tuple(cells) for cells in islice(lines, n) if len(cells) == len(header)]


def _is_plain(value: msgspec.Raw | None) -> bool:
    return value is not None and bytes(value)[:1] not in b"[{"


def column_index(path: str, names: Sequence[str], width: int, flag: str, name: str) -> int:
    """The position of a column, by its name or else by its number; UsageError if there is none."""
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
    listed = ", ".join(repr(n if len(n) <= 30 else f"{n[:30]}…") for n in names[:_SHOWN_COLUMNS]) or "none"
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f" Did you mean {near[0]!r}?"
    elif len(names) == 1 and "\t" in names[0]:
        hint = " Its columns are tab-separated: rename it to .tsv."
    elif flag == "--columns":
        hint = " Name the columns with --columns, by name, or by number if its first line is not a header."
    elif table_format(path) in ("tsv", "csv"):
        hint = " If its first line is not a header, use --no-header and give column numbers."
    else:
        hint = ""
    return UsageError(
        f"{path} has no column {name!r} ({flag}); it has {listed}{', …' if len(names) > _SHOWN_COLUMNS else ''}.{hint}"
    )


def _json_cells(path: str, requested: Requested) -> Iterator[tuple[int, Cells]]:
    for number, record in read_json(path, msgspec.Raw):
        cells = []
        for flag, name in requested:
            if name not in record:
                raise unknown_column(f"{path}:{number}", list(record), flag, name)
            try:
                cells.append(_from_json(record[name]))
            except (msgspec.DecodeError, UnicodeError) as error:
                raise malformed_json(path, number, name, error) from None
        yield number, tuple(cells)


def _from_json(value: msgspec.Raw) -> str:
    written = bytes(value)
    if written[:1] == b'"':
        return msgspec.json.decode(written, type=str)
    if written[:1] in b"[{":
        raise msgspec.DecodeError("a list or an object where a string or number was expected")
    return "" if written == b"null" else written.decode()


def _parquet_cells(path: str, requested: Requested) -> Iterator[tuple[int, Cells]]:
    names, types = parquet_schema(path)
    indices = [column_index(path, names, len(names), flag, name) for flag, name in requested]
    for index in indices:
        if not is_plain_type(types[index]):
            raise DataError(f"{path}: the column {names[index]!r} holds {types[index]}, not strings or numbers.")
    for number, values in read_parquet(path, [names[index] for index in indices]):
        yield number, tuple([_from_arrow(value) for value in values])


def is_text_type(kind: Any) -> bool:
    """Whether a column of Arrow holds strings."""
    import pyarrow as pa

    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def is_plain_type(kind: Any) -> bool:
    """Whether a column of Arrow holds strings, numbers, truth values or nothing."""
    import pyarrow as pa

    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
    return is_text_type(kind) or any(test(kind) for test in tests)


def _from_arrow(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or value != value else str(value)  # NaN is not equal to itself
