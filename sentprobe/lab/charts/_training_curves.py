"""Scores along training with the training score itself: above them in the panel of its encoder, or in a panel first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentprobe.report.drawing.chart import METRIC_TITLES, Lines
from sentprobe.report.drawing.figure_style import FigureStyle, Row, Spec, number_axis, styles, tooltip
from sentprobe.report.drawing.lines import (
    Axes,
    lay_out,
    lines_panel,
    panel_height,
    panels_of_lines,
    x_encoding,
)
from sentprobe.report.drawing.matrix import Panel, legend_columns

THIN = 5.5
"""The height of a panel above another, in font sizes."""


def curves_with_training(
    style: FigureStyle, rows: Sequence[Row], training: Sequence[Row], axes: Axes, lines: Lines | None
) -> Spec:
    """Curves as ``lines.curves`` draws them, and training scores.

    Where a line is an encoder, each kind of training score has a panel, before those of the sets. Where it is a set, it
    is above the panel of its encoder. Rows of training scores have encoder_name, metric, x, points and text.
    """
    layout = lay_out(style, rows, axes, lines)
    drawn = [row | {"training": False} for row in layout.rows]
    if layout.lines == "set":
        place = layout.titles.index
        above = [
            row | {"training": True, "series": row["metric"], "panel": place(row["encoder_name"]), "x_drawn": row["x"]}
            for row in training
        ]

        def stack(panel: Panel) -> Spec:
            return _stacked(style, drawn, above, layout.names, axes, panel)

        return panels_of_lines(style, [*above, *drawn], layout.titles, stack)
    metrics = list(dict.fromkeys(row["metric"] for row in training))
    names = layout.names
    first = [
        row
        | {"training": True, "series": row["encoder_name"], "dash": names.index(row["encoder_name"])}
        | {"panel": metrics.index(row["metric"]), "x_drawn": row["x"]}
        for row in training
    ]
    drawn = [row | {"panel": row["panel"] + len(metrics)} for row in drawn]

    def draw(panel: Panel) -> Spec:
        if panel.number >= len(metrics):
            # the first panel of scores has the title of their axis, wherever it is
            here = panel._replace(first=panel.first or panel.number == len(metrics))
            return lines_panel(style, drawn, names, axes, here)
        own = replace(axes, x=axes.x if panel.last else "")
        return {
            "height": panel_height(style, panel),
            **_view(style, names, own, _axis_title(metrics[panel.number]), _ends(drawn)),
        }

    titles = [*(f"training: {metric}" for metric in metrics), *layout.titles]
    return panels_of_lines(style, [*first, *drawn], titles, draw)


def _stacked(
    style: FigureStyle, rows: Sequence[Row], training: Sequence[Row], names: Sequence[str], axes: Axes, panel: Panel
) -> Spec:
    """The training score of an encoder above its scores; these alone if it has none."""
    below = lines_panel(style, rows, names, axes, panel)
    metrics = list(dict.fromkeys(row["metric"] for row in training if row["panel"] == panel.number))
    if not metrics:
        return below
    ends = _ends([row for row in rows if row["panel"] == panel.number])
    views = [
        {
            "height": THIN * style.font,
            **_view(style, (), replace(axes, x=""), ["training:", _axis_title(metric)], ends),
        }
        for metric in metrics
    ]
    for view, metric in zip(views, metrics, strict=True):
        view["transform"] = [_is_training(True), {"filter": {"field": "metric", "equal": metric}}]
    below = {**below, "transform": [_is_training(False)]}
    return {"vconcat": [{**view, "width": panel.width} for view in (*views, below)], "spacing": style.font / 2}


def _view(
    style: FigureStyle,
    names: Sequence[str],
    axes: Axes,
    title: str | list[str],
    ends: tuple[int, int],
) -> Spec:
    """Lines of training scores, on an axis of their own, since they may be anything; without names, one grey line.

    ``ends`` of the horizontal axis: there may be more probing scores than training scores, as before training.
    """
    if names:
        key = {"title": None, "orient": "bottom", "columns": legend_columns(style, names)}
        colour, shape, dash = styles(style, "series", names, key if len(names) > 1 else None)
    else:
        colour, shape, dash = {"value": "#5a5a5a"}, {"value": "circle"}, {"value": [1, 0]}
    x = x_encoding(style, axes)
    x = {**x, "scale": {**x["scale"], "domain": list(ends)}}
    scale = {"zero": False, "nice": True}
    y = {
        "field": "points",
        "type": "quantitative",
        "scale": scale,
        "axis": {**number_axis("", tickCount=3), "title": title},
    }
    return {
        "encoding": {"x": x},
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": style.font / 6},
                "encoding": {"y": y, "color": colour, "strokeDash": dash},
            },
            {
                "mark": {"type": "point", "filled": True, "size": style.dot(15), "opacity": 1},
                "encoding": {"y": y, "color": colour, "shape": shape, "tooltip": tooltip()},
            },
        ],
    }


def _ends(rows: Sequence[Row]) -> tuple[int, int]:
    found = [row["x"] for row in rows]
    return min(found), max(found)


def _axis_title(metric: str) -> str:
    return METRIC_TITLES.get(metric, metric)


def _is_training(value: bool) -> Spec:
    return {"filter": {"field": "training", "equal": value}}
