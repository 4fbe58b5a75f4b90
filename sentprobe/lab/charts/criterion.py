"""The unsupervised criterion along the way of an alignment, and the true precision: Conneau (2019), figure 4.2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.lab.charts._traced_maps import CHOSEN, HIGHEST, TracedMap, maps_of_folder, maps_of_run
from sentprobe.report.drawing.chart import Chart, OnPage, Options
from sentprobe.report.drawing.figure_style import (
    FigureStyle,
    Row,
    Spec,
    figure_style,
    number_axis,
    numbers,
    points_axis,
    styles,
    ticks,
    tooltip,
)
from sentprobe.report.drawing.lines import CURVE_FIELDS
from sentprobe.report.drawing.matrix import Panel, grid, legend_columns
from sentprobe.report.types import Summary
from sentprobe.stats.level import level_text

MEASURES = ("criterion", "precision")
MAX_TICKS = 8
STEPS = tuple(base * 10**power for power in range(9) for base in (1, 2, 5))
MAX_DOTS = 30
"""Points on a line before they are drawn smaller."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per map and measure; ``x`` counts epochs or rounds, and refinements after them.

    ``points`` of the criterion are the criterion as it is, a mean cosine.
    """
    found = maps_of_folder(options.folder) if options.folder is not None else maps_of_run(summary, options)
    last: dict[tuple[str, str], int] = {}
    for m in found:
        if m.stage != "refine":
            last[m.panel, m.series] = max(m.number, last.get((m.panel, m.series), 0))
    rows = [
        {
            "set": m.set, "panel_name": m.panel, "series": m.series, "measure": measure, "scoring": scoring,
            "stage": m.stage, "number": m.number,
            "x": m.number + (last.get((m.panel, m.series), 0) if m.stage == "refine" else 0), **values,
            "ring": m.ring, "text": f"{m.panel}, {m.series}, {m.stage} {m.number}: {text}",
        }
        for m in found
        for measure, scoring, values, text in _measures(m)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: MEASURES.index(row["measure"]))


def _measures(m: TracedMap) -> Iterator[tuple[str, str | None, Row, str]]:
    if m.criterion is not None:
        yield "criterion", None, {**numbers(m.criterion, None, None), "points": m.criterion}, f"{m.criterion:.4f}"
    if m.precision is not None:
        text = f"{POINTS.with_interval(m.precision, *m.interval)} ({m.scoring})"
        yield "precision", m.scoring, numbers(m.precision, *m.interval), text


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per alignment, and set if there are several: the criterion above the precision, a line per seed."""
    style = figure_style(options.width)
    titles = list(dict.fromkeys(row["panel_name"] for row in rows))
    names = list(dict.fromkeys(row["series"] for row in rows))
    drawn = [row | {"panel": titles.index(row["panel_name"]), "dash": names.index(row["series"])} for row in rows]
    measures = [measure for measure in MEASURES if any(row["measure"] == measure for row in rows)]

    def draw(panel: Panel) -> Spec:
        own = [row for row in drawn if row["panel"] == panel.number]
        views = [
            {
                "transform": [{"filter": {"field": "measure", "equal": measure}}],
                "width": panel.width,
                **_view(style, [row for row in own if row["measure"] == measure], own, names, measure == measures[-1]),
            }
            for measure in measures
            if any(row["measure"] == measure for row in own)
        ]
        return {"vconcat": views, "spacing": style.font / 2}

    return grid(
        style, drawn, titles, draw, label_width=4.5 * style.font, min_width=14 * style.font, gap=4.5 * style.font
    )


def _whole(first: int, last: int) -> list[int]:
    """A few whole numbers from the first to the last."""
    step = next(step for step in STEPS if (last - first) / step <= MAX_TICKS)
    return [n for n in range(first, last + 1) if n % step == 0]


