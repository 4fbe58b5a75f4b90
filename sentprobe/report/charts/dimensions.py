"""Accuracy by embedding dimension, as in Conneau et al. (2018), figure 3, and Adi et al. (2017), figure 1."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.report.drawing.chart import INTERVAL_COLUMNS, NAME_COLUMNS, Chart, OnPage, Options
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style
from sentprobe.report.drawing.lines import INTERVAL_CAPTION, LINES_OPTION, Axes, curve_rows, curves
from sentprobe.report.types import Summary

LOG_AXIS_RATIO = 8
"""Dimensions that differ by this factor or more are drawn on a logarithmic axis."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per encoder (without its dimension), set and dimension."""
    return curve_rows(summary, "dimension", options)


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """The axis is labelled with the dimensions that were run."""
    sizes = sorted({row["x"] for row in rows})
    wide = sizes[0] > 0 and sizes[-1] >= LOG_AXIS_RATIO * sizes[0]
    axes = Axes(x="dimensions", scale="log" if wide else "linear", ticks=sizes)
    return curves(figure_style(options.width), rows, axes, options.lines)


chart = Chart(
    name="dimensions",
    order=40,
    title="Scores by embedding dimension",
    doc="accuracy by embedding dimension, for encoders that were run in several sizes",
    needs="A figure of dimensions needs one encoder in several sizes, such as -e 'static:?dim=64' -e static:, in one "
    "run or in several that are given together; there is none.",
    rows=rows,
    spec=spec,
    options={"lines": LINES_OPTION},
    caption=INTERVAL_CAPTION,
    page=OnPage(
        section="trends",
        heading="Dimensions",
        caption="Scores by embedding dimension, with {level} intervals.",
        columns=(*NAME_COLUMNS, ("x", "Dimensions"), *INTERVAL_COLUMNS),
        absent="No encoder was run with several embedding dimensions.",
    ),
)
