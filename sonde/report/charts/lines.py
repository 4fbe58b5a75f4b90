"""Numbers along something that grows: layers, sizes, epochs, tokens. A line per series, in one view or in panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sonde.report.charts.look import Look, Row, Spec, framed, number_axis, points_along, styles, ticks, tooltip
from sonde.report.charts.options import Lines, scored
from sonde.report.charts.panels import Panel, columns_of_legend, grid

FEW = 3
"""So many series have a band for their interval; of more, bands would hide each other."""

MOST = 12
"""Lines in one view, unless more are asked for; and points on a line before they are drawn smaller."""

LEAST = 10
"""Widths of a letter that a panel takes at least."""


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What the rows' ``x`` is."""

    x: str
    scale: Literal["linear", "log", "point"] = "linear"
    ticks: Sequence[Any] | None = None
    """What is written at the axis of ``x``; of the scale "point", all there is, in order."""


def curves(at: Look, rows: Sequence[Row], axes: Axes, lines: Lines | None = None) -> Spec:
    """A line per encoder if there are several, else per set, or as said; what is not a line is a panel.

    Rows have set_name, encoder_name, metric, x, points, points_low, points_high and text.
    """
    many = {name: len({row[name] for row in rows}) for name in ("encoder_name", "set_name")}
    if lines is None:
        lines = "encoder" if many["encoder_name"] > 1 or many["set_name"] > MOST else "set"
    series, panels = ("set_name", "encoder_name") if lines == "set" else ("encoder_name", "set_name")
    names, titles = (list(dict.fromkeys(row[field] for row in rows)) for field in (series, panels))
    drawn = [
        row | {"series": row[series], "dash": names.index(row[series]), "panel": titles.index(row[panels])}
        for row in _beside(at, rows, series, names, axes)
    ]
    if len(titles) == 1:
        return _single(at, drawn, names, axes)

    def draw(panel: Panel) -> Spec:
        own = [row for row in drawn if row["panel"] == panel.number]
        here = replace(axes, x=axes.x if panel.last else "")
        title = scored(own) if panel.first or scored(own) != scored(drawn) else ""
        height = min(max(9 * at.font, 0.6 * panel.width), 18 * at.font)
        return {"height": round(height, 1), **_view(at, own, names, here, title)}

    return grid(at, drawn, titles, draw, beside=4 * at.font, least=LEAST * at.font, gap=3.4 * at.font)


def _beside(at: Look, rows: Sequence[Row], series: str, names: Sequence[str], axes: Axes) -> list[Row]:
    """The rows with ``x_drawn``: a little to either side, where whiskers at one place would hide each other."""
    if axes.scale != "linear" or len(names) <= FEW:
        return [row | {"x_drawn": row["x"]} for row in rows]
    far = max(row["x"] for row in rows) - min(row["x"] for row in rows)
    panels = len({row[name] for row in rows for name in ("set_name", "encoder_name") if name != series})
    plot = 0.65 * at.total if panels == 1 else LEAST * at.font
    step = far * 0.1 * at.font / plot
    return [row | {"x_drawn": row["x"] + step * (names.index(row[series]) - (len(names) - 1) / 2)} for row in rows]


def _single(at: Look, rows: Sequence[Row], names: Sequence[str], axes: Axes) -> Spec:
    """One view, whose lines have their names at their ends: a legend would have to be matched with ten colours."""
    height = max(22 * at.font, 1.3 * at.font * len(names))
    ends = {row["series"]: i for i, row in enumerate(rows) if row["points"] is not None}
    low, *_, high = _marks(rows)
    apart = 1.15 * at.font * (high - low) / height
    labels = dict(zip(ends.values(), spread([rows[i]["points"] for i in ends.values()], apart, low, high), strict=True))
    drawn = [row | {"label_y": labels.get(i)} for i, row in enumerate(rows)]
    view = _view(at, drawn, names, axes, scored(drawn), legend=False)
    if len(names) > 1:
        view["layer"] += _labels(at, names, points_along(_marks(drawn), "points", scored(drawn)))
    return framed(view, drawn, at, height=height)


