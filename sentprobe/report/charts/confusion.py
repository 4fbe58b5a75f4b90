"""Confusion matrix: which labels an encoder's probe confuses on one set."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.errors import UsageError
from sentprobe.report.drawing.chart import Chart, Options, selected_columns, selected_sets
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, single_view
from sentprobe.report.drawing.matrix import Matrix, cells
from sentprobe.report.names import truncate_names
from sentprobe.report.types import Summary

MAX_SQUARE_LABELS = 8
"""Up to this many labels, there is room for square cells."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per true and predicted label, for the one set and encoder that the options must leave."""
    titles, names = selected_sets(summary, options.sets), selected_columns(summary, options.columns)
    pairs = [(i, j) for i in titles for j in names if matrix_rows(summary, i, j)]
    if not pairs:
        return []
    for which, option, all_names in ((0, "--on", titles), (1, "--encoder", names)):
        indices = list(dict.fromkeys(pair[which] for pair in pairs))
        if len(indices) > 1:
            raise UsageError(
                f"A confusion matrix shows one set and one encoder; choose one with {option}: "
                f"{', '.join(all_names[i] for i in indices)}."
            )
    return matrix_rows(summary, *pairs[0])


def matrix_rows(summary: Summary, set: int, column: int) -> list[Row]:
    """The rows of one set and encoder; ``share`` is relative to the rows with that true label."""
    errors = summary.errors[set] if summary.errors else None
    column_errors = errors.columns[column] if errors else None
    if not errors or not column_errors or not column_errors.confusion:
        return []
    label_names = summary.sets[set].label_names
    labels = truncate_names([label_names.get(str(label), str(label)) for label in errors.labels])
    records: list[Row] = []
    for truth, counts in zip(labels, column_errors.confusion, strict=True):
        total = sum(counts)
        for predicted, n in zip(labels, counts, strict=True):
            share = n / total if total else None
            percent = "" if share is None else f" ({POINTS.number(share)} %)"
            records.append(
                {
                    "set": set,
                    "column": column,
                    "truth": truth,
                    "predicted": predicted,
                    "n": n,
                    "share": share,
                    "written": n or None,
                    "text": f"true {truth}, predicted {predicted}: {n:,}{percent}",
                }
            )
    return records


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """True labels go down, predicted ones across; cells count rows; their colour is the share of the true label."""
    style = figure_style(options.width)
    labels = list(dict.fromkeys(row["truth"] for row in rows))
    matrix = Matrix(
        x="predicted",
        y="truth",
        xs=labels,
        ys=labels,
        value="share",
        text_field="written",
        domain=(0.0, 1.0),
        format=",",
        short=",",
        title="share of the true label",
        x_title="predicted",
        y_title="true",
        row_height=2.6 if len(labels) <= MAX_SQUARE_LABELS else 1.6,
    )
    return single_view(cells(style, matrix, rows, style.total - style.label_width(labels)), rows, style)


chart = Chart(
    name="confusion",
    order=100,
    title="Confusion matrix",
    doc="true by predicted labels, for one set and one encoder",
    needs="A confusion matrix needs the predictions of a set that is scored by accuracy and has at most 24 labels; the "
    "run has none.",
    rows=rows,
    spec=spec,
    caption="Test rows by true and predicted label.",
)
