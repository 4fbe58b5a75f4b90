"""Aligned files: line i of each is one value of row i, as parallel corpora and InferSent's data are published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from sentprobe.core.files import open_text
from sentprobe.errors import DataError
from sentprobe.training.reading.part import LABEL, Row


def read_aligned(paths: Sequence[str], fields: Sequence[str]) -> Iterator[Row]:
    """A row for every line; a line that is empty on one side stays, since whoever reads rows counts these."""
    shown = paths[fields.index(LABEL)] if LABEL in fields else paths[0]
    lines = zip_longest(*map(open_text, paths))
    for number, values in enumerate(lines, 1):
        if None in values:
            raise _unequal(paths, number, values, lines)
        yield Row(tuple(map(str.strip, values)), shown, number)


def _unequal(
    paths: Sequence[str], number: int, values: Sequence[str | None], rest: Iterator[Sequence[str | None]]
) -> DataError:
    counts = [number - (value is None) for value in values]
    for more in rest:
        counts = [n + (value is not None) for n, value in zip(counts, more, strict=True)]
    said = " and ".join(f"{path} has {n:,} line{'s' * (n != 1)}" for path, n in zip(paths, counts, strict=True))
    return DataError(f"{said}; expected as many in each, line i of one with line i of the other.")
