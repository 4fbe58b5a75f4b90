"""What the scores mean: a verdict per set and encoder, and the controls and measures that it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sentprobe.core.table import Table
from sentprobe.report.meaning import DEFINITIONS, MEANINGS
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.variants import column_tables

MAX_CELLS = 2500
"""Cells of all tables together; more would take a page beyond three megabytes."""

Group = tuple[str, list[Table]]
"""An encoder, and its tables."""


def data(page: PageData) -> Mapping[str, object]:
    """The verdicts, with how often each occurs; and a table of controls and one of measures per encoder."""
    sets, groups = page.brief.sets, _groups(page)
    included = _within(groups, MAX_CELLS)
    counts = Counter(meaning.kind for s in sets for meaning in s.meanings if meaning is not None)
    return {
        "columns": page.brief.columns,
        "meanings": MEANINGS,
        "definitions": DEFINITIONS,
        "counts": [(kind, counts[kind]) for kind in MEANINGS if counts[kind]],
        "judged": any(meaning is not None for s in sets for meaning in s.meanings),
        "groups": included,
        "left_out": sum(len(tables) for _, tables in groups) - sum(len(tables) for _, tables in included),
    }


def _within(groups: Sequence[Group], most: int) -> list[Group]:
    """Tables with at most this many cells together: first the first table of every encoder, then the second, …"""
    budget, included = most, set[tuple[int, int]]()
    order = [(j, i) for i, (_, tables) in enumerate(groups) for j in range(len(tables))]
    for j, i in sorted(order):
        columns = groups[i][1][j].columns
        budget -= len(columns) * len(columns[0].cells)
        if budget < 0:
            break
        included.add((i, j))
    limited = [
        (name, [table for j, table in enumerate(tables) if (i, j) in included])
        for i, (name, tables) in enumerate(groups)
    ]
    return [(name, tables) for name, tables in limited if tables]


def _groups(page: PageData) -> list[Group]:
    """The tables of each encoder."""
    groups = [(name, list(column_tables(page.brief, i))) for i, name in enumerate(page.names)]
    return [(name, tables) for name, tables in groups if tables]


def absent(page: PageData) -> str | None:
    """Why there are none: nothing was requested, or nothing could be computed."""
    if any(column for s in page.summary.sets for column in s.variants):
        return None
    if not page.summary.kind.trains_probes:
        return ""
    return "No controls or measures were requested: sentprobe run --controls all --measures all."


section = Section(
    name="controls",
    order=28,
    title="What the scores mean",
    intro="A score above chance may come from the words, from text length, or from what the probe memorises. Each "
    "score has one verdict, from baselines, controls and measures.",
    template=sibling_file(__package__, "controls.html"),
    data=data,
    absent=absent,
)