def spread(values: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """The values moved as little as it takes to have them so far apart, in their order, between two ends."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    found = [values[i] for i in order]
    apart = min(apart, (high - low) / max(1, len(values) - 1))
    groups: list[list[float]] = []  # neighbours that touch move together, around their mean
    for value in found:
        groups.append([value])
        while len(groups) > 1 and _top(groups[-2], apart, low, high) + apart > _bottom(groups[-1], apart, low, high):
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = [_bottom(group, apart, low, high) + k * apart for group in groups for k in range(len(group))]
    result = [0.0] * len(values)
    for i, value in zip(order, placed, strict=True):
        result[i] = value
    return result


def _bottom(group: Sequence[float], apart: float, low: float, high: float) -> float:
    tall = apart * (len(group) - 1)
    return max(low, min(high - tall, sum(group) / len(group) - tall / 2))


def _top(group: Sequence[float], apart: float, low: float, high: float) -> float:
    return _bottom(group, apart, low, high) + apart * (len(group) - 1)


def _marks(rows: Sequence[Row]) -> list[float]:
    return ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))


def _view(at: Look, rows: Sequence[Row], names: Sequence[str], axes: Axes, title: str, *, legend: bool = True) -> Spec:
    y = points_along(_marks(rows), "points", title)
    key = {"title": None, "orient": "bottom", "columns": columns_of_legend(at, names)}
    colour, shape, dash = styles(at, "series", names, key if legend and len(names) > 1 else None)
    ends = {"y": {**y, "field": "points_low"}, "y2": {"field": "points_high"}, "color": colour}
    if len(names) <= FEW:
        around: Spec = {"mark": {"type": "area", "opacity": 0.18}, "encoding": ends}
    else:
        around = {"mark": {"type": "rule", "opacity": 0.45, "strokeWidth": 0.7}, "encoding": ends}
    crowded = len({row["x"] for row in rows}) > MOST
    return {
        "encoding": {"x": _x(at, axes)},
        "layer": [
            around,
            {
                "mark": {"type": "line", "strokeWidth": at.font / 6},
                "encoding": {"y": y, "color": colour, "strokeDash": dash},
            },
            {
                "mark": {"type": "point", "filled": True, "size": at.dot(8 if crowded else 15), "opacity": 1},
                "encoding": {"y": y, "color": colour, "shape": shape, "tooltip": tooltip()},
            },
        ],
    }


def _x(at: Look, axes: Axes) -> Spec:
    if axes.scale == "point":
        scale: Spec = {"domain": list(axes.ticks or ()), "padding": 0.3}
        return {
            "field": "x_drawn",
            "type": "ordinal",
            "scale": scale,
            "axis": number_axis(axes.x, grid=False, labelAngle=0),
        }
    scale = {"type": axes.scale, "nice": False, "zero": False, "padding": at.font / 1.5}
    axis = number_axis(axes.x, axes.ticks, grid=False, labelOverlap="greedy", format=",.10~g")
    return {"field": "x_drawn", "type": "quantitative", "scale": scale, "axis": axis}


def _labels(at: Look, names: Sequence[str], y: Spec) -> list[Spec]:
    """Names at the right edge, each led to by a line from the end of its own."""
    colour, _, _ = styles(at, "series", names, None)
    there = [{"filter": {"field": "label_y", "valid": True}}]
    return [
        {
            "transform": there,
            "mark": {"type": "rule", "strokeWidth": at.font / 12, "opacity": 0.7, "xOffset": at.font / 3},
            "encoding": {
                "x2": {"value": "width"},
                "y": y,
                "y2": {"field": "label_y"},
                "color": colour,
            },
        },
        {
            "transform": there,
            "mark": {"type": "text", "align": "left", "dx": at.font / 2},
            "encoding": {
                "x": {"value": "width"},
                "y": {**y, "field": "label_y"},
                "text": {"field": "series", "type": "nominal"},
            },
        },
    ]
