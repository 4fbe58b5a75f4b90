"""Figures as plain data and Vega-Lite: one file a figure.

Each has ``rows(summary, …)``, the numbers, which a CSV file can hold, and ``spec(rows, width=…)``, a Vega-Lite spec
with them under ``data.values``. ``width`` is in points, for a paper, or "container", for the page; there, figures of
several panels have a fixed width, as Vega-Lite fits only single views. Texts of the data stand in rows, in domains of
scales and in titles, never in expressions or names of fields.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sonde.errors import UsageError
from sonde.report.charts.figure_style import Row, Spec
from sonde.report.charts.options import Options

__all__ = ["CHARTS", "Options", "chart"]

CHARTS: Mapping[str, str] = MappingProxyType(
    {
        "heatmap": "sonde.report.charts.heatmap",
        "intervals": "sonde.report.charts.intervals",
        "layers": "sonde.report.charts.layers",
        "dimensions": "sonde.report.charts.dimensions",
        "epochs": "sonde.report.charts.epochs",
        "learning": "sonde.report.charts.learning",
        "length": "sonde.report.charts.length",
        "correlation": "sonde.report.charts.correlation",
        "profiles": "sonde.report.charts.profiles",
        "confusion": "sonde.report.charts.confusion",
    }
)
"""Kind of figure → the module that draws it."""


def chart(kind: str, summary: Mapping[str, Any], options: Options | None = None) -> tuple[list[Row], Spec]:
    """The rows of a figure and its spec. UsageError if the summary has nothing for it, or there is no such kind."""
    if kind not in CHARTS:
        raise UsageError(f"There is no figure {kind!r}; expected {', '.join(CHARTS)}.")
    if summary["metric"] != "accuracy":
        raise UsageError(f"Figures are of accuracy; the summary is of {summary['metric']}.")
    found: tuple[list[Row], Spec] = importlib.import_module(CHARTS[kind]).chart(summary, options or Options())
    return found
