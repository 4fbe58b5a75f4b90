"""A probing set: labelled rows in three splits, with the manifest that says how they were made."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from typing import Any, cast

import msgspec

from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.hashing import digest
from sentprobe.core.seal import is_intact, other_format, read_document, seal_document
from sentprobe.core.table import Table
from sentprobe.data.rows import Columns, columns_in_memory, frame_cells, list_cells, rows_in_memory
from sentprobe.errors import DataError
from sentprobe.tasks import SPLIT_NAMES, SPLITS, Example

MANIFEST_FILE, ROWS_FILE = "manifest.json", "rows.parquet"
MANIFEST_FORMAT = "sentprobe.manifest.v1"
DIGESTED_ROWS = 1000
"""Rows that are serialised at a time for the digest."""
MIN_THREADED_BYTES = 1 << 20
"""Smaller files take longer to hand to threads than to decode."""
DECODED_ITEMS = 1 << 16
"""Items of lists that are decoded at a time, before equal ones become one object."""
ROW_COLUMNS = ("split", "label", "text", "tokens", "source", "key", "stratum", "marks")
SHOWN_LABELS = 10
SHOWN_EXAMPLES = 5
SHOWN_CHARACTERS = 120


@dataclass(frozen=True, repr=False)
class Dataset:
    """A probing set: labelled sentences in three splits, with the manifest that says how they were made.

    Parameters
    ----------
    name
        ``suite/task``.
    task
        The name of the task.
    version
        The version of the task; 0 for a set that sentprobe did not make.
    language
        A language code, or None.
    labels
        All labels, in a fixed order.
    rows
        The examples of each split: ``tr`` (train), ``va`` (validation), ``te`` (test).
    manifest
        Plain data, complete enough to make the set again; empty for a set that sentprobe did not make.

    Examples
    --------
    >>> from sentprobe import Dataset, Example
    >>> rows = {"te": [Example("PAST", ("She", "left"), "She left"), Example("PRES", ("He", "runs"), "He runs")]}
    >>> found = Dataset("mine/tense", "tense", 0, "en", ("PAST", "PRES"), rows)
    >>> found
    Dataset('mine/tense', en, 2 labels, train 0, dev 0, test 2)
    >>> len(found), [(split, row.text) for split, row in found]
    (2, [('te', 'She left'), ('te', 'He runs')])
    """

    name: str
    task: str
    version: int
    language: str | None
    labels: tuple[str, ...]
    rows: Mapping[str, Sequence[Example]]
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(self.rows.get(split, ())):,}" for split, name in SPLIT_NAMES.items())
        language = f"{self.language}, " if self.language else ""
        return f"Dataset({self.name!r}, {language}{len(self.labels):,} labels, {sizes})"

    def _repr_html_(self) -> str:
        return dataset_html(self.name, self.language, self.labels, self.rows)

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def __iter__(self) -> Iterator[tuple[str, Example]]:
        return ((split, row) for split in SPLITS for row in self.rows.get(split, ()))

    @cached_property
    def digest(self) -> str:
        """Sixteen hexadecimal digits over everything that can change a result: every field of every row, in order, the
        labels, and how the manifest says the set is to be used. Name, task, version and language are not part of it: a
        result is identified by these as well."""
        state = hashlib.blake2b(_canonical_json((self.labels, _use(self.manifest))), digest_size=8)
        rows = ((split, *row[:-1], sorted(row.extra)) for split, row in self)
        while block := [*islice(rows, DIGESTED_ROWS)]:
            state.update(_canonical_lines(block))
        return state.hexdigest()

    @property
    def detects(self) -> Mapping[str, float]:
        """Of a set that ``make_sets`` made: how large a difference between two encoders must be to be detected four
        times out of five, in ``folds`` and on the test ``split``; 0.05 are five points. Empty for other sets."""
        return dict(self.manifest.get("detects", {}))

    def save(self, folder: Path | str) -> None:
        """Write the set to a folder: a SentEval file, a Parquet file and, last, the manifest.

        Parameters
        ----------
        folder
            Where to write; it is created if necessary, and its files are replaced.
        """
        folder = Path(folder)
        make_folder(folder)
        (folder / MANIFEST_FILE).unlink(missing_ok=True)
        text = "".join(_senteval(split, row) for split, row in self).encode()
        write_atomically(folder / f"{self.task}.txt", text)
        files = {f"{self.task}.txt": digest(text), ROWS_FILE: write_rows(self, folder / ROWS_FILE)}
        manifest = seal_document({**self.manifest, "digest": self.digest, "files": files})
        write_atomically(folder / MANIFEST_FILE, manifest)

    @classmethod
    def load(cls, folder: Path | str) -> Dataset:
        """Read what ``save`` wrote, and verify that nothing was altered.

        Parameters
        ----------
        folder
            The folder with ``manifest.json``.

        Raises
        ------
        DataError
            If the folder holds no set, or a file is not as it was written.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        dataset = cls(
            name=manifest["name"],
            task=manifest["task"],
            version=manifest["version"],
            language=manifest["language"],
            labels=tuple(manifest["labels"]),
            rows=read_rows(folder / ROWS_FILE, manifest["files"].get(ROWS_FILE)),
            manifest=manifest,
        )
        if dataset.digest != manifest["digest"]:
            raise DataError(
                f"{folder / ROWS_FILE} is not what the manifest describes: expected the digest {manifest['digest']}, "
                f"got {dataset.digest}. The file was altered or is damaged; make the set again."
            )
        return dataset

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        text: str | int | Sequence[str | int],
        label: str | int,
        split: str | int | None = None,
        group: str | int | None = None,
        split_seed: int | None = None,
        language: str | None = None,
        task: str | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Make a set of a frame of pandas, polars or Arrow, or of a dict of lists.

        The set, and so its digest and every result, is that of a CSV file with the same rows.

        Parameters
        ----------
        frame
            Anything that has columns by name.
        text
            The column with the sentences; two names for pairs of sentences.
        label
            The column with the labels.
        split
            The column that says train, dev or test; or shares to split rows into, such as ``80/10/10``, which is the
            default: rows with the same text are never in two splits, and every label has its share in each.
        group
            With shares: the column whose rows are kept together, such as the document.
        split_seed
            With shares: another seed splits otherwise. Default: 1111.
        language
            A language code.
        task
            The name of the task. Default: that of the set.
        name
            The name of the set. Default: that of the task, or ``table``.

        Raises
        ------
        UsageError
            If there is no such column; the message lists them.
        DataError
            If a row has no label or no known split, or if rows cannot be split.

        Examples
        --------
        >>> import sentprobe
        >>> frame = {"review": ["Good .", "Bad .", "Fine .", "Poor ."] * 10, "mood": ["pos", "neg"] * 20}
        >>> frame["review"] = [f"{text} {i}" for i, text in enumerate(frame["review"])]
        >>> sentprobe.Dataset.from_frame(frame, text="review", label="mood", name="reviews", language="en")
        Dataset('reviews', en, 2 labels, train 32, dev 4, test 4)
        """
        columns = columns_in_memory(text, label, split, group, split_seed)
        return cls._of_cells(frame_cells(frame, columns.requested), columns, name or task or "table", task, language)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Any],
        *,
        text: str | int | Sequence[str | int] = "text",
        label: str | int = "label",
        split: str | int | None = None,
        group: str | int | None = None,
        split_seed: int | None = None,
        language: str | None = None,
        task: str | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Make a set of a list of rows: dicts, or tuples of a text and a label.

        Parameters
        ----------
        rows
            Dicts with the keys that ``text``, ``label``, ``split`` and ``group`` name; or tuples with these values, in
            this order: (text, label), for pairs (text, text, label), with a column of splits (text, label, split).
        text, label, split, group, split_seed, language, task, name
            As for ``from_frame``; for tuples, the names of texts are those of the inputs of the probe.

        Examples
        --------
        >>> import sentprobe
        >>> rows = [("She left .", "PAST", "train"), ("He runs .", "PRES", "train"), ("We ran .", "PAST", "test")]
        >>> sentprobe.Dataset.from_rows(rows, split="split", name="tense")
        Dataset('tense', 2 labels, train 2, dev 0, test 1)
        """
        columns = columns_in_memory(text, label, split, group, split_seed)
        return cls._of_cells(list_cells(rows, columns.requested), columns, name or task or "table", task, language)

    @classmethod
    def _of_cells(
        cls,
        cells: Iterable[tuple[Sequence[str], int]],
        columns: Columns,
        name: str,
        task: str | None,
        language: str | None,
    ) -> Dataset:
        splits = rows_in_memory(cells, columns, name)
        labels = tuple(sorted({row.label for rows in splits.values() for row in rows}))
        return cls(name, task or name, 0, language, labels, splits, columns.manifest)


