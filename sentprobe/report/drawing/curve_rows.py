"""Rows of a curve: accuracy by embedding dimension or along training."""

from __future__ import annotations

from typing import Literal

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.drawing.figure_style import Row, numbers
from sentprobe.report.drawing.options import Options, selected_sets
from sentprobe.report.names import short_names
from sentprobe.report.types import Summary

CURVE_FIELDS = ("value", "low", "high", "points", "points_low", "points_high")
"""The fields that ``numbers`` makes."""


def curve_rows(summary: Summary, along: Literal["dimension", "epoch"], options: Options) -> list[Row]:
    """A row per series, set and position on the axis, ``x``; a series is drawn like an encoder."""
    titles = selected_sets(summary, options.sets)
    curves = [
        c
        for c in (summary.curves.dimension if along == "dimension" else summary.curves.epoch)
        if c.set in titles and (not options.columns or c.column in options.columns)
    ]
    series = list(dict.fromkeys(c.series for c in curves))
    short = dict(zip(series, short_names(series), strict=True))
    found: list[Row] = [
        {
            "set": c.set, "set_name": titles[c.set], "series_name": plain(c.series), "column": c.column,
            "encoder_name": short[c.series], "metric": summary.sets[c.set].scored_by, along: c.x,
            "x": c.x, **numbers(c.value, c.low, c.high),
            "text": f"{short[c.series]}, {along} {c.x:g}, {titles[c.set]}: "
            f"{POINTS.with_interval(c.value, c.low, c.high)}",
        }
        for c in curves
    ]  # fmt: skip
    names = list(short.values())
    return sorted(found, key=lambda row: (names.index(row["encoder_name"]), row["set"], row["x"]))
