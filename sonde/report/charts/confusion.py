"""What an encoder's probe took for what, on one set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.errors import UsageError
from sonde.report.charts.figure_style import Row, Spec, Width, figure_style, single_view
from sonde.report.charts.matrix import Matrix, cells
from sonde.report.charts.options import Options, selected_columns, selected_sets
from sonde.report.names import truncate_names

NEEDS = "A confusion matrix needs the predictions of a set that is scored by accuracy and has at most 24 labels."
MAX_SQUARE_LABELS = 8
"""With so many labels, cells have room to be square."""


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options, which must name one set and one encoder where there are several."""
    titles, names = selected_sets(summary, options.sets), selected_columns(summary, options.columns)
    there = [(i, j) for i in titles for j in names if rows(summary, set=i, column=j)]
    if not there:
        raise UsageError(f"{NEEDS} There is none.")
    for which, option, all_names in ((0, "--set", titles), (1, "--encoder", names)):
        found = list(dict.fromkeys(pair[which] for pair in there))
        if len(found) > 1:
            raise UsageError(
                f"A confusion matrix is of one set and one encoder: name one by {option}. There are "
                f"{', '.join(all_names[i] for i in found)}."
            )
    (i, j), *_ = there
    found_rows = rows(summary, set=i, column=j)
    return found_rows, spec(found_rows, width=options.width)


def rows(summary: Mapping[str, Any], *, set: int, column: int) -> list[Row]:
    """A row per true and predicted label; ``share`` is of the rows with that true label."""
    mistakes = (summary.get("mistakes") or [None] * len(summary["sets"]))[set]
    of = mistakes and mistakes["columns"][column]
    if not of or not of.get("confusion"):
        return []
    labels = truncate_names([str(label) for label in mistakes["labels"]])
    found = []
    for truth, line in zip(labels, of["confusion"], strict=True):
        total = sum(line)
        for predicted, n in zip(labels, line, strict=True):
            share = n / total if total else None
            said = "" if share is None else f" ({100 * share:.1f} %)"
            found.append(
                {
                    "set": set, "column": column, "truth": truth, "predicted": predicted, "n": n, "share": share,
                    "written": n or None, "text": f"{truth} taken for {predicted}: {n:,}{said}",
                }
            )  # fmt: skip
    return found


def spec(rows: Sequence[Row], *, width: Width = "container") -> Spec:
    """True labels go down, predicted ones across; rows are counted, and coloured by their share of the true label."""
    style = figure_style(width)
    labels = list(dict.fromkeys(row["truth"] for row in rows))
    matrix = Matrix(
        x="predicted", y="truth", xs=labels, ys=labels, value="share", text_field="written", domain=(0.0, 1.0),
        format=",",
        short=",", title="share of the true label", x_title="predicted", y_title="true",
        row_height=2.6 if len(labels) <= MAX_SQUARE_LABELS else 1.6,
    )  # fmt: skip
    return single_view(cells(style, matrix, rows, style.total - style.label_width(labels)), rows, style)
