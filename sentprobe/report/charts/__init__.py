"""The charts: one file each, as plain data (rows, which a CSV file can hold) and Vega-Lite."""

from __future__ import annotations

from sentprobe.core.plugins import Kind
from sentprobe.errors import UsageError
from sentprobe.report.drawing.chart import Chart, Options
from sentprobe.report.drawing.figure_style import Row, Spec
from sentprobe.report.types import Summary
from sentprobe.results.metric import metric_named

__all__ = ["CHARTS", "Chart", "Options", "chart"]

CHARTS = Kind("chart", __name__, Chart)
"""All charts, also those that other packages offer as entry points of the group ``sentprobe.charts``."""


def chart(kind: str, summary: Summary, options: Options | None = None) -> tuple[list[Row], Spec]:
    """The rows of a figure and its spec. UsageError if the summary has nothing for it, or there is no such chart."""
    part = CHARTS.get(kind)
    in_points = metric_named(summary.metric).unit == "points"
    if not summary.by_set_metric and (part.by_accuracy or not in_points):
        expectation = "shows accuracy" if part.by_accuracy else "is in points"
        raise UsageError(f"The chart {kind} {expectation}; expected a summary of that, got one of {summary.metric}.")
    return part.draw(summary, options or Options())
