"""Accuracy by sentence length, one line per encoder, as in Adi et al. (2017), figure 5."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.report.drawing.chart import Chart, Options, selected_columns, selected_sets, share_metric
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, numbers
from sentprobe.report.drawing.lines import Axes, curves
from sentprobe.report.types import Summary
from sentprobe.results.metric import DEFAULT_METRIC


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set, encoder and bin of lengths; ``x`` is the middle of the bin."""
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    records: list[Row] = []
    for i, title in titles.items():
        errors = summary.errors[i] if summary.errors else None
        for j, encoder in short.items():
            column_errors = errors.columns[j] if errors else None
            if column_errors and share_metric(summary.sets[i]) != DEFAULT_METRIC and len(column_errors.length) < 2:
                continue  # single words
            for b in column_errors.length if column_errors else ():
                value = b.correct / b.n
                span = f"{b.low}" if b.low == b.high else f"{b.low} to {b.high}"
                records.append(
                    {
                        "set": i,
                        "set_name": title,
                        "column": j,
                        "encoder_name": encoder,
                        "metric": share_metric(summary.sets[i]),
                        "from": b.low,
                        "to": b.high,
                        "x": (b.low + b.high) / 2,
                        "n": b.n,
                        "correct": b.correct,
                        **numbers(value, b.below, b.above),
                        "text": f"{encoder}, {title}, {span} tokens, {b.n:,} rows: "
                        f"{POINTS.with_interval(value, b.below, b.above)}",
                    }
                )
    return records


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per set."""
    return curves(figure_style(options.width), rows, Axes(x="tokens"), "encoder")


chart = Chart(
    name="length",
    by_accuracy=True,
    order=70,
    title="Scores by sentence length",
    doc="accuracy by sentence length, a line per encoder",
    needs="Accuracy by length needs the predictions and the test rows of a set that is scored by accuracy; the run has "
    "none.",
    rows=rows,
    spec=spec,
    caption="Each point is a bin of sentence lengths with about the same number of test rows; bands or lines: {level} "
    "intervals.",
)