def _canonical_lines(rows: Sequence[Sequence[Any]]) -> bytes:
    """One line for each row, all at once where that is possible."""
    try:
        return msgspec.json.Encoder().encode_lines(rows)
    except (TypeError, UnicodeEncodeError):
        return b"".join(map(_canonical_json, rows))


def _canonical_json(values: Sequence[Any]) -> bytes:
    """Values as one line of JSON, different for different values."""
    try:
        return msgspec.json.encode(values) + b"\n"
    except (TypeError, UnicodeEncodeError):  # numpy's numbers; lone surrogates, which only Python's encoder can escape
        return (
            json.dumps(values, default=_plain, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")
            + b"\n"
        )


def _plain(value: Any) -> Any:
    """A numpy value as a Python one, and what is not data as its repr."""
    return (
        value.item() if hasattr(value, "item") else sorted(map(str, value)) if isinstance(value, Set) else repr(value)
    )


def _use(manifest: Mapping[str, Any]) -> list[Any]:
    """The parts of a manifest that an evaluation, a sample or an audit depends on."""
    policy, corpus = (
        value if isinstance(value := manifest.get(name), Mapping) else {} for name in ("policy", "corpus")
    )
    return [
        manifest.get("protocol", "split"),
        manifest.get("inputs"),
        _sorted(manifest.get("solved_by")),
        policy.get("balance"),
        bool(policy.get("disjoint")),
        bool(corpus.get("synthetic")),
    ]


def _sorted(values: Any) -> Any:
    return sorted(map(str, values)) if isinstance(values, list | tuple | Set) else values


def find_set_folders(path: Path | str) -> list[Path]:
    """The folders of sets under a path, sorted; the path may itself be one."""
    path = Path(path)
    if not path.exists():
        raise DataError(
            f"There is no file or folder {str(path)!r}; expected sets that `sentprobe make` wrote, or a run."
        )
    manifests = [path / MANIFEST_FILE] if (path / MANIFEST_FILE).exists() else path.rglob(MANIFEST_FILE)
    folders = sorted(p.parent for p in manifests if p.is_file())  # not a pipe
    if not folders:
        raise DataError(
            f"{path} holds no probing set: expected a {MANIFEST_FILE} in it or below. `sentprobe make` writes one."
        )
    return folders


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of one set; a DataError if it is not as it was written."""
    path = folder / MANIFEST_FILE
    try:
        manifest = read_document(path.read_bytes())
    except FileNotFoundError:
        raise DataError(f"There is no {path}; expected a folder that `sentprobe make` wrote.") from None
    except (ValueError, OSError) as e:
        raise DataError(f"{path} cannot be read: {e}. Make the set again.") from e
    if (got := manifest.get("format")) == "contrast":
        raise DataError(
            f"{folder} is a contrast set, which has no classes; `sentprobe pairs` evaluates encoders on it."
        )
    if got not in (None, MANIFEST_FORMAT):
        raise DataError(f"{other_format(path, got, MANIFEST_FORMAT)} Make the set again.")
    if missing := [name for name in _Manifest.__struct_fields__ if name not in manifest]:
        raise DataError(
            f"{path} is not the manifest of a probing set: it lacks {', '.join(missing)}. If an older version of "
            "sentprobe made the set, make it again."
        )
    if not is_intact(manifest):
        raise DataError(
            f"{path} is not as it was written: its checksum does not match. It was altered or is damaged; make the set "
            "again."
        )
    try:
        msgspec.convert(manifest, _Manifest)
    except msgspec.ValidationError as e:
        raise DataError(f"{path} is not the manifest of a probing set: {e}. Make the set again.") from e
    del manifest["checksum"]
    return manifest


class _Manifest(msgspec.Struct):
    """The fields that every manifest has."""

    name: str
    task: str
    version: int
    language: str | None
    labels: list[str]
    digest: str
    question: str
    corpus: dict[str, Any]
    reading: dict[str, Any]
    sizes: dict[str, Any]
    majority: dict[str, Any]
    label_length_correlation: dict[str, Any]
    audit: list[Any]
    files: dict[str, str]
    checksum: str


def check_against_manifest(path: Path) -> None:
    """Verify that a SentEval file next to a manifest is the one that was written with it."""
    try:
        files = read_manifest(path.parent)["files"]
    except DataError:  # another program's manifest: nothing vouches for the file
        return
    if path.name in files and path.is_file() and digest(path.read_bytes()) != files[path.name]:
        raise DataError(
            f"{path} is not what the manifest next to it describes: it was altered or is damaged. Make the set again, "
            "or copy the file to a folder of its own to use it as it is."
        )


LINE_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def _senteval(split: str, row: Example) -> str:
    """One line of SentEval's format: partition, label, extra columns, and the sentence last."""
    cells = (split, row.label, *(value for _, value in row.extra), " ".join(row.tokens))
    content = "".join(cells)
    if not content.isprintable() and LINE_BREAKS.search(content):
        cells = tuple(LINE_BREAKS.sub(" ", c) for c in cells)
    return "\t".join(cells) + "\n"


def write_rows(dataset: Dataset, path: Path) -> str:
    """Write the rows of all splits as one Parquet file, and return its digest."""
    content = encode_rows(dataset.name, dataset.rows)
    write_atomically(path, content)
    return digest(content)


def read_rows(path: Path, expected: str | None) -> dict[str, list[Example]]:
    """The rows of each split, as ``write_rows`` wrote them; ``expected`` is the digest it returned."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no {path} next to the manifest. Make the set again.") from None
    except OSError as e:
        raise DataError(f"{path} cannot be read: {e.strerror}. Make the set again.") from e
    if digest(content) != expected:
        raise DataError(f"{path} is not what the manifest describes: it was altered or is damaged. Make the set again.")
    try:
        return decode_rows(content)
    except ValueError as e:
        raise DataError(f"{path} cannot be read as the rows of a set: {e}. Make the set again.") from e


# The rows of a set as a Parquet file, and back


def encode_rows(name: str, splits: Mapping[str, Sequence[Example]]) -> memoryview:
    """A Parquet file with the rows of all splits of a set."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [row for split in SPLITS for row in splits.get(split, ())]
    columns = row_columns(rows)
    if reserved := sorted({column for row in rows for column, _ in row.extra} & set(ROW_COLUMNS)):
        raise DataError(f"{name}: a task's own column cannot be called {reserved[0]}, which every set has.")
    split_names = _names([split for split in SPLITS for _ in splits.get(split, ())])
    buffer = pa.BufferOutputStream()
    pq.write_table(
        pa.table({"split": split_names, **columns}),
        buffer,
        compression="zstd",
        use_dictionary=["split", "label", "key", "stratum"],
    )
    return memoryview(buffer.getvalue())


def row_columns(rows: Sequence[Example]) -> dict[str, Any]:
    """Rows as Arrow arrays by the names of columns, those of the task last; labels and strata are dictionaries."""
    extra = dict.fromkeys(column for row in rows for column, _ in row.extra)
    return {
        "label": _names([row.label for row in rows]),
        "text": string_array([row.text for row in rows]),
        "tokens": _lists(
            string_array([*chain.from_iterable([row.tokens for row in rows])]), [len(row.tokens) for row in rows]
        ),
        "source": string_array([row.source for row in rows]),
        "key": string_array([row.key for row in rows]),
        "stratum": _names([row.stratum for row in rows]),
        "marks": _lists(_numbers([m for row in rows for m in row.marks]), [len(row.marks) for row in rows]),
        **{name: string_array([dict(row.extra).get(name) for row in rows]) for name in extra},
    }


# Arrow arrays, built without pyarrow.array, which imports pandas wherever that is installed


def string_array(values: Sequence[str | None]) -> Any:
    """An Arrow array of these strings."""
    import pyarrow as pa

    if None in values:
        builder = pa.lib.StringBuilder()
        builder.append_values(values)
        return builder.finish()
    texts = cast(Sequence[str], values)
    content = "".join(texts)
    lengths = [len(text) if text.isascii() else len(text.encode()) for text in texts]
    offsets = pa.py_buffer(array("i", accumulate(lengths, initial=0)))
    return pa.Array.from_buffers(pa.string(), len(texts), [None, offsets, pa.py_buffer(content.encode())])


def _numbers(values: Sequence[int]) -> Any:
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int32(), len(values), [None, pa.py_buffer(array("i", values))])


