"""A small HTML table of scores, which notebooks show for a run."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.table import Table
from sentprobe.results.metric import metric_named
from sentprobe.results.result import Result
from sentprobe.stats.level import level_text

MAX_ROWS = 60
"""Results that are shown; ``Run.frame`` has all of them."""


def scores_html(results: Sequence[Result], caption: str) -> str:
    """Results as an HTML table, one row each, under a caption; all text is escaped."""
    headings = ("dataset", "encoder", "layer", "probe", "seed", "metric", "score", f"{level_text()} interval", "n")
    left_out = len(results) - MAX_ROWS
    note = f"<p>… and {left_out} more results: see <code>Run.frame()</code>.</p>" if left_out > 0 else ""
    return Table.of_rows(headings, map(_row, results[:MAX_ROWS]), title=caption).html() + note


def _row(result: Result) -> list[str]:
    cell = result.cell
    low, high = result.encoder_interval or result.range
    form = metric_named(result.metric).number
    interval = "" if result.constant else form.interval(low, high, between=" – ")
    names = (cell.dataset, cell.encoder, cell.layer, cell.probe, cell.seed if cell.probe else None, result.metric)
    numbers = (f"{form.number(result.score)}{'*' * result.partial}", interval, f"{result.n.get('te', 0):,}")
    return ["" if text is None else str(text) for text in (*names, *numbers)]
