"""The table of sets and encoders as the page shows it: how cells are sorted, coloured and explained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import CellText, TableColumn
from sentprobe.report.score_table import score_table
from sentprobe.report.set_summary import errors_of
from sentprobe.report.types import CellSummary, SetSummary, Summary
from sentprobe.report.verdict import is_significant, mark_of
from sentprobe.results.metric import Metric, metric_named

SHADES = 5
"""Steps of colour on either side of the best baseline; page.css has a class for each: up1 … up5, down1 … down5."""
SHADE_POINTS = 5
"""Points of each step; the last has no end. The same on every page, so that pages can be compared."""


@dataclass(frozen=True)
class HtmlCell:
    """A cell: its text, and how it is sorted and coloured."""

    words: CellText
    order: float | None = None
    """What to sort by."""
    shade: str = ""
    """The class of its colour: how far it is above or below the best baseline, if significantly; empty otherwise."""
    gain: float | None = None
    """Points above the best baseline."""
    marked: str | None = None
    """The baseline that it is not significantly better than."""
    comparison: str = ""
    """How it compares with the best baseline, in words."""
    failure: str | None = None
    letters: str = ""
    """Those that the mark begins with."""


@dataclass(frozen=True)
class Heading:
    """A heading: an encoder, a baseline, or another property of the sets."""

    kind: str
    parts: Sequence[str]
    full: str = ""
    """The name as it was typed, where the heading has a shorter one."""


@dataclass(frozen=True)
class HtmlRow:
    """A set, and its cells in the order of the headings."""

    set_summary: SetSummary
    tags: Sequence[str]
    """What distinguishes the set from others, in addition to its name."""
    cells: Sequence[HtmlCell]


@dataclass(frozen=True)
class HtmlTable:
    """Headings (without that of the set itself) and rows."""

    headings: Sequence[Heading]
    rows: Sequence[HtmlRow]
    scale: Sequence[tuple[str, str]]
    """Colours from far below the best baseline to far above: a class, and what it stands for; empty: there are none."""


def table(summary: Summary) -> HtmlTable:
    """Rows are sets; encoders come first, then the best baseline, all of them, and human performance."""
    main = score_table(summary)
    headings = [Heading("rows", main.test_size.heading)]
    headings += [Heading("encoder", c.label, c.encoder) for c in summary.columns]
    headings += [Heading("best-baseline", column.heading) for column in main.best_baseline]
    headings += [Heading("baseline", column.heading) for column in main.baselines]
    headings += [Heading("human", column.heading) for column in main.human]
    tags = _tags(summary.sets)
    other_columns = [*main.best_baseline, *main.baselines, *main.human]
    rows = []
    for i, s in enumerate(summary.sets):
        encoders = [
            _shown(cell, column.cells[i], s.failed.get(j), metric_named(s.scored_by))
            for j, (cell, column) in enumerate(zip(s.cells, main.encoders, strict=True))
        ]
        rows.append(
            HtmlRow(
                s, tags[i], [_plain(main.test_size, i), *encoders, *(_plain(column, i) for column in other_columns)]
            )
        )
    return HtmlTable(headings, rows, _scale(rows))


def gain_of(cell: CellSummary | None, metric: Metric) -> float | None:
    """Points by which a cell is better than the best baseline on its rows; None without a score or a baseline."""
    if cell is None or cell.against is None or cell.score.value is None:
        return None
    return 100 * metric.gain(cell.score.value, cell.against.value)


def _shade(cell: CellSummary, metric: Metric) -> str:
    gain = gain_of(cell, metric)
    if not gain or not is_significant(cell):
        return ""
    return f"{'up' if gain > 0 else 'down'}{min(SHADES, math.ceil(abs(gain) / SHADE_POINTS))}"


def _scale(rows: Sequence[HtmlRow]) -> list[tuple[str, str]]:
    """Classes from far below to far above, with the points that each stands for; nothing if no cell has one."""
    if not any(cell.shade for row in rows for cell in row.cells):
        return []
    steps = [(step, f"{SHADE_POINTS * (step - 1)} to {SHADE_POINTS * step}") for step in range(1, SHADES)]
    steps.append((SHADES, f"more than {SHADE_POINTS * (SHADES - 1)}"))
    below = [(f"down{step}", f"{words} points below") for step, words in reversed(steps)]
    above = [(f"up{step}", f"{words} points above") for step, words in steps]
    return [*below, ("", "not significant"), *above]


def _tags(sets: Sequence[SetSummary]) -> list[list[str]]:
    """What stands beside the name of each set: its language if there are several, its corpus or digest if it shares its
    name, and the codes of its data errors, which go wherever a row is copied to."""
    several = len({s.language for s in sets}) > 1
    some_natural = not all(s.synthetic for s in sets)  # that all are synthetic is said at the top
    tags_of = []
    for s in sets:
        twins = [t for t in sets if (t.name, t.language) == (s.name, s.language)]
        corpora = {t.corpus for t in twins}
        telling = s.corpus if s.corpus and len(corpora) == len(twins) else f"#{s.data[:8]}"
        tags = [s.language if several else None, telling if len(twins) > 1 else None]
        errors = dict.fromkeys(finding.code for finding in errors_of(s))
        tags_of.append([*filter(None, tags), *["synthetic"] * (s.synthetic and some_natural), *errors])
    return tags_of


def _plain(column: TableColumn, row: int) -> HtmlCell:
    words = column.cells[row]
    return HtmlCell(words, _number(words.text))


def _number(text: str) -> float | None:
    """The number in a cell, the first one where there are several."""
    first = text.replace(",", "").partition(" ")[0]
    try:
        return float(first)
    except ValueError:
        return None


def _shown(cell: CellSummary | None, words: CellText, failure: str | None, metric: Metric) -> HtmlCell:
    if cell is None:
        return HtmlCell(words, failure=failure)
    return HtmlCell(
        words,
        cell.score.value,
        _shade(cell, metric),
        gain_of(cell, metric),
        cell.against.baseline if cell.against and mark_of(cell) else None,
        _comparison(cell, metric),
        letters=(cell.letters or "") * words.mark.startswith(cell.letters or ""),
    )


def _comparison(cell: CellSummary, metric: Metric) -> str:
    """``12.3 points above nb-uni (66.0), p 0.003``."""
    gain, against = gain_of(cell, metric), cell.against
    if gain is None or against is None:
        return ""
    p = "" if against.p is None else ", p < 0.001" if against.p < 0.001 else f", p {against.p:.3f}"
    than = f"{against.baseline} ({POINTS.number(against.value)})"
    above = gain > 0 if metric.higher_is_better else gain < 0
    return f"{abs(gain):.1f} points {'above' if above else 'below'} {than}{p}"
