"""A dot and an interval per encoder, a panel per set, and marks for what to compare each score with.

Marks: the majority, the length, the better naive Bayes of the run, and another baseline if that is better; the human
bound and published models. A filled dot is what is bold in a table, or alone on its set, and significantly better than
the best baseline; † marks those that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report import published as published_results
from sentprobe.report.cells import estimate_of
from sentprobe.report.drawing.chart import (
    INTERVAL_COLUMNS,
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    score_title,
    selected_columns,
    selected_sets,
)
from sentprobe.report.drawing.figure_style import (
    SERIES_COLOURS,
    FigureStyle,
    Row,
    Spec,
    figure_style,
    name_axis,
    numbers,
    points_axis,
    ticks,
    tooltip,
)
from sentprobe.report.drawing.matrix import Panel, grid, legend_columns
from sentprobe.report.names import listed
from sentprobe.report.types import SetSummary, Summary
from sentprobe.report.verdict import FILLED_NOTE, MARK, NOT_SIGNIFICANT, mark_of, verdict_of
from sentprobe.results.metric import DEFAULT_METRIC, metric_named

MARKS: Mapping[str, tuple[Sequence[float], str]] = {
    "majority": ([1, 1.5], "#5a5a5a"),
    "length": ([4, 2], "#5a5a5a"),
    "naive Bayes": ([1, 0], "#5a5a5a"),
    "other baseline": ([2.5, 1], "#5a5a5a"),
    "human": ([7, 1.5, 1, 1.5], "#009E73"),
    "published": ([1, 0], "#9c9c9c"),
}
"""Dashes and colour of each kind of mark."""
PUBLISHED_ROW = "published"
"""The row of published models, below those of the encoders."""
MARK_BASELINES = {"majority": ("majority",), "length": ("length",), "naive Bayes": ("nb-uni", "nb-bi")}
"""The baselines of the run that a mark is the best of."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set and encoder, with ``mark`` null, and a row per set and mark, with ``column`` null."""
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    records: list[Row] = []
    for i, title in titles.items():
        s = summary.sets[i]
        head = {"set": i, "set_name": title, "label": plain(s.label), "metric": s.scored_by}
        scored = {j: cell for j in short if (cell := s.cells[j]) and cell.score.value is not None}
        for j, cell in scored.items():
            value, low, high = estimate_of(cell)
            verdict = verdict_of(cell)
            details = {
                "letters": cell.letters,
                "best": cell.best,
                "partial": cell.partial,
                "verdict": verdict,
                "marked": bool(mark_of(cell)),
            }
            details["filled"] = details["best"] or (len(scored) == 1 and verdict == "above")
            comment = f"; {NOT_SIGNIFICANT}" if details["marked"] else ""
            text = f"{short[j]} on {title}: {POINTS.with_interval(value, low, high)}{comment}"
            records.append(head | _row(value, low, high, text) | {"column": j, "encoder_name": short[j]} | details)
        samples = {summary.columns[j].sample for j in scored}
        for mark, name, score in _marks(summary, s, samples) if scored else ():
            text = f"{name} on {title}: {POINTS.with_interval(score)}"
            records.append(head | _row(score, None, None, text) | {"mark": mark, "model": name})
    return records


def _row(value: float | None, low: float | None, high: float | None, text: str) -> Row:
    return {
        "column": None,
        "encoder_name": None,
        "mark": None,
        "model": None,
        "letters": None,
        "best": False,
        "filled": False,
        "partial": False,
        "verdict": None,
        "marked": False,
        **numbers(value, low, high),
        "text": text,
    }


def _marks(summary: Summary, s: SetSummary, samples: set[tuple[int | None, str]]) -> Iterator[tuple[str, str, float]]:
    """What each score of a set is to be compared with: kind, name and value; baselines on the encoders' own rows."""
    scores = [
        (column.encoder, cell.score.value)
        for column, cell in zip(summary.baselines, s.baselines, strict=True)
        if cell and cell.score.value is not None and column.sample in samples
    ]
    gain = partial(metric_named(s.scored_by).gain, baseline=0.0)
    for mark, names in MARK_BASELINES.items():
        best = max(((gain(value), name, value) for name, value in scores if name in names), default=None)
        if best:
            yield mark, plain(best[1]), best[2]
    name, value = max(scores, key=lambda pair: gain(pair[1]), default=("", 0.0))
    if name and all(name not in names for names in MARK_BASELINES.values()):
        yield "other baseline", plain(name), value
    extent = "" if s.printed_for in (None, "this set") else f", {s.printed_for}"
    if s.people:
        yield "human", f"human ({s.people.n} sentences judged)", s.people.accuracy
    elif s.human:
        yield "human", plain(f"human ({s.human.paper}{extent})"), s.human.accuracy
    for printed in s.published:
        if printed.kind == "model":
            yield "published", plain(f"{printed.model} ({printed.paper}{extent})"), printed.accuracy


