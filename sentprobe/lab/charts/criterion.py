"""The unsupervised criterion along the way of an alignment, and the true precision: Conneau (2019), figure 4.2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from pathlib import Path
from typing import Any

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.report.drawing.chart import Chart, OnPage, Options, selected_sets
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
from sentprobe.report.names import short_names
from sentprobe.report.types import MapPoint, Summary
from sentprobe.stats.level import level_text

SCORINGS = ("csls", "nn", "isf")
"""How neighbours are scored for the precision, the best choice first."""
DEV = {"dev_csls": "csls", "dev_nn": "nn"}
"""What lines of the history call the precision on the dictionary of --dev."""
CHOSEN, HIGHEST = "the map that was chosen", "the highest criterion"
"""What a ring may be around."""
TOLERANCE = 1e-6
"""How far two criteria of one map may be apart, by rounding."""
MEASURES = ("criterion", "precision")
MAX_TICKS = 8
STEPS = tuple(base * 10**power for power in range(9) for base in (1, 2, 5))
MAX_DOTS = 30
"""Points on a line before they are drawn smaller."""


@dataclass(frozen=True)
class TracedMap:
    """A map along the way, from the history of an alignment or from a run."""

    panel: str
    series: str
    stage: str
    number: int
    criterion: float | None
    precision: float | None = None
    interval: tuple[float | None, float | None] = (None, None)
    scoring: str | None = None
    ring: str | None = None
    set: int | None = None


def maps_of_folder(path: str) -> list[TracedMap]:
    """The lines of the history, a series per seed."""
    folder = open_alignment(path)
    name = plain(Path(path).resolve().name)
    history = folder.history()
    chosen = _chosen_line(folder.config, history)
    maps = []
    for line in history:
        dev_key = next((dev_key for dev_key in DEV if line.get(dev_key) is not None), None)
        maps.append(
            TracedMap(
                name,
                f"seed {line['seed']}",
                str(line["stage"]),
                int(line["number"]),
                line.get("criterion"),
                None if dev_key is None else float(line[dev_key]),
                scoring=None if dev_key is None else DEV[dev_key],
                ring=CHOSEN if line is chosen else None,
            )
        )
    return maps if chosen is not None else _with_highest(maps)


def _chosen_line(config: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The line of the map that was chosen: of the chosen seed, the round of refinement or else what has its criterion;
    None if there is none."""
    seed = next((s for s in config.get("seeds", ()) if s["seed"] == config.get("chosen")), None)
    if seed is None:
        return None
    seed_lines = [line for line in history if line["seed"] == seed["seed"]]
    if "round" in seed:
        return next((line for line in seed_lines if (line["stage"], line["number"]) == ("refine", seed["round"])), None)
    same_criterion = [
        line
        for line in seed_lines
        if line["stage"] != "refine"
        and line.get("criterion") is not None
        and isclose(line["criterion"], seed.get("criterion") or 0, abs_tol=TOLERANCE)
    ]
    return same_criterion[-1] if same_criterion else None


def _with_highest(maps: Sequence[TracedMap]) -> list[TracedMap]:
    """Per panel without a ring, one around the highest criterion."""
    ringed_panels = {m.panel for m in maps if m.ring}
    best: dict[str, tuple[float, int]] = {}
    for i, m in enumerate(maps):
        if m.criterion is not None and m.panel not in ringed_panels:
            best[m.panel] = max(best.get(m.panel, (m.criterion, i)), (m.criterion, i), key=lambda pair: pair[0])
    ringed = {i for _, i in best.values()}
    return [replace(m, ring=HIGHEST) if i in ringed else m for i, m in enumerate(maps)]


def maps_of_run(summary: Summary, options: Options) -> list[TracedMap]:
    """The maps of a run of `sentprobe words`; of several scorings, the first of ``SCORINGS``."""
    points = summary.word_spaces.maps if summary.word_spaces is not None else ()
    titles = selected_sets(summary, options.sets)
    points = tuple(p for p in points if p.set in titles and (not options.columns or p.column in options.columns))
    scorings = {summary.columns[p.column].probe for p in points}
    scoring = next((name for name in SCORINGS if name in scorings), None)
    scored_points = [p for p in points if summary.columns[p.column].probe == scoring]
    names = list(dict.fromkeys(p.alignment for p in scored_points))
    short = dict(zip(names, short_names(names), strict=True))
    several = len({p.set for p in scored_points}) > 1

    def panel(p: MapPoint) -> str:
        return short[p.alignment] + (f", {titles[p.set]}" if several else "")

    maps = [
        TracedMap(
            panel(p),
            "chosen seed" if p.seed is None else f"seed {p.seed}",
            p.stage,
            p.number,
            p.criterion,
            p.value,
            (p.low, p.high),
            scoring,
            CHOSEN if p.chosen else None,
            p.set,
        )
        for p in scored_points
    ]
    return _with_highest(maps)


