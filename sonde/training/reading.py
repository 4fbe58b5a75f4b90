"""Training data in files: pairs, labelled sentences, trees and texts, in the layouts that they come in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sonde.core.files import open_text
from sonde.errors import CorpusError


class Row(NamedTuple):
    """One example as it was read."""

    values: tuple[str, ...]
    path: str
    line: int


def read_rows(source: str, fields: Sequence[str], columns: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a source, with the values of these fields, such as ``("text1", "text2", "label")``.

    ``columns`` names the columns of a table, in the order of the fields, by name or number from 1.
    """
    for number, line in enumerate(open_text(source), 1):
        values = line.rstrip("\n").split("\t")
        if len(values) < len(fields):
            got = f"{len(values)} columns"
            raise CorpusError(source, number, got, f"{len(fields)}, separated by tabs: {', '.join(fields)}")
        yield Row(tuple(values[: len(fields)]), source, number)
