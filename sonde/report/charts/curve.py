"""Accuracy along the size of the vectors or along training: rows of ``summary["curves"]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sonde.report.charts.figure_style import Row, numbers
from sonde.report.charts.options import selected_sets
from sonde.report.escape import plain
from sonde.report.interval import in_points
from sonde.report.names import short_names


def curve_rows(
    summary: Mapping[str, Any],
    along: Literal["dimension", "epoch"],
    sets: Sequence[int] = (),
    columns: Sequence[int] = (),
) -> list[Row]:
    """A row per series, set and place along the axis, ``x``; a series is drawn as an encoder is."""
    curves = (summary.get("curves") or {}).get(along, ())
    titles = selected_sets(summary, sets)
    curves = [
        c for c in curves if c["value"] is not None and c["set"] in titles and (not columns or c["column"] in columns)
    ]
    series = list(dict.fromkeys(c["series"] for c in curves))
    short = dict(zip(series, short_names(series), strict=True))
    found = [
        {
            "set": c["set"], "set_name": titles[c["set"]], "series_name": plain(c["series"]), "column": c["column"],
            "encoder_name": short[c["series"]], "metric": summary["sets"][c["set"]]["scored_by"], along: c["x"],
            "x": c["x"], **numbers(c["value"], c["low"], c["high"]),
            "text": f"{short[c['series']]}, {along} {c['x']:g}, {titles[c['set']]}: "
            f"{in_points(c['value'], c['low'], c['high'])}",
        }
        for c in curves
    ]  # fmt: skip
    names = list(short.values())
    return sorted(found, key=lambda row: (names.index(row["encoder_name"]), row["set"], row["x"]))
