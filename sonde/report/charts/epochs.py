"""Accuracy along training, by checkpoint, as in Conneau et al. (2018), figure 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.report.charts.curve import curve_rows
from sonde.report.charts.figure_style import Row, Spec, Width, figure_style
from sonde.report.charts.lines import Axes, curves
from sonde.report.charts.options import Lines, Options, require_rows

NEEDS = (
    "A figure of epochs needs checkpoints of one encoder whose names differ in a number after epoch, checkpoint or "
    "step, such as -e st:model/epoch-1 -e st:model/epoch-2. There are none."
)


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets, columns=options.columns)
    return require_rows(found, NEEDS), spec(found, width=options.width, lines=options.lines)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = (), columns: Sequence[int] = ()) -> list[Row]:
    """A row per encoder without its number, set and number."""
    return curve_rows(summary, "epoch", sets, columns)


def spec(rows: Sequence[Row], *, width: Width = "container", lines: Lines | None = None) -> Spec:
    """Numbers of epochs, or of steps, from left to right."""
    return curves(figure_style(width), rows, Axes(x="epoch or step"), lines)
