"""Parquet: a row is a document; ``--text`` names the column with its text, ``--id`` that of its id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from sentprobe.annotate.source import OnBad, Piece, Reading, TextSource, split_paragraphs
from sentprobe.core.files import open_seekable
from sentprobe.core.suggest import did_you_mean
from sentprobe.errors import CorpusError, UsageError

BATCH_ROWS = 256
_SHOWN_COLUMNS = 12


def read(path: str, name: str, reading: Reading, on_bad: OnBad | None) -> Iterator[Piece]:
    """A piece for every row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with ExitStack() as stack:
            file = stack.enter_context(pq.ParquetFile(open_seekable(path, stack)))
            columns = [_column(path, file, "--text", reading.text, texts=True)]
            if reading.id is not None:
                columns.append(_column(path, file, "--id", reading.id, texts=False))
            for batch in file.iter_batches(BATCH_ROWS, columns=columns):
                for values in zip(*(batch.column(c).to_pylist() for c in columns), strict=True):
                    number += 1
                    missing = next((c for c, value in zip(columns, values, strict=True) if value in (None, "")), None)
                    if missing is not None and (values[0] is None or missing != columns[0]):
                        bad = CorpusError(path, number, f"a row without a value in {missing!r}", "one in every row")
                        if on_bad is None:
                            raise bad
                        on_bad(bad)
                        continue
                    id = f"{name}:{number}" if reading.id is None else " ".join(str(values[1]).split())
                    yield Piece(id, values[0], first=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, MemoryError) as e:  # of damaged data
        got = f"what is no Parquet file, or is damaged ({str(e).partition(chr(10))[0].rstrip('.')})"
        raise CorpusError(path, number + 1, got, "a complete file; download it again", ends_file=True) from None


def _column(path: str, file: Any, option: str, name: str, texts: bool) -> str:
    import pyarrow as pa

    schema = file.schema_arrow
    if name not in schema.names:
        shown = ", ".join(map(repr, schema.names[:_SHOWN_COLUMNS])) or "none"
        hint = did_you_mean(name, schema.names, n=1)
        raise UsageError(f"{path} has no column {name!r} ({option}); it has {shown}.{hint}")
    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    if not is_text and (texts or not pa.types.is_integer(kind)):
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
