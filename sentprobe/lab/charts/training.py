"""The loss of training and the scores on dev, epoch by epoch: Conneau (2019), figure 4.5."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sentprobe.core.table import plain
from sentprobe.encoders.identity import Spec as EncoderName
from sentprobe.errors import UsageError
from sentprobe.lab.networks.folder import open_folder
from sentprobe.lab.training.history import read_history, score_title
from sentprobe.report.drawing.chart import Chart, Options
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, number_axis, styles, tooltip
from sentprobe.report.drawing.lines import Axes, panel_height, panels_of_lines, x_encoding
from sentprobe.report.drawing.matrix import Panel, legend_columns
from sentprobe.report.names import short_names
from sentprobe.report.types import Summary

LOSS = "loss of training"
BEFORE = " before training"
"""How facts of a folder end that are scores of epoch 0."""
MAX_TICKS = 10


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per encoder, measure and epoch; ``value`` is the measure as it is."""
    measure_rows: list[Row] = []
    for j, (name, short_name) in enumerate(zip(options.encoders, short_names(options.encoders), strict=True)):
        for epoch, measure, value in _measures(name):
            if math.isfinite(value):
                cells = {"column": j, "encoder_name": short_name, "measure": measure, "epoch": epoch, "value": value}
                measure_rows.append({**cells, "text": f"{short_name}, epoch {epoch}, {measure}: {value:.4g}"})
    return measure_rows


def _measures(name: str) -> Iterator[tuple[int, str, float]]:
    """Epoch, name and value of what the folder of an encoder tells."""
    spec = EncoderName.parse(name)
    if spec.scheme != "trained" or not spec.path:
        raise UsageError(
            f"{name} has no epochs of training; expected trained:FOLDER, of `sentprobe train … -o FOLDER`."
        )
    folder = open_folder(Path(spec.path).expanduser())
    history = read_history(folder)
    for fact, value in folder.config.get("facts", {}).items():
        if fact.endswith(BEFORE) and isinstance(value, int | float):
            yield 0, plain(score_title(fact.removesuffix(BEFORE))), float(value)
    for epoch in history.finished:
        yield epoch.number, LOSS, epoch.loss
        for measure in history.score_names:
            if measure in epoch.scores:
                yield epoch.number, plain(score_title(measure)), epoch.scores[measure]


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per measure with an axis of its own, a line per encoder."""
    style = figure_style(options.width)
    names = list(dict.fromkeys(row["encoder_name"] for row in rows))
    measures = sorted(dict.fromkeys(row["measure"] for row in rows), key=lambda measure: measure != LOSS)
    panel_rows = [
        row
        | {"series": row["encoder_name"], "dash": names.index(row["encoder_name"]), "x": row["epoch"]}
        | {"panel": measures.index(row["measure"])}
        for row in rows
    ]
    epochs = sorted({row["epoch"] for row in rows})
    ticks = epochs if len(epochs) <= MAX_TICKS else None
    key = {"title": None, "orient": "bottom", "columns": legend_columns(style, names)}
    colour, shape, dash = styles(style, "series", names, key if len(names) > 1 else None)

    def draw(panel: Panel) -> Spec:
        x = x_encoding(style, Axes(x="epoch" if panel.last else "", ticks=ticks))
        x = {**x, "scale": {**x["scale"], "domain": [epochs[0], epochs[-1]]}}
        scale = {"zero": False, "nice": True}
        y = {"field": "value", "type": "quantitative", "scale": scale, "axis": number_axis("", tickCount=4)}
        return {
            "height": panel_height(style, panel),
            "encoding": {"x": x, "y": y, "color": colour},
            "layer": [
                {"mark": {"type": "line", "strokeWidth": style.font / 6}, "encoding": {"strokeDash": dash}},
                {
                    "mark": {"type": "point", "filled": True, "size": style.dot(15), "opacity": 1},
                    "encoding": {"shape": shape, "tooltip": tooltip()},
                },
            ],
        }

    return panels_of_lines(style, panel_rows, measures, draw)


def notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    """What cannot be seen from the axes."""
    if any(row["epoch"] == 0 for row in rows):
        yield "Epoch 0: before training."


chart = Chart(
    name="training",
    order=55,
    title="Loss and scores along training",
    doc="the loss of training and the scores on dev by epoch, for encoders of `sentprobe train`",
    needs="A figure of training needs encoders of `sentprobe train` with an epoch at least, such as -e trained:FOLDER; "
    "there is none.",
    rows=rows,
    spec=spec,
    fields=("column", "encoder_name", "measure", "epoch", "value"),
    caption="The loss is the mean over the training examples of an epoch; the other measures are on dev.",
    notes=notes,
    needs_run=False,
)
