"""From the lines of a set's files to labels and sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.data.file_names import without_compression_suffix
from sentprobe.data.layouts.layout import LineFormat
from sentprobe.data.records import Columns
from sentprobe.errors import CorpusError, DataError
from sentprobe.task import Example

NO_GOLD = "-"
"""The label of a pair on which the annotators did not agree; SentEval skips it, and so do we."""


class BuildRow(Protocol):
    """Makes a row; ``second`` is the other sentence of a pair."""

    def __call__(self, number: int, label: str, text: str, second: str = "") -> Example:
        """The row at this line number."""
        ...


Parse = Callable[[int, Sequence[str]], Example | None]
"""From a line number, and that line of every file of a part, to the row; None where there is none."""


def parser(form: Columns | LineFormat, paths: Sequence[str], header: str, row: BuildRow) -> Parse:
    """The function that reads a line of these files, the first of which begins with the line ``header``."""
    path = paths[0]
    if isinstance(form, Columns):
        return _table(form, path, header, row)
    match form:
        case "sentence":
            suffix = without_compression_suffix(path).suffix[1:]
            return lambda number, lines: row(number, suffix, lines[0])  # also if empty: the published sizes count them
        case "seven columns":
            return lambda number, lines: _seven(row, path, number, lines[0])
        case "sentence|sentence|label":
            return lambda number, lines: (
                None if lines[2].strip() == NO_GOLD else row(number, lines[2], lines[0], lines[1])
            )
        case "sentence<TAB>sentence|score":
            return lambda number, lines: _scored(row, paths, number, *lines)
    return lambda number, lines: _labelled(row, form, path, number, lines[0])


def _labelled(row: BuildRow, form: LineFormat, path: str, number: int, line: str) -> Example | None:
    """Label and sentence of a line that has both."""
    if not line:
        return None
    if form == "sentence<TAB>label":
        text, *labels = line.split("\t")
        if len(labels) != 1:
            raise CorpusError(path, number, f"{1 + len(labels)} columns", "sentence and label, tab-separated")
        return row(number, labels[0], text)
    label, _, text = line.partition(" ")
    if form == "COARSE:fine sentence":
        label, colon, _ = label.partition(":")
        if not colon:
            raise CorpusError(path, number, f"{line[:20]!r}", "a line such as `NUM:date When … ?`")
    return row(number, label, text)


def _table(columns: Columns, path: str, header: str, row: BuildRow) -> Parse:
    """A table with a header; every line has as many columns as that."""
    names = [name.strip() for name in header.split("\t")]
    for name in (*columns.text, columns.label):
        if name not in names:
            shown = ", ".join(map(repr, names[:8]))
            raise DataError(f"{path} has no column {name!r}; it has {shown}. Is it the right file?")
    first, second, label = (names.index(name) for name in (*columns.text, columns.label))

    def parse(number: int, lines: Sequence[str]) -> Example | None:
        if not lines[0]:
            return None
        cells = lines[0].split("\t")
        if len(cells) != len(names):
            raise CorpusError(path, number, f"{len(cells)} columns", f"{len(names)}, as in the first line")
        return row(number, cells[label], cells[first], cells[second])

    return parse


def _seven(row: BuildRow, path: str, number: int, line: str) -> Example | None:
    """A pair of the STS benchmark, which may have its sources in extra columns."""
    if not line:
        return None
    cells = line.split("\t")
    if len(cells) < 7:
        expected = "genre, file, year, number, score and two sentences, tab-separated"
        raise CorpusError(path, number, f"{len(cells)} columns", expected)
    return row(number, cells[4], cells[5], cells[6])


def _scored(row: BuildRow, paths: Sequence[str], number: int, pair: str, score: str) -> Example | None:
    """A pair of SemEval's tasks, unless it was never scored; extra columns are sources."""
    if not score.strip():
        return None
    cells = pair.split("\t")
    if len(cells) < 2:
        raise CorpusError(paths[0], number, f"{len(cells)} columns", "two sentences, tab-separated")
    return row(number, score, cells[0], cells[1])


def check_score(path: str, number: int, score: str) -> None:
    """Refuse a score that is not a number."""
    try:
        sound = math.isfinite(float(score))
    except ValueError:
        sound = False
    if not sound:
        raise CorpusError(path, number, f"the score {score[:20]!r}", "a number")


def lines_of(path: str, latin1_fallback: bool) -> list[str]:
    """The lines of a file without their ends, which are line feeds only: Latin-1 has a letter that is a line end."""
    content = b"".join(open_bytes(path))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        if not latin1_fallback:
            raise encoding_error(path, 1, error) from None
        text = content.decode("latin-1")
    if "\0" in text:
        raise CorpusError(path, text.count("\n", 0, text.index("\0")) + 1, "a NUL byte", "text")
    return text.removesuffix("\n").split("\n") if text else []
