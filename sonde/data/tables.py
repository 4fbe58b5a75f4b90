"""Sets that others wrote: SentEval's files, X-Probe's folders, and tables with columns of any name."""

from __future__ import annotations

import csv
import difflib
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from sonde.core.files import COMPRESSED, open_text
from sonde.corpus.files import stem
from sonde.data.dataset import Dataset, check_against_manifest
from sonde.errors import CorpusError, DataError, UsageError
from sonde.task import SPLITS, Example

TABLE_SUFFIXES = {".tsv": "tsv", ".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".parquet": "parquet"}
"""What a table holds, by its suffix before that of the compression; a file with any other is read as TSV."""
SPLIT_NAMES = {
    **dict.fromkeys(("tr", "train", "training"), "tr"),
    **dict.fromkeys(("va", "dev", "val", "valid", "validation", "trial"), "va"),
    **dict.fromkeys(("te", "test", "testing"), "te"),
}
"""How others call the three splits."""
_SPLIT_WORD = re.compile(
    rf"(?:^|(?<=[\W_]))({'|'.join(w for w in SPLIT_NAMES if len(w) > 2)})(?=$|[\W_])", re.IGNORECASE
)
_SHARD = re.compile(r"\d+-of-\d+")
_SHOWN_COLUMNS = 12

Cells = tuple[str, ...]
Rows = dict[str, list[Example]]


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the parts of a row stand: names of a header, keys of JSON objects, or numbers that count from 1.

    A second ``text`` makes the set one of sentence pairs; ``target`` is the form that splits must not share.
    """

    text: tuple[str, ...] = ("text",)
    label: str = "label"
    split: str | None = None
    target: str | None = None
    header: bool = True

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the texts after the first are called in the rows."""
        return tuple(f"column{name}" if name.isdecimal() else name for name in self.text[1:])

    @property
    def requested(self) -> list[tuple[str, str]]:
        """The columns to be read, each with the flag that names it: texts, label, split, target."""
        rest = (("--label", self.label), ("--split", self.split), ("--target", self.target))
        return [*(("--text", name) for name in self.text), *((flag, name) for flag, name in rest if name is not None)]


class Interned(dict[str, str]):
    """Strings by themselves: a word is one object, however often it is read."""

    def __missing__(self, word: str) -> str:
        return self.setdefault(word, word)


def read_senteval(path: str | Path) -> Dataset:
    """Read ``tr|va|te<TAB>label<TAB>[further columns]<TAB>sentence`` lines, compressed or not."""
    path, rows, known = str(path), empty_splits(), Interned()
    check_against_manifest(Path(path))
    for number, cells in _tsv(path, "partition, label and sentence"):
        if len(cells) < 3:
            raise CorpusError(path, number, f"{len(cells)} columns", "partition, label and sentence, set off by tabs")
        split, label, *more, sentence = cells
        if split not in rows:
            raise CorpusError(path, number, f"the partition {split[:20]!r}", "tr, va or te in the first column")
        extra = tuple((f"column{i}", value) for i, value in enumerate(more, 3))
        rows[split].append(example(path, number, label, sentence, known, extra=extra))
    return build_dataset(stem(path), rows, path)


def read_xprobe(folder: str | Path) -> Dataset:
    """Read ``sentence<TAB>label`` lines of the files tr.txt, va.txt and te.txt, any of them absent or compressed."""
    return read_parts(xprobe_parts(Path(folder)), Path(folder).resolve().name, str(folder))


def xprobe_parts(folder: Path) -> list[str]:
    """The files of an X-Probe folder that are there."""
    return [str(path) for split in SPLITS if (path := find_file(folder / f"{split}.txt"))]


def read_parts(paths: Iterable[str], name: str, place: str) -> Dataset:
    """Read some of the three files of an X-Probe folder; the first two letters of their names are the split."""
    rows, known = empty_splits(), Interned()
    for path in paths:
        split = rows[Path(path).name[:2]]
        for number, cells in _tsv(path, "sentence and label"):
            if len(cells) != 2:
                raise CorpusError(path, number, f"{len(cells)} columns", "sentence and label, set off by a tab")
            split.append(example(path, number, cells[1], cells[0], known))
    return build_dataset(name, rows, place)


def read_table(paths: str | Path | Sequence[str | Path], columns: Columns, name: str | None = None) -> Dataset:
    """Read the files of one set: TSV, CSV, JSON lines or Parquet by suffix, compressed or not.

    Without a column that tells the split the names of the files do; a single file that tells nothing is test rows.
    """
    files = [str(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    if not files or not columns.text:
        raise UsageError("A table to be read needs at least one file and one column with the text (--text).")
    rows, known, n, inputs = empty_splits(), Interned(), len(columns.text), columns.inputs
    for path in files:
        split = "" if columns.split else split_of(path) or only_file_split(path, files)
        for number, cells in records(path, columns):
            label, *rest = cells[n:]
            if columns.split:
                split = _split(path, number, columns.split, rest[0])
            key = known[rest[-1]] if columns.target and rest[-1] else None
            extra = tuple(zip(inputs, cells[1:n], strict=True))
            rows[split].append(example(path, number, label, cells[0], known, key, extra))
    return build_dataset(name or table_name(files), rows, files[0], inputs)


# the rows of any reader


def empty_splits() -> Rows:
    """Three empty splits."""
    return {split: [] for split in SPLITS}


def example(
    path: str,
    number: int,
    label: str,
    text: str,
    known: Interned,
    key: str | None = None,
    extra: tuple[tuple[str, str], ...] = (),
) -> Example:
    """One row. A text without words has no tokens and is kept, because an audit must see it; a label is needed."""
    if not (label := label.strip()):
        raise CorpusError(path, number, "an empty label", "a label")
    return Example(known[label], tuple(map(known.__getitem__, text.split())), text, f"{number}", key, extra=extra)


def build_dataset(name: str, rows: Rows, path: str, inputs: Sequence[str] = ()) -> Dataset:
    """The set of these rows; ``inputs`` are further columns that the question is asked about."""
    labels = tuple(sorted({row.label for split in rows.values() for row in split}))
    if not labels:
        raise DataError(f"{path} holds no rows; expected labelled sentences. Is it the file that was meant?")
    return Dataset(name, name, 0, None, labels, rows, {"inputs": list(inputs)} if inputs else {})


# files and their names


def find_file(path: Path) -> Path | None:
    """The file itself or else a compressed one, if there is any."""
    tried = (path, *(path.with_name(path.name + suffix) for suffix in COMPRESSED))
    return next((each for each in tried if each.is_file()), None)


def without_compression_suffix(path: str) -> Path:
    """The path without a compression suffix."""
    found = Path(path)
    return found.with_suffix("") if found.suffix.lower() in COMPRESSED else found


def split_of(path: str) -> str | None:
    """The split that a file's name tells with a word of its own: ``sentiment-train``, ``data.dev.csv``, ``te.txt``.

    Two letters must be the whole name: ``dev-tr.tsv`` is Turkish. A name that tells two splits tells none.
    """
    name = without_compression_suffix(path).name.lower()
    told = {SPLIT_NAMES[word] for word in _SPLIT_WORD.findall(name)}
    return told.pop() if len(told) == 1 else None if told else SPLIT_NAMES.get(name.partition(".")[0])


def common_name(path: str) -> str:
    """What the files of one set have in common: the name without suffixes, split and numbers of shards."""
    file = without_compression_suffix(path)
    name = file.stem if file.suffix.lower() in (*TABLE_SUFFIXES, ".txt", ".json") else file.name
    if name.lower() in SPLIT_NAMES:
        return ""
    return re.sub(r"([\W_])[\W_]+", r"\1", _SPLIT_WORD.sub("", _SHARD.sub("", name))).strip("-_. ")


def table_name(paths: Sequence[str]) -> str:
    """A short name for the set in these files: their family, or else the folder."""
    families = {common_name(path) for path in paths} - {""}
    return families.pop() if len(families) == 1 else Path(paths[0]).parent.resolve().name or "table"


def only_file_split(path: str, files: Sequence[str]) -> str:
    """The split of a file whose name does not tell it: test if it is the only one, otherwise an error."""
    if len(files) == 1:
        return "te"
    raise DataError(
        f"The name of {path} does not tell its split: expected a word such as train, dev or test in it. "
        "Rename it, or name the column that holds the split with --split."
    )


def _split(path: str, number: int, column: str, value: str) -> str:
    if found := SPLIT_NAMES.get(value.strip().lower()):
        return found
    got = f"{value[:20]!r} in the column {column}"
    raise CorpusError(path, number, got, f"the name of a split: {', '.join(SPLIT_NAMES)}")


# records: the wanted cells of every row


def records(path: str, columns: Columns) -> Iterator[tuple[int, Cells]]:
    """The cells of the columns asked for, line by line."""
    suffix = without_compression_suffix(path).suffix.lower()
    match "json" if suffix == ".json" else TABLE_SUFFIXES.get(suffix):  # which many JSON lines are called, too
        case "json":
            return _json(path, columns)
        case "parquet":
            return _parquet(path, columns)
        case "csv":
            return _picked(path, _csv(path), columns)
    return _picked(path, _tsv(path, "columns set off by tabs"), columns)


def _picked(path: str, records: Iterator[tuple[int, list[str]]], columns: Columns) -> Iterator[tuple[int, Cells]]:
    for start, first in records:
        names = [cell.strip() for cell in first] if columns.header else []
        pick = itemgetter(*(_place(path, names, len(first), flag, name) for flag, name in columns.requested))
        if not columns.header:
            yield start, pick(first)
        for number, cells in records:
            if len(cells) != len(first):
                raise CorpusError(path, number, f"{len(cells)} columns", f"{len(first)}, as in the first line")
            yield number, pick(cells)


def _place(path: str, names: Sequence[str], width: int, flag: str, name: str) -> int:
    """Where a column stands, by its name or else by its number."""
    if names.count(name) == 1:
        return names.index(name)
    if name in names:
        raise UsageError(f"{path} has {names.count(name)} columns called {name!r}; give {flag} the number of one.")
    if name.isdecimal() and len(name) < 6 and 1 <= int(name) <= width:
        return int(name) - 1
    if names:
        raise _unknown(path, names, flag, name)
    raise UsageError(f"{path} has no column {flag} {name}: without a header a column is a number from 1 to {width}.")


def _unknown(path: str, names: Sequence[str], flag: str, name: str) -> UsageError:
    shown = ", ".join(repr(n if len(n) <= 30 else f"{n[:30]}…") for n in names[:_SHOWN_COLUMNS]) or "none"
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f" Did you mean {near[0]!r}?"
    elif len(names) == 1 and "\t" in names[0]:
        hint = " Its columns are set off by tabs: call it .tsv."
    else:
        hint = " If its first line is no header, say --no-header and give numbers of columns."
    return UsageError(
        f"{path} has no column {name!r} ({flag}); it has {shown}{', …' if len(names) > _SHOWN_COLUMNS else ''}.{hint}"
    )


def _lines(path: str, expected: str) -> Iterator[str]:
    for number, line in enumerate(open_text(path), 1):
        if "\0" in line:
            raise CorpusError(path, number, "a NUL byte", f"text: {expected}")
        yield line


def _tsv(path: str, expected: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(_lines(path, expected), 1):
        if line := line.rstrip("\r\n"):
            yield number, line.split("\t")


def _csv(path: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_lines(path, "columns set off by commas"), strict=True)
    first = 1  # a quoted cell may go over several lines
    try:
        for cells in reader:
            if cells:
                yield first, cells
            first = reader.line_num + 1
    except csv.Error as error:
        expected = "comma-separated values, quotes inside quotes doubled; a file with tabs and bare quotes is a .tsv"
        raise CorpusError(path, first, f"broken CSV ({error})", expected) from None


def _json(path: str, columns: Columns) -> Iterator[tuple[int, Cells]]:
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode  # raw, so that a number stays as it is written
    requested = columns.requested
    for number, line in enumerate(open_text(path), 1):
        if line.isspace():
            continue
        try:
            record = decode(line)
            for flag, name in requested:
                if name not in record:
                    raise _unknown(f"{path}:{number}", list(record), flag, name)
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


def _parquet(path: str, columns: Columns) -> Iterator[tuple[int, Cells]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(_unpacked(path)) as file:
            names, kinds = file.schema_arrow.names, file.schema_arrow.types
            places = [_place(path, names, len(names), flag, name) for flag, name in columns.requested]
            for place in places:
                if not _is_plain(pa, kinds[place]):
                    raise DataError(
                        f"{path}: the column {names[place]!r} holds {kinds[place]}, not strings or numbers."
                    )
            requested = list(dict.fromkeys(names[place] for place in places))
            for batch in file.iter_batches(1 << 13, columns=requested):
                read = {name: [_from_arrow(v) for v in batch.column(name).to_pylist()] for name in requested}
                for cells in zip(*(read[names[place]] for place in places), strict=True):
                    number += 1
                    yield number, cells
    except FileNotFoundError:
        raise DataError(f"there is no file {path!r}") from None
    except (pa.ArrowException, OSError, EOFError, ValueError, lzma.LZMAError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path} cannot be read as Parquet after row {number}: {reason}. Fetch it again.") from None


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
