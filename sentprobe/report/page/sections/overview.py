"""Means and wins: tasks over encoders and languages, and how often each encoder is best."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.overview import overview_tables
from sentprobe.report.page.section import PageData, Section, sibling_file

MIN_SETS = 3
"""Of fewer sets the table of results says it all."""


def data(page: PageData) -> Mapping[str, object]:
    """The tables, as they are printed; means over languages are in the section on languages."""
    tasks, wins = overview_tables(page.brief)
    return {"tables": [wins] if page.summary.languages else [tasks, wins]}


def absent(page: PageData) -> str | None:
    """Nothing is said of a single encoder, or of a few sets."""
    has_tables = len(page.summary.sets) >= MIN_SETS and any(True for _ in overview_tables(page.brief))
    return None if has_tables else ""


section = Section(
    name="overview",
    order=32,
    title="Means and wins",
    intro="How hard each task is, over all encoders and languages of the run, and how often each encoder is ahead. "
    "Being ahead by a hair counts as much as by ten points: look at the last columns, and at the table of results.",
    template=sibling_file(__package__, "overview.html"),
    style=".overview td,.overview thead th+th{text-align:right;font-variant-numeric:tabular-nums}",
    data=data,
    absent=absent,
)
