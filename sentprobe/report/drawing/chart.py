"""A chart: its rows, its Vega-Lite spec, and its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sentprobe.errors import UsageError
from sentprobe.report.drawing.figure_style import Row, Spec
from sentprobe.report.drawing.options import Options
from sentprobe.report.types import Summary
from sentprobe.stats.level import with_levels

MAX_MARKS = 2500
"""Marks of a chart with a panel per set, for ``OnPage.max_rows``: more cannot be told apart and take
half a megabyte."""


def _no_notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    return ()


@dataclass(frozen=True, kw_only=True)
class OnPage:
    """Where a chart is on the page, and what is written around it there."""

    section: str
    """The name of the section; charts whose section does not exist are shown at the end, in a section of their own."""
    caption: str | Callable[[Sequence[Row]], str]
    """The caption, or a function that makes it from the rows, to describe only what is drawn; ``{level}`` as in the
    caption of the figure."""
    columns: Sequence[tuple[str, str]]
    """Fields of the rows that the table below the chart shows, and their headings."""
    heading: str = ""
    intro: str = ""
    absent: str = ""
    """Why the chart is not on the page, where the run has nothing for it; nothing: the section says so."""
    max_rows: int | None = None
    """With more rows, it is left out of the page, which says so; None: it never is."""
    switch: bool = False
    """Whether the reader can switch between the chart's modes."""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A kind of figure: one object in one file, from which the page, `sentprobe figure` and its documentation are made.

    Texts of the data belong in rows, in domains of scales and in titles, never in expressions or names of fields.

    Parameters
    ----------
    name
        As in ``sentprobe figure --kind NAME``.
    title
        What the chart shows, for screen readers.
    doc
        What it shows, as in the table of docs/figure.md.
    needs
        What a run must have for it: the error where there are no rows.
    rows
        The numbers, one row per mark. A field called ``text`` is the tooltip, and is not in the CSV file.
    spec
        The Vega-Lite spec of these rows. Options with the width "container" are for the page.
    fields
        The columns of the CSV file, in order.
    options
        What each option of `sentprobe figure` does to it, in Markdown; options that are not here are refused.
    caption
        The caption of the figure in a paper, or a function that makes it from the summary; ``{level}`` in it is the
        level of the intervals.
    notes
        Further sentences for that caption, from the rows that were drawn.
    page
        Where it is on the page; None: nowhere.
    needs_run
        False if it is about ``Options.encoders`` and ``Options.sentences``, or another folder, and not about a run.
    reads
        The name of a ``FolderType`` if it draws such a folder, ``Options.folder``; with ``needs_run``, that or a run.
    order
        The order of charts in lists and on the page.

    Examples
    --------
    >>> from sentprobe.report.charts import CHARTS
    >>> CHARTS.get("layers").doc
    'accuracy by layer'
    """

    name: str
    title: str
    doc: str
    needs: str
    rows: Callable[[Summary, Options], list[Row]] = field(repr=False)
    spec: Callable[[Sequence[Row], Options], Spec] = field(repr=False)
    fields: Sequence[str] = field(repr=False)
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    caption: str | Callable[[Summary], str] = field(default="", repr=False)
    notes: Callable[[Summary, Sequence[Row]], Iterable[str]] = field(default=_no_notes, repr=False)
    page: OnPage | None = field(default=None, repr=False)
    order: int = 1000
    needs_run: bool = True
    reads: str = ""

    def draw(self, summary: Summary, options: Options) -> tuple[list[Row], Spec]:
        """The rows of the figure and its spec. UsageError, with what is needed, if there are no rows."""
        rows = self.rows(summary, options)
        if not rows:
            raise UsageError(self.needs)
        return rows, self.spec(rows, options)

    def caption_of(self, summary: Summary) -> str:
        """The caption of the figure."""
        return with_levels(self.caption if isinstance(self.caption, str) else self.caption(summary))
