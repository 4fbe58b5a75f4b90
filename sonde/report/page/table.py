"""The table of sets and encoders, as its template needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonde.report.columns import Column, Words, main_columns
from sonde.report.escape import csv_text
from sonde.report.interval import ends_of
from sonde.report.summary import done, value_of
from sonde.report.verdict import mark_of

CSV = (
    "set", "language", "encoder", "n", "metric", "value", "low", "high", "letters", "partial", "baseline",
    "baseline_value", "verdict",
)  # fmt: skip
SHADES = 10
"""Steps from 0 to 1; page.css has a class for each."""


@dataclass(frozen=True)
class Shown:
    """A cell: its words, and what is not said in words."""

    words: Words
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

    said: Mapping[str, Any]
    tags: Sequence[str]
    """What tells the set from others, besides its name."""
    cells: Sequence[Shown]


@dataclass(frozen=True)
class Table:
    """Headings (without that of the set itself) and rows."""

    headings: Sequence[Heading]
    rows: Sequence[Row]


def table(summary: Mapping[str, Any]) -> Table:
    """Rows are sets; encoders come first, then the best baseline, all of them, and people."""
    main = main_columns(summary)
    headings = [Heading("rows", main.tested.head)]
    headings += [Heading("encoder", c["label"], c["encoder"]) for c in summary["columns"]]
    headings += [Heading("strongest", column.head) for column in main.strongest]
    headings += [Heading("baseline", column.head) for column in main.baselines]
    headings += [Heading("human", column.head) for column in main.human]
    tags = _tags(summary["sets"])
    beside = [*main.strongest, *main.baselines, *main.human]
    rows = []
    for i, said in enumerate(summary["sets"]):
        encoders = [_shown(cell, column.cells[i]) for cell, column in zip(said["cells"], main.encoders, strict=True)]
        rows.append(Row(said, tags[i], [_plain(main.tested, i), *encoders, *(_plain(column, i) for column in beside)]))
    return Table(headings, rows)


def _tags(sets: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The language of each set if there are several; the corpus or the digest of those that share a name."""
    several = len({said["language"] for said in sets}) > 1
    found = []
    for said in sets:
        twins = [other for other in sets if (other["name"], other["language"]) == (said["name"], said["language"])]
        corpora = {other["corpus"] for other in twins}
        told = said["corpus"] if said["corpus"] and len(corpora) == len(twins) else f"#{said['data'][:8]}"
        tags = [said["language"] if several else None, told if len(twins) > 1 else None]
        found.append([tag for tag in tags if tag] + ["synthetic"] * said["synthetic"])
    return found


def _plain(column: Column, row: int) -> Shown:
    words = column.cells[row]
    return Shown(words, _number(words.text))


def _number(text: str) -> float | None:
    """The number in a cell, the first one where there are several."""
    first = text.replace(",", "").partition(" ")[0]
    try:
        return float(first)
    except ValueError:
        return None


def _shown(cell: Mapping[str, Any] | None, words: Words) -> Shown:
    if cell is None or not done(cell):
        return Shown(words, failure=None if cell is None else cell["failure"])
    value = value_of(cell)
    return Shown(
        words,
        value,
        None if value is None else round(SHADES * min(1.0, max(0.0, value))),
        cell["against"]["baseline"] if mark_of(cell) else None,
    )


def table_csv(summary: Mapping[str, Any]) -> str:
    """A line per set and column, for a program that draws or counts; shares of one."""
    rows: list[Sequence[object]] = [CSV]
    columns = [*summary["columns"], *summary["baselines"]]
    for said in summary["sets"]:
        for column, cell in zip(columns, (*said["cells"], *said["baselines"]), strict=True):
            if cell is None or not done(cell):
                continue
            against = cell["against"] or {}
            value, low, high, bar = (
                None if number is None else round(number, 5) for number in (*ends_of(cell), against.get("value"))
            )
            names = said["label"], said["language"], ", ".join(column["label"])
            more = cell["letters"], cell["partial"], against.get("baseline"), bar, against.get("verdict")
            rows.append([*names, cell["n"], said["scored_by"], value, low, high, *more])
    return csv_text(rows)
