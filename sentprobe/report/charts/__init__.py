"""The charts: one file each, as plain data (rows, which a CSV file can hold) and Vega-Lite."""

from __future__ import annotations

from sentprobe.core.plugins import Kind
from sentprobe.errors import UsageError
from sentprobe.report.drawing.chart import Chart, Options
from sentprobe.report.drawing.figure_style import Row, Spec
from sentprobe.report.types import Summary

__all__ = ["CHARTS", "Chart", "Options", "chart"]

CHARTS = Kind("chart", __name__, Chart)
"""All charts, also those that other packages offer as entry points of the group ``sentprobe.charts``."""


def chart(kind: str, summary: Summary, options: Options | None = None) -> tuple[list[Row], Spec]:
    """The rows of a figure and its spec. UsageError if the summary has nothing for it, or there is no such chart."""
    part = CHARTS.get(kind)
    if summary.metric != "accuracy":
        raise UsageError(f"Figures show accuracy; expected a summary of it, got one of {summary.metric}.")
    return part.draw(summary, options or Options())
