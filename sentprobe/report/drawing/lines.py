"""Curves with intervals, a panel per set or a line per set, and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.drawing.chart import Lines, Options, score_title, selected_sets
from sentprobe.report.drawing.figure_style import (
    FigureStyle,
    Row,
    Spec,
    number_axis,
    numbers,
    points_axis,
    single_view,
    styles,
    ticks,
    tooltip,
)
from sentprobe.report.drawing.matrix import Draw, Panel, grid, legend_columns
from sentprobe.report.names import short_names
from sentprobe.report.types import Summary

INTERVAL_CAPTION = "Bands or lines: {level} intervals."
LINES_OPTION = "`--lines set` or `encoder`: what a line is; the other one is a panel"

MAX_BANDS, BAND_OPACITY = 6, 0.18
"""Up to this many series have a band for their interval, fainter from four on; more bands would hide each other."""

MAX_LINES = 12
"""Lines in one view, unless more are requested; and points on a line before they are drawn smaller."""

MIN_PANEL_WIDTH = 10
"""The minimum width of a panel, in font sizes."""


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What the rows' ``x`` is."""

    x: str
    scale: Literal["linear", "log", "point"] = "linear"
    ticks: Sequence[Any] | None = None
    """Ticks of the axis; for the scale "point", all values, in order."""


@dataclass(frozen=True)
class LineLayout:
    """Which lines and panels there are."""

    lines: Lines
    names: list[str]
    """Of the lines."""
    titles: list[str]
    """Of the panels."""
    rows: list[Row]
    """With ``series``, ``dash`` (the number of the line) and ``panel``."""


def lay_out(style: FigureStyle, rows: Sequence[Row], axes: Axes, lines: Lines | None) -> LineLayout:
    """Lines and panels of rows: a line is an encoder if there are several, else a set, or as given."""
    counts = {name: len({row[name] for row in rows}) for name in ("encoder_name", "set_name")}
    if lines is None:
        lines = "encoder" if counts["encoder_name"] > 1 or counts["set_name"] > MAX_LINES else "set"
    series, panels = ("set_name", "encoder_name") if lines == "set" else ("encoder_name", "set_name")
    names, titles = (list(dict.fromkeys(row[field] for row in rows)) for field in (series, panels))
    panel_rows = [
        row | {"series": row[series], "dash": names.index(row[series]), "panel": titles.index(row[panels])}
        for row in rows
    ]
    return LineLayout(lines, names, titles, panel_rows)


@dataclass(frozen=True)
class Reference:
    """A horizontal line in the panel of a set, to compare its curves with."""

    set_name: str
    kind: str
    points: float
    text: str
    """The tooltip."""


REFERENCE_LINES = {"best baseline": ((4, 2), "#5a5a5a"), "human": ((7, 1.5, 1, 1.5), "#009E73")}
"""Dashes and colour of each kind."""


def curves(
    style: FigureStyle,
    rows: Sequence[Row],
    axes: Axes,
    lines: Lines | None = None,
    references: Sequence[Reference] = (),
) -> Spec:
    """A line per encoder if there are several, else per set, or as given; what is not a line is a panel.

    Rows have set_name, encoder_name, metric, x, points, points_low, points_high and text. References are drawn where
    each set has a panel.
    """
    layout = lay_out(style, rows, axes, lines)
    panel_rows, names, titles = layout.rows, layout.names, layout.titles
    if layout.lines == "encoder" and references:
        return panels_of_lines(
            style,
            panel_rows,
            titles,
            lambda panel: lines_panel(
                style, panel_rows, names, axes, panel, [r for r in references if r.set_name == titles[panel.number]]
            ),
        )
    if len(titles) == 1:
        return _single(style, panel_rows, names, axes)

    return panels_of_lines(style, panel_rows, titles, lambda panel: lines_panel(style, panel_rows, names, axes, panel))