def _names(values: Sequence[str]) -> Any:
    import pyarrow as pa

    codes = {name: i for i, name in enumerate(dict.fromkeys(values))}
    return pa.DictionaryArray.from_arrays(_numbers([codes[v] for v in values]), string_array(list(codes)))


def _lists(items: Any, lengths: Sequence[int]) -> Any:
    import pyarrow as pa

    return pa.ListArray.from_arrays(_numbers([0, *accumulate(lengths)]), items)


def decode_rows(content: bytes) -> dict[str, list[Example]]:
    """The rows of each split, as ``encode_rows`` wrote them; a ValueError says what is wrong with the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            table = file.read(use_threads=len(content) > MIN_THREADED_BYTES)
        extra = _check_columns(table)
        columns = [_values(table[name]) for name in (*ROW_COLUMNS, *extra)]
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as e:
        raise ValueError(str(e).partition("\n")[0]) from e
    rows: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for split, label, text, tokens, source, key, stratum, marks, *extra_values in zip(*columns, strict=True):
        if split not in rows:
            raise ValueError(f"it has a row of the split {split!r}; expected {', '.join(SPLITS)}")
        pairs = tuple((name, value) for name, value in zip(extra, extra_values, strict=True) if value is not None)
        rows[split].append(Example(label, tokens, text, source, key, stratum, marks, pairs))
    return rows


def _check_columns(table: Any) -> list[str]:
    """The extra columns of a table; a ValueError if the others are not what they should be."""
    import pyarrow as pa

    if missing := set(ROW_COLUMNS) - set(table.column_names):
        raise ValueError(f"it lacks the column {', '.join(sorted(missing))}")
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError("it has two columns of the same name")
    lists = {"tokens": pa.string(), "marks": pa.int32()}
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        expected = pa.list_(lists[name]) if name in lists else pa.string()
        if (kind.value_type if pa.types.is_dictionary(kind) else kind) != expected:
            raise ValueError(f"the column {name} holds {kind}; expected {expected}")
        if name in ROW_COLUMNS and name != "key" and table[name].null_count:
            raise ValueError(f"the column {name} has rows without a value")
        if name in lists and any(chunk.values.null_count for chunk in table[name].chunks):
            raise ValueError(f"the column {name} has lists with missing values")
    return [name for name in table.column_names if name not in ROW_COLUMNS]


def _values(column: Any) -> list[Any]:
    """The values of a column, lists as tuples. Rows share the strings of dictionaries and of lists."""
    return [value for chunk in column.chunks for value in _values_of(chunk)]


def _values_of(chunk: Any) -> list[Any]:
    import pyarrow as pa

    values: list[Any]
    if pa.types.is_list(chunk.type):
        interned: dict[Any, Any] = {}
        items: list[Any] = []
        for start in range(0, len(chunk.values), DECODED_ITEMS):
            items += [interned.setdefault(item, item) for item in chunk.values.slice(start, DECODED_ITEMS).to_pylist()]
        values = [tuple(items[a:b]) for a, b in pairwise(chunk.offsets.to_pylist())]
    elif pa.types.is_dictionary(chunk.type):  # a cast would be as fast, but imports pyarrow.compute
        names = chunk.dictionary.to_pylist()
        values = [None if i is None else names[i] for i in chunk.indices.to_pylist()]
    else:
        values = chunk.to_pylist()
    return values


# A set as a small HTML table for notebooks: rows per split and label, and a few examples


def dataset_html(name: str, language: str | None, labels: Sequence[str], rows: Mapping[str, Sequence[Example]]) -> str:
    """Two tables, with every text from the set escaped."""
    counts = {split: Counter(row.label for row in rows.get(split, ())) for split in SPLITS}
    body = [[label, *(f"{counts[split][label]:,}" for split in SPLITS)] for label in labels[:SHOWN_LABELS]]
    if len(labels) > SHOWN_LABELS:
        unlisted = labels[SHOWN_LABELS:]
        body.append([f"{len(unlisted):,} more", *(f"{sum(counts[split][c] for c in unlisted):,}" for split in SPLITS)])
    body.append(["all", *(f"{counts[split].total():,}" for split in SPLITS)])
    first_rows = _first_of_each_label(rows)
    examples = [[SPLIT_NAMES[split], row.label, _shorten(row.text)] for split, row in first_rows]
    caption = f"{name} ({language})" if language else name
    counted = Table.of_rows(["label", *SPLIT_NAMES.values()], body, title=caption)
    return counted.html() + Table.of_rows(["split", "label", "text"], examples).html()


def _first_of_each_label(rows: Mapping[str, Sequence[Example]]) -> list[tuple[str, Example]]:
    first: dict[str, tuple[str, Example]] = {}
    for split in SPLITS:
        for row in rows.get(split, ()):
            first.setdefault(row.label, (split, row))
            if len(first) == SHOWN_EXAMPLES:
                return list(first.values())
    return list(first.values())


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"
