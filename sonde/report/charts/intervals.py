"""A dot and an interval per encoder, a panel per set, and marks for what each number is to be seen beside.

Marks: the majority, the length, the better naive Bayes of the run, and another baseline if it is better; the human
bound and the models that papers printed. A filled dot is what is bold in a table, or alone on its set, and
significantly better than the best baseline; † stands beside what is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sonde.report.charts.figure_style import (
    SERIES_COLOURS,
    FigureStyle,
    Row,
    Spec,
    Width,
    figure_style,
    name_axis,
    numbers,
    points_axis,
    ticks,
    tooltip,
)
from sonde.report.charts.options import (
    METRIC_TITLES,
    Options,
    require_rows,
    score_title,
    selected_columns,
    selected_sets,
)
from sonde.report.charts.panels import Panel, grid, legend_columns
from sonde.report.escape import plain
from sonde.report.interval import estimate_of, in_points
from sonde.report.verdict import MARK, NOT_SIGNIFICANT, mark_of, verdict_of

NEEDS = "Intervals need results of an encoder; the run has none."
MARKS: Mapping[str, tuple[Sequence[float], str]] = {
    "majority": ([1, 1.5], "#5a5a5a"), "length": ([4, 2], "#5a5a5a"), "naive Bayes": ([1, 0], "#5a5a5a"),
    "other baseline": ([2.5, 1], "#5a5a5a"),
    "human": ([7, 1.5, 1, 1.5], "#009E73"), "published": ([1, 0], "#9c9c9c"),
}  # fmt: skip
"""Dashes and colour of each kind of mark."""
MARK_BASELINES = {"majority": ("majority",), "length": ("length",), "naive Bayes": ("nb-uni", "nb-bi")}
"""The baselines of the run that a mark is the best of."""


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    found = rows(summary, sets=options.sets, columns=options.columns)
    return require_rows(found, NEEDS), spec(found, width=options.width)


def rows(summary: Mapping[str, Any], *, sets: Sequence[int] = (), columns: Sequence[int] = ()) -> list[Row]:
    """A row per set and encoder, with ``mark`` null, and a row per set and mark, with ``column`` null."""
    short, titles = selected_columns(summary, columns), selected_sets(summary, sets)
    found: list[Row] = []
    for i in titles:
        said = summary["sets"][i]
        head = {"set": i, "set_name": titles[i], "label": plain(said["label"]), "metric": said["scored_by"]}
        shown = [j for j in short if estimate_of(said["cells"][j])[0] is not None]
        for j in shown:
            cell = said["cells"][j]
            value, low, high = estimate_of(cell)
            verdict = verdict_of(cell)
            more = {
                "letters": cell.get("letters"), "best": bool(cell.get("best")), "partial": bool(cell["partial"]),
                "verdict": verdict, "marked": bool(mark_of(cell)),
            }  # fmt: skip
            more["filled"] = more["best"] or (len(shown) == 1 and verdict == "above")
            more_text = f"; {NOT_SIGNIFICANT}" if more["marked"] else ""
            text = f"{short[j]} on {titles[i]}: {in_points(value, low, high)}{more_text}"
            found.append(head | _row(value, low, high, text) | {"column": j, "encoder_name": short[j]} | more)
        if shown:
            samples = {(c["limit"], c["sonde"]) for c in (summary["columns"][j] for j in shown)}
            for mark, name, value in _marks(summary, said, samples):
                text = f"{name} on {titles[i]}: {in_points(value)}"
                found.append(head | _row(value, None, None, text) | {"mark": mark, "model": name})
    return found


def _row(value: float | None, low: float | None, high: float | None, text: str) -> Row:
    return {
        "column": None, "encoder_name": None, "mark": None, "model": None, "letters": None, "best": False,
        "filled": False, "partial": False, "verdict": None, "marked": False, **numbers(value, low, high), "text": text,
    }  # fmt: skip


def _marks(summary: Mapping[str, Any], said: Mapping[str, Any], samples: set[Any]) -> Iterator[tuple[str, str, float]]:
    """What each number of a set is to be seen beside: kind, name and value. Baselines are of the encoders' own rows."""
    there = [
        (column["encoder"], value)
        for column, cell in zip(summary["baselines"], said["baselines"], strict=True)
        if (column["limit"], column["sonde"]) in samples and (value := estimate_of(cell)[0]) is not None
    ]
    for mark, names in MARK_BASELINES.items():
        best = max(((value, name) for name, value in there if name in names), default=None)
        if best:
            yield mark, plain(best[1]), best[0]
    name, value = max(there, key=lambda pair: pair[1], default=("", 0.0))
    if name and all(name not in names for names in MARK_BASELINES.values()):
        yield "other baseline", plain(name), value
    other = "" if said["printed_for"] in (None, "this set") else f", {said['printed_for']}"
    if said["human"]:
        yield "human", plain(f"human ({said['human']['paper']}{other})"), said["human"]["accuracy"]
    for printed in said.get("printed") or ():
        if printed["kind"] == "model":
            yield "published", plain(f"{printed['model']} ({printed['paper']}{other})"), printed["accuracy"]


