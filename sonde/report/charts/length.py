"""Accuracy by the length of the sentence, one line per encoder, as in Adi et al. (2017), figure 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.report.charts.figure_style import Row, Spec, Width, figure_style, numbers
from sonde.report.charts.lines import Axes, curves
from sonde.report.charts.options import Options, require_rows, selected_columns, selected_sets
from sonde.report.interval import in_points

NEEDS = (
    "Accuracy by length needs the predictions of a set that is scored by accuracy, and its test rows. The run has none."
)


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets, columns=options.columns)
    return require_rows(found, NEEDS), spec(found, width=options.width)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = (), columns: Sequence[int] = ()) -> list[Row]:
    """A row per set, encoder and bin of lengths, which is drawn at its middle, ``x``."""
    short, titles = selected_columns(summary, columns), selected_sets(summary, sets)
    found = []
    for i in titles:
        mistakes = (summary.get("mistakes") or [None] * len(summary["sets"]))[i]
        for j in short:
            of = mistakes and mistakes["columns"][j]
            for b in (of or {}).get("length") or ():
                value = b["right"] / b["n"]
                span = f"{b['low']}" if b["low"] == b["high"] else f"{b['low']} to {b['high']}"
                found.append(
                    {
                        "set": i, "set_name": titles[i], "column": j, "encoder_name": short[j],
                        "metric": "accuracy", "from": b["low"], "to": b["high"], "x": (b["low"] + b["high"]) / 2,
                        "n": b["n"], "right": b["right"], **numbers(value, b["below"], b["above"]),
                        "text": f"{short[j]}, {titles[i]}, {span} tokens, {b['n']:,} rows: "
                        f"{in_points(value, b['below'], b['above'])}",
                    }
                )  # fmt: skip
    return found


def spec(rows: Sequence[Row], *, width: Width = "container") -> Spec:
    """A panel per set."""
    return curves(figure_style(width), rows, Axes(x="tokens"), "encoder")
