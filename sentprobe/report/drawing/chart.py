"""A chart: rows and a Vega-Lite spec of them, where it is shown, and the options that change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sentprobe.core.plugins import part_repr
from sentprobe.errors import UsageError
from sentprobe.report.drawing.figure_style import Row, Spec, Width
from sentprobe.report.names import set_names, short_names
from sentprobe.report.types import SetSummary, Summary
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
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
        The columns of the CSV file, in order; by default all fields of the rows but ``text``, in theirs.
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
    by_accuracy
        Whether it shows shares of correct rows, whatever the set is scored by; it has no `--metric`.
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
    rows: Callable[[Summary, Options], list[Row]]
    spec: Callable[[Sequence[Row], Options], Spec]
    fields: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    caption: str | Callable[[Summary], str] = ""
    notes: Callable[[Summary, Sequence[Row]], Iterable[str]] = _no_notes
    page: OnPage | None = None
    order: int = 1000
    needs_run: bool = True
    reads: str = ""
    by_accuracy: bool = False

    __repr__ = part_repr

    @property
    def switches(self) -> bool:
        """Whether the reader of the page can switch between its modes."""
        return self.page is not None and self.page.switch

    def draw(self, summary: Summary, options: Options | None = None) -> tuple[list[Row], Spec]:
        """The rows of the figure and its spec. UsageError, with what is needed, if there are no rows."""
        options = options or Options()
        rows = self.rows(summary, options)
        if not rows:
            raise UsageError(self.needs)
        return rows, self.spec(rows, options)

    def caption_of(self, summary: Summary) -> str:
        """The caption of the figure."""
        return with_levels(self.caption if isinstance(self.caption, str) else self.caption(summary))


def above_baselines(rows: Sequence[Row]) -> bool:
    """Whether a chart that can be switched begins with points above the best baseline: chance levels differ."""
    return any(row.get("above") is not None for row in rows)


Mode = Literal["absolute", "above", "relative"]
Lines = Literal["set", "encoder"]

NAME_COLUMNS = (("set_name", "Set"), ("encoder_name", "Encoder"))
INTERVAL_COLUMNS = (("points", "Score, × 100"), ("points_low", "from"), ("points_high", "to"))
"""Columns that the tables below most charts of the page have: fields of the rows, and headings."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to draw. A chart reads those that its ``options`` name, besides ``sets``, ``columns`` and ``width``."""

    sets: tuple[int, ...] = ()
    """Indices of sets in the summary; none: all."""
    columns: tuple[int, ...] = ()
    """Indices of columns; none: all."""
    mode: Mode = "absolute"
    """Points, points above the best baseline, or ratios."""
    relative_to: int | str | None = None
    """What ratios are relative to: a column, by its index, or a language."""
    lines: Lines | None = None
    """What a line is; None: an encoder if there are several, else a set."""
    width: Width = "container"
    encoders: tuple[str, ...] = ()
    """The encoders to load, for a chart that needs no run."""
    sentences: tuple[str, ...] = ()
    """What these encode."""
    folder: str | None = None
    """The folder to be drawn, for a chart that reads one of another type than a run."""
    words: tuple[str, ...] = ()
    """Words of it; none: the chart's choice."""


def selected_sets(summary: Summary, indices: Sequence[int]) -> dict[int, str]:
    """The selected sets, or all, by index, with names that tell them apart."""
    selected = _selected(len(summary.sets), indices)
    return dict(zip(selected, set_names([summary.sets[i] for i in selected]), strict=True))


def selected_columns(summary: Summary, indices: Sequence[int]) -> dict[int, str]:
    """The selected columns, or all, by index, with names that tell them apart."""
    selected = _selected(len(summary.columns), indices)
    return dict(zip(selected, short_names([summary.columns[j].name for j in selected]), strict=True))


def _selected(n: int, indices: Sequence[int]) -> list[int]:
    return [i for i in range(n) if not indices or i in indices]


def share_metric(s: SetSummary) -> str:
    """The metric of shares of correct rows of a set: of bins of rows, and of controls."""
    return DEFAULT_METRIC if metric_named(s.scored_by).predicts == "classes" else s.scored_by


def score_title(rows: Sequence[Row]) -> str:
    """The title of an axis of scores: the metric that all rows have, or the families of several."""
    metrics = sorted({metric_named(row["metric"]) for row in rows}, key=lambda metric: (metric.order, metric.name))
    if len(metrics) == 1:
        return metrics[0].axis_title
    *families, last = dict.fromkeys(metric.family or metric.title for metric in metrics)
    return f"{', '.join(families)} or {last}, × 100" if families else f"{last}, × 100"
