"""The unsupervised criterion along the way of an alignment, and the true precision: Conneau (2019), figure 4.2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sonde.alignment.folder import open_alignment
from sonde.report.drawing.chart import Chart
from sonde.report.drawing.curve_rows import CURVE_FIELDS
from sonde.report.drawing.figure_style import (
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
from sonde.report.drawing.options import Options, selected_sets
from sonde.report.drawing.panels import Panel, grid, legend_columns
from sonde.report.escape import plain
from sonde.report.interval import in_points
from sonde.report.names import short_names
from sonde.report.types import MapPoint, Summary

SCORINGS = ("csls", "nn", "isf")
"""How neighbours are scored for the precision, the best choice first."""
DEV = {"dev_precision_csls": "csls", "dev_precision_nn": "nn"}
"""What lines of the history call the precision on the dictionary of --dev."""
MEASURES = ("criterion", "precision")
MAX_DOTS = 30
"""Points on a line before they are drawn smaller."""


@dataclass(frozen=True)
class _Map:
    """A map along the way, from the history of an alignment or from a run."""

    panel: str
    series: str
    stage: str
    number: int
    criterion: float | None
    precision: float | None = None
    interval: tuple[float | None, float | None] = (None, None)
    scoring: str | None = None
    chosen: bool = False
    set: int | None = None


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per map and measure; ``x`` counts epochs or rounds, and refinements after them.

    ``points`` of the criterion are the criterion as it is, a mean cosine.
    """
    found = _of_folder(options.alignment) if options.alignment is not None else _of_run(summary, options)
    last: dict[tuple[str, str], int] = {}
    for m in found:
        if m.stage != "refine":
            last[m.panel, m.series] = max(m.number, last.get((m.panel, m.series), 0))
    rows = [
        {
            "set": m.set, "panel_name": m.panel, "series": m.series, "measure": measure, "scoring": scoring,
            "stage": m.stage, "number": m.number,
            "x": m.number + (last.get((m.panel, m.series), 0) if m.stage == "refine" else 0), **values,
            "chosen": m.chosen, "text": f"{m.panel}, {m.series}, {m.stage} {m.number}: {text}",
        }
        for m in found
        for measure, scoring, values, text in _measures(m)
    ]  # fmt: skip
    return sorted(rows, key=lambda row: MEASURES.index(row["measure"]))


def _measures(m: _Map) -> Iterator[tuple[str, str | None, Row, str]]:
    if m.criterion is not None:
        yield "criterion", None, {**numbers(m.criterion, None, None), "points": m.criterion}, f"{m.criterion:.4f}"
    if m.precision is not None:
        text = f"{in_points(m.precision, *m.interval)} ({m.scoring})"
        yield "precision", m.scoring, numbers(m.precision, *m.interval), text


def _of_folder(path: str) -> list[_Map]:
    """The lines of the history, a series per seed; the highest criterion is chosen unless the folder says otherwise."""
    folder = open_alignment(path)
    name = plain(Path(path).resolve().name)
    found = []
    for line in folder.history():
        key = next((key for key in DEV if line.get(key) is not None), None)
        found.append(
            _Map(
                name,
                f"seed {line['seed']}",
                str(line["stage"]),
                int(line["number"]),
                line.get("criterion"),
                None if key is None else float(line[key]),
                scoring=None if key is None else DEV[key],
            )
        )
    return _with_chosen(found)


def _with_chosen(found: Sequence[_Map]) -> list[_Map]:
    """Per panel, the map with the highest criterion is chosen, if none is known to be."""
    known = {m.panel for m in found if m.chosen}
    best: dict[str, tuple[float, int]] = {}
    for i, m in enumerate(found):
        if m.criterion is not None and m.panel not in known:
            best[m.panel] = max(best.get(m.panel, (m.criterion, i)), (m.criterion, i), key=lambda pair: pair[0])
    chosen = {i for _, i in best.values()}
    return [replace(m, chosen=True) if i in chosen else m for i, m in enumerate(found)]