def spec(rows: Sequence[Row], *, width: Width = "container") -> Spec:
    """Panels with their own axis: sets differ in what is hard about them, and encoders are compared within a set."""
    style = figure_style(width)
    titles = list(dict.fromkeys(row["set_name"] for row in rows))
    names = list(dict.fromkeys(row["encoder_name"] for row in rows if row["encoder_name"] is not None))
    drawn = [row | {"panel": titles.index(row["set_name"])} for row in rows]
    marks = [mark for mark in MARKS if any(row["mark"] == mark for row in rows)]

    def draw(panel: Panel) -> Spec:
        own = [row for row in drawn if row["panel"] == panel.number]
        return _panel(style, own, names, marks, panel)

    min_width = 9 * style.font
    return grid(
        style, drawn, titles, draw, label_width=style.label_width(names), min_width=min_width, gap=2 * style.font
    )


def _panel(style: FigureStyle, rows: Sequence[Row], names: Sequence[str], marks: Sequence[str], panel: Panel) -> Spec:
    along = ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))
    x = points_axis(
        along, "points", score_title(rows) if panel.last or score_title(rows) != METRIC_TITLES["accuracy"] else ""
    )
    axis = name_axis(style, names, labels=panel.first, labelPadding=style.font / 1.5)
    y: Spec = {"field": "encoder_name", "type": "nominal", "scale": {"domain": list(names)}, "axis": axis}
    return {"height": {"step": style.step}, "layer": [*_reference_lines(style, x, marks), *_dots(style, x, y)]}


def _reference_lines(style: FigureStyle, x: Spec, marks: Sequence[str]) -> list[Spec]:
    """Lines from top to bottom, and short ones at the foot for published models, which may be many."""
    if not marks:
        return []
    key: Spec = {
        "title": None, "orient": "bottom", "columns": legend_columns(style, marks), "symbolType": "stroke",
        "symbolSize": style.dot(140),
    }  # fmt: skip
    by: Spec = {"field": "mark", "type": "nominal", "legend": key}
    dash = by | {"scale": {"domain": list(marks), "range": [style.dash(MARKS[mark][0]) for mark in marks]}}
    colour = by | {"scale": {"domain": list(marks), "range": [MARKS[mark][1] for mark in marks]}}
    lines = [mark for mark in MARKS if mark != "published"]
    foot: Spec = {"value": "height"}
    return [
        {
            "transform": [{"filter": {"field": "mark", "equal": "published"}}],
            "mark": {
                "type": "tick",
                "orient": "vertical",
                "size": style.font * 0.9,
                "thickness": style.font / 14,
                "yOffset": -style.font * 0.45,
            },
            "encoding": {"x": x, "y": foot, "color": colour, "tooltip": tooltip()},
        },
        {
            "transform": [{"filter": {"field": "mark", "oneOf": lines}}],
            "mark": {"type": "rule", "strokeWidth": style.font / 8},
            "encoding": {"x": x, "strokeDash": dash, "color": colour, "tooltip": tooltip()},
        },
    ]


def _dots(style: FigureStyle, x: Spec, y: Spec) -> list[Spec]:
    encoders: Spec = {"filter": {"field": "column", "valid": True}}
    dot: Spec = {
        "type": "point",
        "color": SERIES_COLOURS[0],
        "size": style.dot(24),
        "strokeWidth": style.font / 7,
        "opacity": 1,
    }
    ends: Spec = {"x": {**x, "field": "points_low"}, "x2": {"field": "points_high"}, "y": y}
    found: list[Spec] = [
        {
            "transform": [encoders],
            "mark": {"type": "rule", "color": SERIES_COLOURS[0], "strokeWidth": style.font / 6},
            "encoding": ends,
        }
    ]
    for filled in (False, True):
        which = {"filter": {"field": "filled", "equal": filled}}
        found.append(
            {
                "transform": [encoders, which],
                "mark": {**dot, "fill": SERIES_COLOURS[0] if filled else "#ffffff"},
                "encoding": {"x": x, "y": y, "tooltip": tooltip()},
            }
        )
    found.append(
        {
            "transform": [encoders, {"filter": {"field": "marked", "equal": True}}],
            "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": style.font / 4},
            "encoding": {"x": {**x, "field": "points_high"}, "y": y, "text": {"value": MARK}},
        }
    )
    return found