def _view(style: FigureStyle, rows: Sequence[Row], panel: Sequence[Row], names: Sequence[str], last: bool) -> Spec:
    """The lines of one measure; the axis of epochs is that of the whole panel, and below the last view."""
    if rows[0]["measure"] == "criterion":
        values = [row["points"] for row in rows]
        low, high = min(values), max(values)
        around = max(0.1 * (high - low), 0.01)
        scale = {"domain": [low - around, high + around], "zero": False, "nice": True}
        axis = number_axis("criterion (mean cosine)", tickCount=4, format=".3~f")
        y: Spec = {"field": "points", "type": "quantitative", "scale": scale, "axis": axis}
    else:
        marks = ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))
        y = points_axis(marks, "points", f"precision@1, {rows[0]['scoring']} (%)")
    ends = [min(row["x"] for row in panel), max(row["x"] for row in panel)]
    stages = list(dict.fromkeys(row["stage"] for row in panel if row["stage"] != "refine"))
    title = " or ".join(stages) + (", then refinement" if stages else "refinement") * ("refine" in _stages(panel))
    x = {
        "field": "x", "type": "quantitative", "scale": {"domain": ends, "nice": False, "padding": style.font / 1.5},
        "axis": number_axis(title if last else "", _whole(*ends), grid=False, labels=last, format=",d"),
    }  # fmt: skip
    key = {"title": None, "orient": "bottom", "columns": legend_columns(style, names)}
    colour, _, dash = styles(style, "series", names, key if len(names) > 1 else None)
    crowded = len({row["x"] for row in panel}) > MAX_DOTS
    shape = {
        "field": "stage", "type": "nominal", "legend": None,
        "scale": {"domain": ["epoch", "round", "refine"], "range": ["circle", "circle", "square"]},
    }  # fmt: skip
    around = {
        "mark": {"type": "rule", "opacity": 0.45, "strokeWidth": 0.7},
        "encoding": {"y": {**y, "field": "points_low"}, "y2": {"field": "points_high"}, "color": colour},
    }
    return {
        "height": round(10 * style.font, 1),
        "encoding": {"x": x},
        "layer": [
            *([around] if any(row["low"] is not None for row in rows) else []),
            {
                "mark": {"type": "line", "strokeWidth": style.font / 6},
                "encoding": {"y": y, "color": colour, "strokeDash": dash},
            },
            {
                "mark": {"type": "point", "filled": True, "size": style.dot(5 if crowded else 15), "opacity": 1},
                "encoding": {"y": y, "color": colour, "shape": shape, "tooltip": tooltip()},
            },
            {
                "transform": [{"filter": {"field": "ring", "oneOf": [CHOSEN, HIGHEST]}}],
                "mark": {"type": "point", "filled": False, "size": style.dot(70), "strokeWidth": style.font / 8},
                "encoding": {"y": y, "color": {"value": "#222222"}},
            },
        ],
    }


def _stages(rows: Sequence[Row]) -> set[str]:
    return {row["stage"] for row in rows}


def notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    """What cannot be seen from the axes."""
    rings = dict.fromkeys(row["ring"] for row in rows if row["ring"])
    if rings:
        yield f"Ring: {' or '.join(rings)}."
    if "refine" in _stages(rows) and len(_stages(rows)) > 1:
        yield "Squares: rounds of refinement."
    if any(row["measure"] == "precision" for row in rows):
        if any(row["low"] is not None for row in rows):
            yield f"Vertical lines: {level_text()} intervals of the precision."
    else:
        yield "The true precision is not known, since no dictionary was given for it."


chart = Chart(
    name="criterion",
    order=130,
    title="The unsupervised criterion and the true precision of an alignment",
    doc="the unsupervised criterion along the way of an alignment, above the true precision@1 where it is known; for a "
    "folder of `sentprobe align`, or a run of `sentprobe words` on `FOLDER?epoch=all`",
    needs="A figure of the criterion needs an alignment with epochs or rounds: a folder of `sentprobe align`, or a run "
    "of `sentprobe words` with the system FOLDER?epoch=all; there is none.",
    rows=rows,
    spec=spec,
    fields=(
        "set", "panel_name", "series", "measure", "scoring", "stage", "number", "x", *CURVE_FIELDS, "ring",
    ),
    caption="Criterion: the mean cosine of the most frequent source words and their translations under CSLS, which "
    "needs no dictionary.",
    notes=notes,
    page=OnPage(
        section="words",
        heading="Along the way of alignments",
        caption="The unsupervised criterion, which needs no dictionary, and the precision@1 of each map.",
        columns=(
            ("panel_name", "Alignment"), ("series", "Seed"), ("stage", "Stage"), ("number", "Number"),
            ("measure", "Measure"), ("points", "Value"), ("points_low", "from"), ("points_high", "to"),
        ),
    ),
    reads="alignment",
)  # fmt: skip