def _of_run(summary: Summary, options: Options) -> list[_Map]:
    """The maps of a run of `sonde words`; of several scorings, the first of ``SCORINGS``."""
    points = summary.word_spaces.maps if summary.word_spaces is not None else ()
    titles = selected_sets(summary, options.sets)
    points = tuple(p for p in points if p.set in titles and (not options.columns or p.column in options.columns))
    scorings = {summary.columns[p.column].probe for p in points}
    scoring = next((name for name in SCORINGS if name in scorings), None)
    kept = [p for p in points if summary.columns[p.column].probe == scoring]
    names = list(dict.fromkeys(p.alignment for p in kept))
    short = dict(zip(names, short_names(names), strict=True))
    several = len({p.set for p in kept}) > 1

    def panel(p: MapPoint) -> str:
        return short[p.alignment] + (f", {titles[p.set]}" if several else "")

    found = [
        _Map(
            panel(p), "chosen seed" if p.seed is None else f"seed {p.seed}", p.stage, p.number, p.criterion, p.value,
            (p.low, p.high), scoring, p.chosen, p.set,
        )
        for p in kept
    ]  # fmt: skip
    return _with_chosen(found)


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


def _view(style: FigureStyle, rows: Sequence[Row], panel: Sequence[Row], names: Sequence[str], last: bool) -> Spec:
    """The lines of one measure; the axis of epochs is that of the whole panel, and below the last view."""
    if rows[0]["measure"] == "criterion":
        scale = {"zero": False, "nice": True}
        axis = number_axis("criterion (mean cosine)", tickCount=4)
        y: Spec = {"field": "points", "type": "quantitative", "scale": scale, "axis": axis}
    else:
        marks = ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))
        y = points_axis(marks, "points", f"precision@1, {rows[0]['scoring']} (%)")
    ends = [min(row["x"] for row in panel), max(row["x"] for row in panel)]
    stages = list(dict.fromkeys(row["stage"] for row in panel if row["stage"] != "refine"))
    title = " or ".join(stages) + (", then refinement" if stages else "refinement") * ("refine" in _stages(panel))
    x = {
        "field": "x", "type": "quantitative", "scale": {"domain": ends, "nice": False, "padding": style.font / 1.5},
        "axis": number_axis(title if last else "", grid=False, labels=last, tickMinStep=1, format=",d"),
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
                "transform": [{"filter": {"field": "chosen", "equal": True}}],
                "mark": {"type": "point", "filled": False, "size": style.dot(70), "strokeWidth": style.font / 8},
                "encoding": {"y": y, "color": {"value": "#222222"}},
            },
        ],
    }


def _stages(rows: Sequence[Row]) -> set[str]:
    return {row["stage"] for row in rows}


def notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    """What cannot be seen from the axes."""
    if any(row["chosen"] for row in rows):
        yield "Ring: the map that was chosen."
    if "refine" in _stages(rows) and len(_stages(rows)) > 1:
        yield "Squares: rounds of refinement."
    if any(row["measure"] == "precision" for row in rows):
        if any(row["low"] is not None for row in rows):
            yield "Vertical lines: 95 % intervals of the precision."
    else:
        yield "The true precision is not known, since no dictionary was given for it."


chart = Chart(
    name="criterion",
    order=130,
    title="The unsupervised criterion and the true precision of an alignment",
    doc="the unsupervised criterion along the way of an alignment, above the true precision@1 where it is known; for a "
    "folder of `sonde align`, or a run of `sonde words` on `FOLDER?epoch=all`",
    needs="A figure of the criterion needs an alignment with epochs or rounds: a folder of `sonde align`, or a run of "
    "`sonde words` with the system FOLDER?epoch=all; there is none.",
    rows=rows,
    spec=spec,
    fields=(
        "set", "panel_name", "series", "measure", "scoring", "stage", "number", "x", *CURVE_FIELDS, "chosen",
    ),
    caption="Criterion: the mean cosine of the most frequent source words and their translations under CSLS, which "
    "needs no dictionary.",
    notes=notes,
    takes_alignment=True,
)  # fmt: skip