def panels_of_lines(style: FigureStyle, rows: Sequence[Row], titles: Sequence[str], draw: Draw) -> Spec:
    """Panels of curves, with room for their axes."""
    return grid(
        style,
        rows,
        titles,
        draw,
        label_width=4 * style.font,
        min_width=MIN_PANEL_WIDTH * style.font,
        gap=3.4 * style.font,
    )


def lines_panel(
    style: FigureStyle,
    rows: Sequence[Row],
    names: Sequence[str],
    axes: Axes,
    panel: Panel,
    references: Sequence[Reference] = (),
) -> Spec:
    """The view of one panel."""
    rows_of_panel = [row for row in rows if row["panel"] == panel.number]
    own_axes = replace(axes, x=axes.x if panel.last else "")
    title = score_title(rows_of_panel) if panel.first or score_title(rows_of_panel) != score_title(rows) else ""
    view = _view(style, rows_of_panel, names, own_axes, title, references=references)
    return {"height": panel_height(style, panel), **view}


def panel_height(style: FigureStyle, panel: Panel) -> float:
    """The height of a panel, from its width."""
    return round(min(max(9 * style.font, 0.6 * panel.width), 18 * style.font), 1)


def _single(style: FigureStyle, rows: Sequence[Row], names: Sequence[str], axes: Axes) -> Spec:
    """One view, with names at the ends of the lines: a legend of ten colours is hard to match."""
    height = max(22 * style.font, 1.3 * style.font * len(names))
    ends = {row["series"]: i for i, row in enumerate(rows) if row["points"] is not None}
    low, *_, high = _marks(rows)
    min_gap = 1.15 * style.font * (high - low) / height
    labels = dict(
        zip(ends.values(), spread([rows[i]["points"] for i in ends.values()], min_gap, low, high), strict=True)
    )
    labelled = [row | {"label_y": labels.get(i)} for i, row in enumerate(rows)]
    view = _view(style, labelled, names, axes, score_title(labelled), legend=False)
    if len(names) > 1:
        view["layer"] += _labels(style, names, points_axis(_marks(labelled), "points", score_title(labelled)))
    return single_view(view, labelled, style, height=height)


