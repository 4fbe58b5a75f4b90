"""The rows of a set as a Parquet file, and back."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, cast

from sentprobe.errors import DataError
from sentprobe.task import SPLITS, Example

MIN_THREADED_BYTES = 1 << 20
"""Smaller files take longer to hand to threads than to decode."""
DECODED_ITEMS = 1 << 16
"""Items of lists that are decoded at a time, before equal ones become one object."""
ROW_COLUMNS = ("split", "label", "text", "tokens", "source", "key", "stratum", "marks")


def encode_rows(name: str, splits: Mapping[str, Sequence[Example]]) -> memoryview:
    """A Parquet file with the rows of all splits of a set."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [(split, row) for split in SPLITS for row in splits.get(split, ())]
    extra = dict.fromkeys(column for _, row in rows for column, _ in row.extra)
    if reserved := sorted(extra.keys() & set(ROW_COLUMNS)):
        raise DataError(f"{name}: a task's own column cannot be called {reserved[0]}, which every set has.")
    table = {
        "split": _names([split for split, _ in rows]),
        "label": _names([row.label for _, row in rows]),
        "text": _strings([row.text for _, row in rows]),
        "tokens": _lists(
            _strings([*chain.from_iterable([row.tokens for _, row in rows])]), [len(row.tokens) for _, row in rows]
        ),
        "source": _strings([row.source for _, row in rows]),
        "key": _strings([row.key for _, row in rows]),
        "stratum": _names([row.stratum for _, row in rows]),
        "marks": _lists(_numbers([m for _, row in rows for m in row.marks]), [len(row.marks) for _, row in rows]),
        **{name: _strings([dict(row.extra).get(name) for _, row in rows]) for name in extra},
    }
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table(table), buffer, compression="zstd", use_dictionary=["split", "label", "key", "stratum"])
    return memoryview(buffer.getvalue())


# Arrow arrays, built without pyarrow.array, which imports pandas wherever that is installed


def _strings(values: Sequence[str | None]) -> Any:
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

    known = {name: i for i, name in enumerate(dict.fromkeys(values))}
    return pa.DictionaryArray.from_arrays(_numbers([known[v] for v in values]), _strings(list(known)))


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
        extra = _check(table)
        columns = [_values(table[name]) for name in (*ROW_COLUMNS, *extra)]
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as e:
        raise ValueError(str(e).partition("\n")[0]) from e
    rows: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for split, label, text, tokens, source, key, stratum, marks, *more in zip(*columns, strict=True):
        if split not in rows:
            raise ValueError(f"it has a row of the split {split!r}; expected {', '.join(SPLITS)}")
        pairs = tuple((name, value) for name, value in zip(extra, more, strict=True) if value is not None)
        rows[split].append(Example(label, tokens, text, source, key, stratum, marks, pairs))
    return rows


def _check(table: Any) -> list[str]:
    """The extra columns of a table; a ValueError if the others are not what they should be."""
    import pyarrow as pa

    if missing := set(ROW_COLUMNS) - set(table.column_names):
        raise ValueError(f"it lacks the column {', '.join(sorted(missing))}")
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError("it has two columns of the same name")
    lists = {"tokens": pa.string(), "marks": pa.int32()}
    for name, kind in zip(table.column_names, table.schema.types, strict=True):
        expected = pa.list_(lists[name]) if name in lists else pa.string()
        found = kind.value_type if pa.types.is_dictionary(kind) else kind
        if found != expected:
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

    found: list[Any]
    if pa.types.is_list(chunk.type):
        known: dict[Any, Any] = {}
        items: list[Any] = []
        for start in range(0, len(chunk.values), DECODED_ITEMS):
            some = chunk.values.slice(start, DECODED_ITEMS).to_pylist()
            items += [known.setdefault(item, item) for item in some]
        found = [tuple(items[a:b]) for a, b in pairwise(chunk.offsets.to_pylist())]
    elif pa.types.is_dictionary(chunk.type):  # a cast would be as fast, but imports pyarrow.compute
        names = chunk.dictionary.to_pylist()
        found = [None if i is None else names[i] for i in chunk.indices.to_pylist()]
    else:
        found = chunk.to_pylist()
    return found
