"""Parquet: a row is a document; ``--text`` names the column with its text, ``--id`` that of its id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sentprobe.annotate.source import Piece, ReadOptions, TextSource, split_paragraphs
from sentprobe.core.reader import OnBad, is_text_type, parquet_schema, read_parquet, unknown_column
from sentprobe.errors import CorpusError, UsageError


def read(path: str, name: str, reading: ReadOptions, on_bad: OnBad | None) -> Iterator[Piece]:
    """A piece for every row."""
    names, types = parquet_schema(path)
    kind_of = dict(zip(names, types, strict=True))
    columns = [_column(path, kind_of, "--text", reading.text, texts=True)]
    if reading.id is not None:
        columns.append(_column(path, kind_of, "--id", reading.id, texts=False))
    for number, values in read_parquet(path, columns):
        missing = next((c for c, value in zip(columns, values, strict=True) if value in (None, "")), None)
        if missing is not None and (values[0] is None or missing != columns[0]):
            bad = CorpusError(path, number, f"a row without a value in {missing!r}", "one in every row")
            if on_bad is None:
                raise bad
            on_bad(bad)
            continue
        id = f"{name}:{number}" if reading.id is None else " ".join(str(values[1]).split())
        yield Piece(id, values[0], first=True)


def _column(path: str, kind_of: Mapping[str, Any], option: str, name: str, texts: bool) -> str:
    import pyarrow as pa

    if name not in kind_of:
        raise unknown_column(path, list(kind_of), option, name)
    kind = kind_of[name]
    if not is_text_type(kind) and (texts or not pa.types.is_integer(kind)):
        raise UsageError(f"{path}: the column {name!r} ({option}) holds {kind}; expected text.")
    return name


text_source = TextSource(
    name="parquet",
    summary="Parquet: a row per document, with its text in --text COLUMN and its id in --id COLUMN.",
    suffixes=(".parquet", ".pq"),
    read=read,
    paragraphs=split_paragraphs,
    lines="paragraphs",
    records=True,
    order=30,
)