def notes(summary: Summary, rows: Sequence[Row]) -> Iterable[str]:
    """Where the published numbers come from."""
    sets = {row["set"] for row in rows if row["mark"] in ("human", "published")}
    return published_results.footnotes([summary.sets[i] for i in sorted(sets)], "People and published models")


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Each panel has its own axis: sets differ in difficulty, and encoders are compared within a set."""
    style = figure_style(options.width)
    titles = list(dict.fromkeys(row["set_name"] for row in rows))
    names = list(dict.fromkeys(row["encoder_name"] for row in rows if row["encoder_name"] is not None))
    panel_rows = [row | {"panel": titles.index(row["set_name"])} for row in rows]
    marks = [mark for mark in MARKS if any(row["mark"] == mark for row in rows)]

    def draw(panel: Panel) -> Spec:
        rows_of_panel = [row for row in panel_rows if row["panel"] == panel.number]
        return _panel(style, rows_of_panel, names, marks, panel)

    min_width = 9 * style.font
    lines = [*names, *([PUBLISHED_ROW] if "published" in marks else ())]
    return grid(
        style,
        panel_rows,
        titles,
        draw,
        label_width=style.label_width(lines),
        min_width=min_width,
        gap=2 * style.font,
    )


def _panel(style: FigureStyle, rows: Sequence[Row], names: Sequence[str], marks: Sequence[str], panel: Panel) -> Spec:
    along = ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))
    x = points_axis(
        along,
        "points",
        score_title(rows) if panel.last or score_title(rows) != metric_named(DEFAULT_METRIC).axis_title else "",
    )
    lines = [*names, *([PUBLISHED_ROW] if "published" in marks else ())]
    axis = name_axis(style, lines, labels=panel.first, labelPadding=style.font / 1.5)
    y: Spec = {"type": "nominal", "scale": {"domain": lines}, "axis": axis}
    dots = _dots(style, x, {**y, "field": "encoder_name"})
    return {"height": {"step": style.step}, "layer": [*_reference_lines(style, x, y, marks), *dots]}


def _reference_lines(style: FigureStyle, x: Spec, y: Spec, marks: Sequence[str]) -> list[Spec]:
    """Lines from top to bottom, and short ones in a row of their own for published models, which may be many."""
    if not marks:
        return []
    key: Spec = {
        "title": None,
        "orient": "bottom",
        "columns": legend_columns(style, marks),
        "symbolType": "stroke",
        "symbolSize": style.dot(140),
    }
    by: Spec = {"field": "mark", "type": "nominal", "legend": key}
    dash = by | {"scale": {"domain": list(marks), "range": [style.dash(MARKS[mark][0]) for mark in marks]}}
    colour = by | {"scale": {"domain": list(marks), "range": [MARKS[mark][1] for mark in marks]}}
    lines = [mark for mark in MARKS if mark != "published"]
    return [
        {
            "transform": [{"filter": {"field": "mark", "equal": "published"}}],
            "mark": {
                "type": "tick",
                "orient": "vertical",
                "size": style.font * 0.9,
                "thickness": style.font / 10,
            },
            "encoding": {"x": x, "y": {**y, "datum": PUBLISHED_ROW}, "color": colour, "tooltip": tooltip()},
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
    layers: list[Spec] = [
        {
            "transform": [encoders],
            "mark": {"type": "rule", "color": SERIES_COLOURS[0], "strokeWidth": style.font / 6},
            "encoding": ends,
        }
    ]
    for filled in (False, True):
        which = {"filter": {"field": "filled", "equal": filled}}
        layers.append(
            {
                "transform": [encoders, which],
                "mark": {**dot, "fill": SERIES_COLOURS[0] if filled else "#ffffff"},
                "encoding": {"x": x, "y": y, "tooltip": tooltip()},
            }
        )
    layers.append(
        {
            "transform": [encoders, {"filter": {"field": "marked", "equal": True}}],
            "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": style.font / 4},
            "encoding": {"x": {**x, "field": "points_high"}, "y": y, "text": {"value": MARK}},
        }
    )
    return layers


def page_caption(rows: Sequence[Row]) -> str:
    """What dots, lines and marks are, as far as they are drawn."""
    marks = {row["mark"] for row in rows}
    parts = ["Dots are scores on the test rows, lines {level} intervals."]
    if any(row["filled"] for row in rows):
        parts.append(FILLED_NOTE)
    if any(row["marked"] for row in rows):
        parts.append(f"{MARK}: {NOT_SIGNIFICANT}.")
    lines = ["baselines of this run"] * any(mark in marks for mark in MARKS if mark not in ("human", "published"))
    lines += ["human performance"] * ("human" in marks)
    if lines:
        parts.append(f"Vertical lines are {listed(lines)}.")
    if "published" in marks:
        parts.append(f"Short lines in the row {PUBLISHED_ROW!r} are published models.")
    return " ".join(parts)


chart = Chart(
    name="intervals",
    order=20,
    title="Scores with confidence intervals of each encoder, set by set",
    doc="a dot and its confidence interval per encoder, a panel per set, with baselines, the human bound and published "
    "models",
    needs="Intervals need results of an encoder; the run has none.",
    rows=rows,
    spec=spec,
    options={"published": "`--published`: also what papers report for other sets of the same tasks"},
    caption="{level} intervals. " + FILLED_NOTE,
    notes=notes,
    page=OnPage(
        section="intervals",
        heading="Confidence intervals",
        caption=page_caption,
        columns=(*NAME_COLUMNS, *INTERVAL_COLUMNS),
    ),
)
