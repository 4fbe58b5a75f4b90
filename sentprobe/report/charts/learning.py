"""Accuracy by the number of training rows, one line per encoder, and baselines trained on the same rows.

Below the name of a set, or of an encoder where a line is a set, is what the last doubling of the rows adds, or which
of many lines still rise at their end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.drawing.chart import (
    INTERVAL_COLUMNS,
    MAX_MARKS,
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    selected_columns,
    selected_sets,
)
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, numbers, wrap_title
from sentprobe.report.drawing.lines import LINES_OPTION, Axes, curves
from sentprobe.report.names import listed
from sentprobe.report.types import SetSummary, Summary
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.run.variant import VariantSummary

MEASURE = "learning"
MAX_GAINS = 2
"""Maximum number of gains below a panel's name; of more lines, only those that still rise are named."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set, encoder or baseline, and number of training rows, ``x``; baselines have no ``column``.

    The last row of an encoder has ``gain``, ``gain_low`` and ``gain_high``: what the last doubling adds.
    """
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    records: list[Row] = []
    baseline_rows: list[Row] = []
    for i, title in titles.items():
        curves_of = {j: curve for j in short if (curve := _curve(summary.sets[i], j))}
        for j, curve in curves_of.items():
            curve_rows = list(_points(i, title, j, short[j], curve.points))
            gain = {"gain": curve.value, "gain_low": curve.low, "gain_high": curve.high}
            records += [
                *curve_rows[:-1],
                curve_rows[-1] | gain | {"text": f"{curve_rows[-1]['text']}; last doubling {gain_text(gain)}"},
            ]
        for name, points in next((curve.baselines for curve in curves_of.values()), {}).items():
            baseline_rows += _points(i, title, None, name, points)
    # with a set per line, a baseline would be a panel of its own
    return records if options.lines == "set" else records + baseline_rows


def _curve(s: SetSummary, column: int) -> VariantSummary | None:
    variants = s.variants[column] if column < len(s.variants) else ()
    return next((variant for variant in variants if variant.of == MEASURE and variant.points), None)


def _points(i: int, title: str, j: int | None, name: str, points: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for p in points:
        value, low, high = p["accuracy"], p.get("low"), p.get("high")
        yield {
            "set": i,
            "set_name": title,
            "column": j,
            "encoder_name": name,
            "metric": DEFAULT_METRIC,
            "x": p["rows"],
            "subsamples": p.get("subsamples"),
            **numbers(value, low, high),
            "text": f"{name}, {title}, {p['rows']:,} training rows: {POINTS.with_interval(value, low, high)}",
        }


def gain_text(row: Mapping[str, Any]) -> str:
    """What the last doubling adds, in words: +1.2 ±0.8 (still rising)."""
    gain, low, high = (100 * row[name] for name in ("gain", "gain_low", "gain_high"))
    state = "still rising" if low > 0 else "falling" if high < 0 else "no clear rise"
    sign = "−" if round(gain, 1) < 0 else "+"
    return f"{sign}{abs(gain):.1f} ±{(high - low) / 2:.1f} ({state})"


def _gains(ends: Sequence[Row], line: str, *, single: bool) -> list[str]:
    """What the last doubling adds to each line of a panel, or which of many lines still rise."""
    if single:
        return [f"last doubling {gain_text(row)}" for row in ends]
    if len(ends) <= MAX_GAINS:
        return [f"{plain(row[line])} {gain_text(row)}" for row in ends]
    rising = [plain(row[line]) for row in ends if row["gain_low"] > 0]
    if not rising:
        return ["no clear rise at the end"]
    if len(rising) == len(ends):
        return ["all still rising"]
    return [f"still rising: {listed(rising, most=MAX_GAINS + 1)}"]


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per set, or one per encoder; the axis of rows is logarithmic."""
    style = figure_style(options.width)
    sizes = {tuple(sorted({row["x"] for row in rows if row["set"] == i})) for i in {row["set"] for row in rows}}
    ticks = sizes.pop() if len(sizes) == 1 else None  # sets with other sizes need ticks of their own
    view = curves(style, rows, Axes(x="training rows", scale="log", ticks=ticks), options.lines or "encoder")
    panel, line = ("encoder_name", "set_name") if options.lines == "set" else ("set_name", "encoder_name")
    ends = [row for row in rows if "gain" in row]
    has_several = len({row[line] for row in ends}) > 1
    for i, title in enumerate(dict.fromkeys(row[panel] for row in rows)):
        ends_of_panel = [row for row in ends if row[panel] == title]
        gains = _gains(ends_of_panel, line, single=not has_several)
        if "concat" in view:
            named, wide = view["concat"][i]["title"], view["concat"][i]["width"]
        else:
            view["title"] = named = {"text": title}
            wide = 0.8 * style.total
        named["subtitle"] = [part for text in gains for part in wrap_title(style, text, wide)]
        named |= {"subtitleFontSize": style.font, "subtitlePadding": round(style.font / 3, 1)}
    return view


chart = Chart(
    name="learning",
    by_accuracy=True,
    order=60,
    title="Scores by number of training rows",
    doc="learning curves: accuracy by the number of training rows, with the majority and naive Bayes on the same rows, "
    "and what the last doubling adds (`sentprobe run --measures learning`)",
    needs="A figure of learning curves needs the measure `learning`: sentprobe run --measures learning. "
    "The run has none.",
    rows=rows,
    spec=spec,
    options={"lines": LINES_OPTION},
    caption="Each point is the mean over subsamples of the training rows, and the last one is the score with all "
    "rows; bands or lines: {level} intervals over training sets and test rows. The penalty is chosen on dev for every "
    "subsample. Below a name: points that the last doubling of the rows adds, with half the width of its {level} "
    "interval, or which of several lines still rise: by more than that interval.",
    page=OnPage(
        section="controls",
        heading="Learning curves",
        intro="A curve that still rises at its end says that more training rows would raise the score, perhaps more "
        "for one encoder than for another.",
        caption="Means over subsamples of the training rows, which keep target forms together and the share of each "
        "class; the last point is the score. Intervals are over training sets and test rows. Baselines were trained on "
        "the same subsamples.",
        max_rows=MAX_MARKS,
        columns=(*NAME_COLUMNS, ("x", "Training rows"), ("subsamples", "Subsamples"), *INTERVAL_COLUMNS),
    ),
)