def spread(values: Sequence[float], min_gap: float, low: float, high: float) -> list[float]:
    """The values, moved as little as needed for this gap between them, in order and within bounds."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ordered = [values[i] for i in order]
    min_gap = min(min_gap, (high - low) / max(1, len(values) - 1))
    groups: list[list[float]] = []  # neighbours that touch move together, around their mean
    for value in ordered:
        groups.append([value])
        while len(groups) > 1 and _top(groups[-2], min_gap, low, high) + min_gap > _bottom(
            groups[-1], min_gap, low, high
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = [_bottom(group, min_gap, low, high) + k * min_gap for group in groups for k in range(len(group))]
    result = [0.0] * len(values)
    for i, value in zip(order, placed, strict=True):
        result[i] = value
    return result


def _bottom(group: Sequence[float], min_gap: float, low: float, high: float) -> float:
    tall = min_gap * (len(group) - 1)
    return max(low, min(high - tall, sum(group) / len(group) - tall / 2))


def _top(group: Sequence[float], min_gap: float, low: float, high: float) -> float:
    return _bottom(group, min_gap, low, high) + min_gap * (len(group) - 1)


def _marks(rows: Sequence[Row], references: Sequence[Reference] = ()) -> list[float]:
    values = [row[name] for row in rows for name in ("points", "points_low", "points_high")]
    return ticks([*values, *(reference.points for reference in references)])


def _reference_lines(style: FigureStyle, references: Sequence[Reference], y: Spec) -> list[Spec]:
    """Lines from edge to edge, with data of their own."""
    return [
        {
            "data": {"values": [{"points": reference.points, "text": reference.text}]},
            "mark": {"type": "rule", "color": colour, "strokeDash": style.dash(dash), "strokeWidth": style.font / 9},
            "encoding": {"x": {"value": 0}, "x2": {"value": "width"}, "y": y, "tooltip": tooltip()},
        }
        for reference in references
        for dash, colour in [REFERENCE_LINES[reference.kind]]
    ]


def _view(
    style: FigureStyle,
    rows: Sequence[Row],
    names: Sequence[str],
    axes: Axes,
    title: str,
    *,
    legend: bool = True,
    references: Sequence[Reference] = (),
) -> Spec:
    y = points_axis(_marks(rows, references), "points", title)
    key = {"title": None, "orient": "bottom", "columns": legend_columns(style, names)}
    colour, shape, dash = styles(style, "series", names, key if legend and len(names) > 1 else None)
    ends = {"y": {**y, "field": "points_low"}, "y2": {"field": "points_high"}, "color": colour}
    if len(names) <= MAX_BANDS:
        opacity = round(BAND_OPACITY * min(1.0, 3 / len(names)), 3)
        interval_layer: Spec = {"mark": {"type": "area", "opacity": opacity}, "encoding": ends}
    else:
        interval_layer = {"mark": {"type": "rule", "opacity": 0.45, "strokeWidth": 0.7}, "encoding": ends}
    crowded = len({row["x"] for row in rows}) > MAX_LINES
    return {
        "encoding": {"x": x_encoding(style, axes)},
        "layer": [
            *_reference_lines(style, references, y),
            interval_layer,
            {
                "mark": {"type": "line", "strokeWidth": style.font / 6},
                "encoding": {"y": y, "color": colour, "strokeDash": dash},
            },
            {
                "mark": {"type": "point", "filled": True, "size": style.dot(8 if crowded else 15), "opacity": 1},
                "encoding": {"y": y, "color": colour, "shape": shape, "tooltip": tooltip()},
            },
        ],
    }


def x_encoding(style: FigureStyle, axes: Axes) -> Spec:
    """The encoding of ``x``."""
    if axes.scale == "point":
        scale: Spec = {"domain": list(axes.ticks or ()), "padding": 0.3}
        return {
            "field": "x",
            "type": "ordinal",
            "scale": scale,
            "axis": number_axis(axes.x, grid=False, labelAngle=0),
        }
    scale = {"type": axes.scale, "nice": False, "padding": style.font / 1.5}
    scale |= {} if axes.scale == "log" else {"zero": False}  # Vega-Lite warns about it on a logarithmic axis
    axis = number_axis(axes.x, axes.ticks, grid=False, labelOverlap="greedy", format=",.10~g")
    return {"field": "x", "type": "quantitative", "scale": scale, "axis": axis}


def _labels(style: FigureStyle, names: Sequence[str], y: Spec) -> list[Spec]:
    """Names at the right edge, each with a leader from the end of its line."""
    colour, _, _ = styles(style, "series", names, None)
    has_label = [{"filter": {"field": "label_y", "valid": True}}]
    return [
        {
            "transform": has_label,
            "mark": {"type": "rule", "strokeWidth": style.font / 12, "opacity": 0.7, "xOffset": style.font / 3},
            "encoding": {
                "x2": {"value": "width"},
                "y": y,
                "y2": {"field": "label_y"},
                "color": colour,
            },
        },
        {
            "transform": has_label,
            "mark": {"type": "text", "align": "left", "dx": style.font / 2},
            "encoding": {
                "x": {"value": "width"},
                "y": {**y, "field": "label_y"},
                "text": {"field": "series", "type": "nominal"},
            },
        },
    ]


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
    records: list[Row] = [
        {
            "set": c.set,
            "set_name": titles[c.set],
            "series_name": plain(c.series),
            "column": c.column,
            "encoder_name": short[c.series],
            "metric": summary.sets[c.set].scored_by,
            along: c.x,
            "x": c.x,
            **numbers(c.value, c.low, c.high),
            "text": f"{short[c.series]}, {along} {c.x:g}, {titles[c.set]}: "
            f"{POINTS.with_interval(c.value, c.low, c.high)}",
        }
        for c in curves
    ]
    names = list(short.values())
    return sorted(records, key=lambda row: (names.index(row["encoder_name"]), row["set"], row["x"]))