# The chart


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per map and measure; ``x`` counts epochs or rounds, and refinements after them.

    ``points`` of the criterion are the criterion as it is, a mean cosine.
    """
    maps = maps_of_folder(options.folder) if options.folder is not None else maps_of_run(summary, options)
    last_number: dict[tuple[str, str], int] = {}
    for m in maps:
        if m.stage != "refine":
            last_number[m.panel, m.series] = max(m.number, last_number.get((m.panel, m.series), 0))
    rows = [
        {
            "set": m.set,
            "panel_name": m.panel,
            "series": m.series,
            "measure": measure,
            "scoring": scoring,
            "stage": m.stage,
            "number": m.number,
            "x": m.number + (last_number.get((m.panel, m.series), 0) if m.stage == "refine" else 0),
            **values,
            "ring": m.ring,
            "text": f"{m.panel}, {m.series}, {m.stage} {m.number}: {text}",
        }
        for m in maps
        for measure, scoring, values, text in _measures(m)
    ]
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
    panel_rows = [row | {"panel": titles.index(row["panel_name"]), "dash": names.index(row["series"])} for row in rows]
    measures = [measure for measure in MEASURES if any(row["measure"] == measure for row in rows)]

    def draw(panel: Panel) -> Spec:
        rows_of_panel = [row for row in panel_rows if row["panel"] == panel.number]
        views = [
            {
                "transform": [{"filter": {"field": "measure", "equal": measure}}],
                "width": panel.width,
                **_view(
                    style,
                    [row for row in rows_of_panel if row["measure"] == measure],
                    rows_of_panel,
                    names,
                    measure == measures[-1],
                ),
            }
            for measure in measures
            if any(row["measure"] == measure for row in rows_of_panel)
        ]
        return {"vconcat": views, "spacing": style.font / 2}

    return grid(
        style, panel_rows, titles, draw, label_width=4.5 * style.font, min_width=14 * style.font, gap=4.5 * style.font
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
        margin = max(0.1 * (high - low), 0.01)
        scale = {"domain": [low - margin, high + margin], "zero": False, "nice": True}
        axis = number_axis("criterion (mean cosine)", tickCount=4, format=".3~f")
        y: Spec = {"field": "points", "type": "quantitative", "scale": scale, "axis": axis}
    else:
        marks = ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))
        y = points_axis(marks, "points", f"precision@1, {rows[0]['scoring']} (%)")
    ends = [min(row["x"] for row in panel), max(row["x"] for row in panel)]
    stages = list(dict.fromkeys(row["stage"] for row in panel if row["stage"] != "refine"))
    title = " or ".join(stages) + (", then refinement" if stages else "refinement") * ("refine" in _stages(panel))
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"domain": ends, "nice": False, "padding": style.font / 1.5},
        "axis": number_axis(title if last else "", _whole(*ends), grid=False, labels=last, format=",d"),
    }
    key = {"title": None, "orient": "bottom", "columns": legend_columns(style, names)}
    colour, _, dash = styles(style, "series", names, key if len(names) > 1 else None)
    crowded = len({row["x"] for row in panel}) > MAX_DOTS
    shape = {
        "field": "stage",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": ["epoch", "round", "refine"], "range": ["circle", "circle", "square"]},
    }
    margin = {
        "mark": {"type": "rule", "opacity": 0.45, "strokeWidth": 0.7},
        "encoding": {"y": {**y, "field": "points_low"}, "y2": {"field": "points_high"}, "color": colour},
    }
    return {
        "height": round(10 * style.font, 1),
        "encoding": {"x": x},
        "layer": [
            *([margin] if any(row["low"] is not None for row in rows) else []),
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
        "set",
        "panel_name",
        "series",
        "measure",
        "scoring",
        "stage",
        "number",
        "x",
        *CURVE_FIELDS,
        "ring",
    ),
    caption="Criterion: the mean cosine of the most frequent source words and their translations under CSLS, which "
    "needs no dictionary.",
    notes=notes,
    page=OnPage(
        section="words",
        heading="Along the way of alignments",
        caption="The unsupervised criterion, which needs no dictionary, and the precision@1 of each map.",
        columns=(
            ("panel_name", "Alignment"),
            ("series", "Seed"),
            ("stage", "Stage"),
            ("number", "Number"),
            ("measure", "Measure"),
            ("points", "Value"),
            ("points_low", "from"),
            ("points_high", "to"),
        ),
    ),
    reads="alignment",
)
