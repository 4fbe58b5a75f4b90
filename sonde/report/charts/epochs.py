"""Accuracy along training, by checkpoint, as in Conneau et al. (2018), figure 1."""

from __future__ import annotations

from collections.abc import Sequence

from sonde.report.drawing.chart import Chart, OnPage
from sonde.report.drawing.curve_rows import CURVE_FIELDS, curve_rows
from sonde.report.drawing.figure_style import Row, Spec, figure_style
from sonde.report.drawing.lines import INTERVAL_CAPTION, LINES_OPTION, Axes, curves
from sonde.report.drawing.options import INTERVAL_COLUMNS, NAME_COLUMNS, Options
from sonde.report.types import Summary


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per encoder (without its number), set and number of the checkpoint."""
    return curve_rows(summary, "epoch", options)


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Epochs or steps from left to right."""
    return curves(figure_style(options.width), rows, Axes(x="epoch or step"), options.lines)


chart = Chart(
    name="epochs",
    order=50,
    title="Scores along training",
    doc="accuracy along training, for checkpoints whose names differ in a number after epoch, checkpoint or step",
    needs="A figure of epochs needs checkpoints of one encoder whose names differ in a number after epoch, checkpoint "
    "or step, such as -e st:model/epoch-1 -e st:model/epoch-2; there are none.",
    rows=rows,
    spec=spec,
    fields=("set", "set_name", "series_name", "column", "encoder_name", "metric", "epoch", "x", *CURVE_FIELDS),
    options={"lines": LINES_OPTION},
    caption=INTERVAL_CAPTION,
    page=OnPage(
        section="trends",
        heading="Training",
        caption="Scores by epoch, step or checkpoint, with 95\u00a0% intervals.",
        columns=(*NAME_COLUMNS, ("x", "Epoch or step"), *INTERVAL_COLUMNS),
        absent="No encoder was run at several epochs, steps or checkpoints.",
    ),
)
