"""Accuracy by the size of the vectors, as in Conneau et al. (2018), figure 3, and Adi et al. (2017), figure 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.report.charts.curve import curve_rows
from sonde.report.charts.figure_style import Row, Spec, Width, figure_style
from sonde.report.charts.lines import Axes, curves
from sonde.report.charts.options import Lines, Options, require_rows

NEEDS = (
    "A figure of dimensions needs one encoder in several sizes, such as -e 'static:?dim=64' -e static:, in one run or "
    "in several that are named together. There is none."
)
LOG_AXIS_RATIO = 8
"""Sizes that differ by such a factor are drawn on a logarithmic axis."""


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets, columns=options.columns)
    return require_rows(found, NEEDS), spec(found, width=options.width, lines=options.lines)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = (), columns: Sequence[int] = ()) -> list[Row]:
    """A row per encoder without its size, set and size."""
    return curve_rows(summary, "dimension", sets, columns)


def spec(rows: Sequence[Row], *, width: Width = "container", lines: Lines | None = None) -> Spec:
    """The sizes that were tried stand at the axis."""
    sizes = sorted({row["x"] for row in rows})
    wide = sizes[0] > 0 and sizes[-1] >= LOG_AXIS_RATIO * sizes[0]
    axes = Axes(x="dimensions", scale="log" if wide else "linear", ticks=sizes)
    return curves(figure_style(width), rows, axes, lines)
