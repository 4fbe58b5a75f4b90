"""What is left of each score under the controls: a panel per set, a line per encoder, a mark per control.

Only controls on the test rows of the set are drawn, since only these may be compared with the score; not those that can
only be at chance, such as shuffled labels.
"""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report.drawing.chart import (
    INTERVAL_COLUMNS,
    MAX_MARKS,
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    score_title,
    selected_columns,
    selected_sets,
    share_metric,
)
from sentprobe.report.drawing.figure_style import (
    SERIES_COLOURS,
    SHAPES,
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
from sentprobe.report.types import Summary
from sentprobe.report.variants import part_of
from sentprobe.run.variant import VariantSummary, above_majority

SCORE, BASELINE = "score", "best baseline"
INK, MUTED = "#222222", "#5a5a5a"


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set, encoder and control, one for the score itself, and one per set for the best baseline."""
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    records: list[Row] = []
    for i, title in titles.items():
        s = summary.sets[i]
        head = {"set": i, "set_name": title, "metric": share_metric(s)}
        set_rows: list[Row] = []
        for j, name in short.items():
            cell, variants = s.cells[j], s.variants[j] if j < len(s.variants) else ()
            controls = [v for v in variants if is_drawn(v)]
            if cell is None or not controls:
                continue
            numbered = [
                (SCORE, cell.accuracy, cell.low, cell.high),
                *((v.name, v.value, v.low, v.high) for v in controls),
            ]
            set_rows += [
                head
                | {
                    "column": j,
                    "encoder_name": name,
                    "control": plain(what),
                    **numbers(value, low, high),
                    "text": f"{name}, {plain(what)}: {POINTS.with_interval(value, low, high)}",
                }
                for what, value, low, high in numbered
            ]
        bars = dict.fromkeys((c.against.baseline, c.against.value) for c in s.cells if c is not None and c.against)
        for name, value in bars if set_rows else ():
            text = f"best baseline on {title}: {plain(name)}, {POINTS.with_interval(value)}"
            baseline_row = {"column": None, "encoder_name": None, "control": BASELINE, "text": text}
            set_rows.append(head | baseline_row | numbers(value, None, None))
        records += set_rows
    return records


def is_drawn(variant: VariantSummary) -> bool:
    """Whether it is a control whose score may be compared with the plain one, and can be above chance."""
    part = part_of(variant.of)
    return variant.kind == "control" and variant.lost is not None and getattr(part, "objection", None) != above_majority


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Each panel has its own axis, as sets differ in difficulty."""
    style = figure_style(options.width)
    titles = list(dict.fromkeys(row["set_name"] for row in rows))
    names = list(dict.fromkeys(row["encoder_name"] for row in rows if row["encoder_name"] is not None))
    controls = list(dict.fromkeys(row["control"] for row in rows if row["control"] not in (SCORE, BASELINE)))
    panel_rows = [row | {"panel": titles.index(row["set_name"])} for row in rows]

    def draw(panel: Panel) -> Spec:
        return _panel(style, [row for row in panel_rows if row["panel"] == panel.number], names, controls, panel)

    label_width, gap = style.label_width(names), 2 * style.font
    return grid(style, panel_rows, titles, draw, label_width=label_width, min_width=12 * style.font, gap=gap, most=3)


def _panel(
    style: FigureStyle, rows: Sequence[Row], names: Sequence[str], controls: Sequence[str], panel: Panel
) -> Spec:
    ends = [row[name] for row in rows if row["control"] == SCORE for name in ("points_low", "points_high")]
    x = points_axis(ticks([*(row["points"] for row in rows), *ends]), "points", score_title(rows) if panel.last else "")
    axis = name_axis(style, names, labels=panel.first, labelPadding=style.font / 1.5)
    y: Spec = {"field": "encoder_name", "type": "nominal", "scale": {"domain": list(names)}, "axis": axis}
    kinds = [SCORE, *controls]
    key: Spec = {
        "title": None,
        "orient": "bottom",
        "columns": legend_columns(style, kinds),
        "symbolSize": style.dot(30),
    }
    by: Spec = {"field": "control", "type": "nominal", "legend": key}
    colours = [INK, *(SERIES_COLOURS[i % len(SERIES_COLOURS)] for i in range(len(controls)))]
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(kinds))]
    where = {"filter": {"field": "control", "oneOf": kinds}}
    thin = style.font / 9
    score = {"filter": {"field": "control", "equal": SCORE}}
    return {
        "height": {"step": style.step * 1.2},
        "layer": [
            {
                "transform": [{"filter": {"field": "control", "equal": BASELINE}}],
                "mark": {"type": "rule", "color": MUTED, "strokeDash": style.dash([4, 2]), "strokeWidth": thin},
                "encoding": {"x": x, "tooltip": tooltip()},
            },
            {
                "transform": [score],
                "mark": {"type": "rule", "color": INK, "strokeWidth": style.font / 7},
                "encoding": {"x": {**x, "field": "points_low"}, "x2": {"field": "points_high"}, "y": y},
            },
            {
                "transform": [where],
                "mark": {"type": "point", "size": style.dot(22), "strokeWidth": style.font / 8, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": y,
                    "tooltip": tooltip(),
                    "color": by | {"scale": {"domain": kinds, "range": colours}},
                    "shape": by | {"scale": {"domain": kinds, "range": shapes}},
                },
            },
        ],
    }


chart = Chart(
    name="controls",
    by_accuracy=True,
    order=55,
    title="Scores under controls, set by set",
    doc="each score with what controls on the same test rows leave of it, a panel per set "
    "(`sentprobe run --controls all`)",
    needs="A figure of controls needs results of controls: sentprobe run --controls all. The run has none.",
    rows=rows,
    spec=spec,
    caption="Each score with its {level} interval, and what is left of it under controls; dashed: the best baseline.",
    page=OnPage(
        section="controls",
        heading="Controls",
        intro="What is left of a score when one source of information is removed. If a control is within the interval "
        "of the score, what it removes made no measurable difference.",
        caption="Circles are scores, with {level} intervals; coloured marks are controls on the same test rows, and "
        "dashed lines the best baselines. Controls on other rows, and those that can only be at chance, are in the "
        "tables below.",
        max_rows=MAX_MARKS,
        columns=(*NAME_COLUMNS, ("control", "Control"), *INTERVAL_COLUMNS),
    ),
)
