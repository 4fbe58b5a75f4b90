"""Accuracy along training, by checkpoint, as in Conneau et al. (2018), figure 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sentprobe.core.table import plain
from sentprobe.lab.charts._training_curves import curves_with_training
from sentprobe.report.drawing.chart import INTERVAL_COLUMNS, NAME_COLUMNS, Chart, OnPage, Options
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style
from sentprobe.report.drawing.lines import CURVE_FIELDS, INTERVAL_CAPTION, LINES_OPTION, Axes, curve_rows, curves
from sentprobe.report.types import Summary

MAX_TICKS = 10
"""Epochs that are all labelled."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per encoder (without its number), set and number of the checkpoint; first those of training scores."""
    found = curve_rows(summary, "epoch", options)
    return [*_training_rows(summary, found), *found]


def _training_rows(summary: Summary, rows: Sequence[Row]) -> list[Row]:
    """A row per encoder and checkpoint with a training score; ``points`` is that score as it is usually printed."""
    known = dict(enumerate(summary.training))
    points: dict[tuple[str, int], Row] = {}
    for row in rows:
        if (score := known.get(row["column"])) is not None:
            same = {name: row[name] for name in ("series_name", "column", "encoder_name", "epoch", "x")}
            metric = plain(score.metric)
            points.setdefault(
                (row["encoder_name"], row["x"]),
                {
                    "set": None, "set_name": f"training: {metric}", **same, "metric": metric,
                    **dict.fromkeys(CURVE_FIELDS), "points": score.value,
                    "text": f"{row['encoder_name']}, epoch {row['x']:g}, training: {metric} {score.value:.4g}",
                },
            )  # fmt: skip
    return list(points.values())


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Epochs or steps from left to right."""
    training, scores = ([row for row in rows if (row["set"] is None) is which] for which in (True, False))
    epochs = sorted({row["x"] for row in scores})
    axes = Axes(x="epoch or step", ticks=epochs if len(epochs) <= MAX_TICKS else None)
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


chart = Chart(
    name="epochs",
    order=50,
    title="Scores along training",
    doc="accuracy along training, for checkpoints whose names differ in a number after epoch, checkpoint or step",
    needs="A figure of epochs needs checkpoints of one encoder whose names differ in a number after epoch, checkpoint "
    "or step, such as -e 'trained:FOLDER?epoch=all' or -e st:model/epoch-1 -e st:model/epoch-2; there are none.",
    rows=rows,
    spec=spec,
    fields=("set", "set_name", "series_name", "column", "encoder_name", "metric", "epoch", "x", *CURVE_FIELDS),
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
