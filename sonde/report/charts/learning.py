"""Accuracy by the number of training rows, one line per encoder, beside baselines that learned from the same rows.

Below the name of a set, or of an encoder where a line is a set, stands what the last doubling of the rows adds: whether
the curve still rises at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sonde.report.charts.figure_style import Row, Spec, Width, figure_style, numbers, wrap_title
from sonde.report.charts.lines import Axes, curves
from sonde.report.charts.options import Lines, Options, require_rows, selected_columns, selected_sets
from sonde.report.escape import plain
from sonde.report.interval import in_points

NEEDS = "A figure of learning needs learning curves: sonde run --measures learning. The run has none."
MAX_GAINS = 4
"""Lines that are said to rise or not; of more, there is no room for the others."""


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets, columns=options.columns)
    if options.lines == "set":  # a baseline would be a panel of its own
        found = [row for row in found if row["column"] is not None]
    return require_rows(found, NEEDS), spec(found, width=options.width, lines=options.lines)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = (), columns: Sequence[int] = ()) -> list[Row]:
    """A row per set, encoder or baseline, and number of training rows, ``x``; baselines have no ``column``.

    The last row of an encoder has ``gain``, ``gain_low`` and ``gain_high``: what the last doubling adds.
    """
    short, titles = selected_columns(summary, columns), selected_sets(summary, sets)
    found: list[Row] = []
    baseline_rows: list[Row] = []
    for i in titles:
        cells = ((summary.get("meaning") or {}).get("sets") or {i: []})[i]
        curves_of = {j: cells[j]["learning"] for j in short if j < len(cells) and (cells[j] or {}).get("learning")}
        for j, curve in curves_of.items():
            own = list(_points(i, titles[i], j, short[j], curve["points"]))
            gain = {"gain": curve["value"], "gain_low": curve["low"], "gain_high": curve["high"]}
            found += [*own[:-1], own[-1] | gain | {"text": f"{own[-1]['text']}; last doubling {gain_text(gain)}"}]
        for name, points in next((curve["baselines"] for curve in curves_of.values()), {}).items():
            baseline_rows += _points(i, titles[i], None, name, points)
    return found + baseline_rows


def _points(i: int, title: str, j: int | None, name: str, points: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for p in points:
        value, low, high = p["accuracy"], p.get("low"), p.get("high")
        yield {
            "set": i, "set_name": title, "column": j, "encoder_name": name, "metric": "accuracy", "x": p["rows"],
            "subsamples": p.get("subsamples"), **numbers(value, low, high),
            "text": f"{name}, {title}, {p['rows']:,} training rows: {in_points(value, low, high)}",
        }  # fmt: skip


def gain_text(row: Mapping[str, Any]) -> str:
    """What the last doubling adds, in words: +1.2 ±0.8 (still rising)."""
    gain, low, high = (100 * row[name] for name in ("gain", "gain_low", "gain_high"))
    state = "still rising" if low > 0 else "falling" if high < 0 else "no clear rise"
    sign = "−" if round(gain, 1) < 0 else "+"
    return f"{sign}{abs(gain):.1f} ±{(high - low) / 2:.1f} ({state})"


def spec(rows: Sequence[Row], *, width: Width = "container", lines: Lines | None = None) -> Spec:
    """A panel per set, or one per encoder; the axis of rows is logarithmic."""
    style = figure_style(width)
    sizes = {tuple(sorted({row["x"] for row in rows if row["set"] == i})) for i in {row["set"] for row in rows}}
    ticks = sizes.pop() if len(sizes) == 1 else None  # where sets differ, those of one say nothing of the others
    found = curves(style, rows, Axes(x="training rows", scale="log", ticks=ticks), lines or "encoder")
    panel, line = ("encoder_name", "set_name") if lines == "set" else ("set_name", "encoder_name")
    ends = [row for row in rows if "gain" in row]
    many = len({row[line] for row in ends}) > 1
    for i, title in enumerate(dict.fromkeys(row[panel] for row in rows)):
        own = [row for row in ends if row[panel] == title]
        said = [
            f"{plain(row[line])} {gain_text(row)}" if many else f"last doubling {gain_text(row)}"
            for row in own[:MAX_GAINS]
        ]
        said += [f"and {len(own) - MAX_GAINS} more"] * (len(own) > MAX_GAINS)
        if "concat" in found:
            named, wide = found["concat"][i]["title"], found["concat"][i]["width"]
        else:
            found["title"] = named = {"text": title}
            wide = 0.8 * style.total
        named["subtitle"] = [part for text in said for part in wrap_title(style, text, wide)]
        named |= {"subtitleFontSize": style.font, "subtitlePadding": round(style.font / 3, 1)}
    return found
