"""Accuracy along training, by checkpoint, as in Conneau et al. (2018), figure 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sentprobe.core.table import plain
from sentprobe.report.drawing.chart import INTERVAL_COLUMNS, NAME_COLUMNS, Chart, Lines, OnPage, Options
from sentprobe.report.drawing.figure_style import FigureStyle, Row, Spec, figure_style, number_axis, styles, tooltip
from sentprobe.report.drawing.lines import (
    CURVE_FIELDS,
    INTERVAL_CAPTION,
    LINES_OPTION,
    Axes,
    curve_rows,
    curves,
    lay_out,
    lines_panel,
    panel_height,
    panels_of_lines,
    x_encoding,
)
from sentprobe.report.drawing.matrix import Panel, legend_columns
from sentprobe.report.types import Summary
from sentprobe.results.metric import METRICS

TIME_WORD = re.compile(r"epoch|checkpoint|step", re.IGNORECASE)
MAX_TICKS = 10
"""Epochs that are all labelled."""
THIN = 5.5
"""The height of a panel above another, in font sizes."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per encoder (without its number), set and number of the checkpoint; first those of training scores."""
    score_rows = [
        row | {"unit": _unit(summary.columns[row["column"]].encoder)} for row in curve_rows(summary, "epoch", options)
    ]
    return [*_training_rows(summary, score_rows), *score_rows]


def _unit(encoder: str) -> str:
    """What the number in the name of a checkpoint counts."""
    units = {match[0].lower() for match in TIME_WORD.finditer(encoder)}
    return units.pop() if len(units) == 1 else "epoch or step"


def _training_rows(summary: Summary, rows: Sequence[Row]) -> list[Row]:
    """A row per encoder and checkpoint with a training score; ``points`` is that score as it is usually printed."""
    training_scores = dict(enumerate(summary.training))
    points: dict[tuple[str, int], Row] = {}
    for row in rows:
        if (score := training_scores.get(row["column"])) is not None:
            identity = {name: row[name] for name in ("series_name", "column", "encoder_name", "unit", "epoch", "x")}
            metric = plain(score.metric)
            points.setdefault(
                (row["encoder_name"], row["x"]),
                {
                    "set": None,
                    "set_name": f"training: {metric}",
                    **identity,
                    "metric": metric,
                    **dict.fromkeys(CURVE_FIELDS),
                    "points": score.value,
                    "text": f"{row['encoder_name']}, epoch {row['x']:g}, training: {metric} {score.value:.4g}",
                },
            )
    return list(points.values())


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Epochs or steps from left to right."""
    training, scores = ([row for row in rows if (row["set"] is None) is is_training] for is_training in (True, False))
    epochs = sorted({row["x"] for row in scores})
    units = list(dict.fromkeys(row["unit"] for row in scores))
    axes = Axes(x=units[0] if len(units) == 1 else "epoch or step", ticks=epochs if len(epochs) <= MAX_TICKS else None)
    if training:
        return curves_with_training(figure_style(options.width), scores, training, axes, options.lines)
    return curves(figure_style(options.width), scores, axes, options.lines)


def notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    """What the scores of training are."""
    metrics = dict.fromkeys(row["metric"] for row in rows if row["set"] is None)
    worse = {score.metric for score in summary.training if score is not None and not score.maximise}
    if metrics:
        named = [f"{metric} (less is better)" if metric in worse else metric for metric in metrics]
        yield f"Training: {', '.join(named)} on held-out data."


# Curves with training scores


def curves_with_training(
    style: FigureStyle, rows: Sequence[Row], training: Sequence[Row], axes: Axes, lines: Lines | None
) -> Spec:
    """Curves as ``lines.curves`` draws them, and training scores.

    Where a line is an encoder, each kind of training score has a panel, before those of the sets. Where it is a set, it
    is above the panel of its encoder. Rows of training scores have encoder_name, metric, x, points and text.
    """
    layout = lay_out(style, rows, axes, lines)
    score_rows = [row | {"training": False} for row in layout.rows]
    if layout.lines == "set":
        panel_number = layout.titles.index
        training_rows = [
            row
            | {
                "training": True,
                "series": row["metric"],
                "panel": panel_number(row["encoder_name"]),
            }
            for row in training
        ]

        def stack(panel: Panel) -> Spec:
            return _stacked(style, score_rows, training_rows, layout.names, axes, panel)

        return panels_of_lines(style, [*training_rows, *score_rows], layout.titles, stack)
    metrics = list(dict.fromkeys(row["metric"] for row in training))
    names = layout.names
    training_rows = [
        row
        | {"training": True, "series": row["encoder_name"], "dash": names.index(row["encoder_name"])}
        | {"panel": metrics.index(row["metric"])}
        for row in training
    ]
    score_rows = [row | {"panel": row["panel"] + len(metrics)} for row in score_rows]

    def draw(panel: Panel) -> Spec:
        if panel.number >= len(metrics):
            # the first panel of scores has the title of their axis, wherever it is
            panel_of_curves = panel._replace(first=panel.first or panel.number == len(metrics))
            return lines_panel(style, score_rows, names, axes, panel_of_curves)
        panel_axes = replace(axes, x=axes.x if panel.last else "")
        return {
            "height": panel_height(style, panel),
            **_view(style, names, panel_axes, _axis_title(metrics[panel.number]), _ends(score_rows)),
        }

    titles = [*(f"training: {metric}" for metric in metrics), *layout.titles]
    return panels_of_lines(style, [*training_rows, *score_rows], titles, draw)


def _stacked(
    style: FigureStyle, rows: Sequence[Row], training: Sequence[Row], names: Sequence[str], axes: Axes, panel: Panel
) -> Spec:
    """The training score of an encoder above its scores; these alone if it has none."""
    scores_view = lines_panel(style, rows, names, axes, panel)
    metrics = list(dict.fromkeys(row["metric"] for row in training if row["panel"] == panel.number))
    if not metrics:
        return scores_view
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
    scores_view = {**scores_view, "transform": [_is_training(False)]}
    return {"vconcat": [{**view, "width": panel.width} for view in (*views, scores_view)], "spacing": style.font / 2}


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
    positions = [row["x"] for row in rows]
    return min(positions), max(positions)


def _axis_title(metric: str) -> str:
    part = METRICS.parts().get(metric)
    return metric if part is None else part.axis_title


def _is_training(value: bool) -> Spec:
    return {"filter": {"field": "training", "equal": value}}


chart = Chart(
    name="epochs",
    order=50,
    title="Scores along training",
    doc="accuracy along training, for checkpoints whose names differ in a number after epoch, checkpoint or step",
    needs="A figure of epochs needs checkpoints of one encoder whose names differ in a number after epoch, checkpoint "
    "or step, such as -e 'trained:FOLDER?epoch=all' or -e st:model/epoch-1 -e st:model/epoch-2; there are none.",
    rows=rows,
    spec=spec,
    fields=("set", "set_name", "series_name", "column", "encoder_name", "metric", "unit", "epoch", "x", *CURVE_FIELDS),
    options={"lines": LINES_OPTION},
    caption=INTERVAL_CAPTION,
    notes=notes,
    page=OnPage(
        section="trends",
        heading="Training",
        caption="Scores by epoch, step or checkpoint, with {level} intervals; and the score of training, if it is "
        "known.",
        columns=(*NAME_COLUMNS, ("x", "Epoch or step"), *INTERVAL_COLUMNS),
        absent="No encoder was run at several epochs, steps or checkpoints.",
    ),
)
