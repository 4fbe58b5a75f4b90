"""The table of sets and encoders, as its template needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonde.report.columns import CellText, Column, main_columns
from sonde.report.escape import csv_text
from sonde.report.interval import estimate_of
from sonde.report.summary import done, value_of
from sonde.report.verdict import mark_of

CSV_COLUMNS = (
    "set", "language", "encoder", "n", "metric", "value", "low", "high", "letters", "partial", "baseline",
    "baseline_value", "verdict",
)  # fmt: skip
SHADES = 10
"""Steps from 0 to 1; page.css has a class for each."""


@dataclass(frozen=True)
class TableCell:
    """A cell: its words, and what is not said in words."""

    words: CellText
    order: float | None = None
    """What to sort by."""
    shade: int | None = None
    marked: str | None = None
    """The baseline that it is not significantly better than."""
    failure: str | None = None


@dataclass(frozen=True)
class Heading:
    """A heading: an encoder, a baseline, or something else that is known of a set."""

    kind: str
    parts: Sequence[str]
    full: str = ""
    """The name as it was typed, where the heading has a shorter one."""


@dataclass(frozen=True)
class Row:
    """A set: what it is, and its cells in the order of the headings."""

    set_summary: Mapping[str, Any]
    tags: Sequence[str]
    """What tells the set from others, besides its name."""
    cells: Sequence[TableCell]


@dataclass(frozen=True)
class Table:
    """Headings (without that of the set itself) and rows."""

    headings: Sequence[Heading]
    rows: Sequence[Row]


def table(summary: Mapping[str, Any]) -> Table:
    """Rows are sets; encoders come first, then the best baseline, all of them, and people."""
    main = main_columns(summary)
    headings = [Heading("rows", main.test_size.head)]
    headings += [Heading("encoder", c["label"], c["encoder"]) for c in summary["columns"]]
    headings += [Heading("strongest", column.head) for column in main.best_baseline]
    headings += [Heading("baseline", column.head) for column in main.baselines]
    headings += [Heading("human", column.head) for column in main.human]
    tags = _tags(summary["sets"])
    beside = [*main.best_baseline, *main.baselines, *main.human]
    rows = []
    for i, set_summary in enumerate(summary["sets"]):
        encoders = [
            _shown(cell, column.cells[i]) for cell, column in zip(set_summary["cells"], main.encoders, strict=True)
        ]
        rows.append(
            Row(set_summary, tags[i], [_plain(main.test_size, i), *encoders, *(_plain(column, i) for column in beside)])
        )
    return Table(headings, rows)


def _tags(sets: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The language of each set if there are several; the corpus or the digest of those that share a name."""
    several = len({set_summary["language"] for set_summary in sets}) > 1
    found = []
    for set_summary in sets:
        twins = [
            other
            for other in sets
            if (other["name"], other["language"]) == (set_summary["name"], set_summary["language"])
        ]
        corpora = {other["corpus"] for other in twins}
        told = (
            set_summary["corpus"]
            if set_summary["corpus"] and len(corpora) == len(twins)
            else f"#{set_summary['data'][:8]}"
        )
        tags = [set_summary["language"] if several else None, told if len(twins) > 1 else None]
        found.append([tag for tag in tags if tag] + ["synthetic"] * set_summary["synthetic"])
    return found


def _plain(column: Column, row: int) -> TableCell:
    words = column.cells[row]
    return TableCell(words, _number(words.text))


def _number(text: str) -> float | None:
    """The number in a cell, the first one where there are several."""
    first = text.replace(",", "").partition(" ")[0]
    try:
        return float(first)
    except ValueError:
        return None


def _shown(cell: Mapping[str, Any] | None, words: CellText) -> TableCell:
    if cell is None or not done(cell):
        return TableCell(words, failure=None if cell is None else cell["failure"])
    value = value_of(cell)
    return TableCell(
        words,
        value,
        None if value is None else round(SHADES * min(1.0, max(0.0, value))),
        cell["against"]["baseline"] if mark_of(cell) else None,
    )


def table_csv(summary: Mapping[str, Any]) -> str:
    """A line per set and column, for a program that draws or counts; shares of one."""
    rows: list[Sequence[object]] = [CSV_COLUMNS]
    columns = [*summary["columns"], *summary["baselines"]]
    for set_summary in summary["sets"]:
        for column, cell in zip(columns, (*set_summary["cells"], *set_summary["baselines"]), strict=True):
            if cell is None or not done(cell):
                continue
            against = cell["against"] or {}
            value, low, high, bar = (
                None if number is None else round(number, 5) for number in (*estimate_of(cell), against.get("value"))
            )
            names = set_summary["label"], set_summary["language"], ", ".join(column["label"])
            more = cell["letters"], cell["partial"], against.get("baseline"), bar, against.get("verdict")
            rows.append([*names, cell["n"], set_summary["scored_by"], value, low, high, *more])
    return csv_text(rows)
