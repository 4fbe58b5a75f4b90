"""Languages side by side: the score of each encoder on each task, or ratios to one language.

Krasnowska-Kieraś and Wróblewska (2019) have a panel per language in figure 2; Ravishankar et al. (2019) have ratios to
English in figure 4, where 1 is white.
"""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.errors import UsageError
from sentprobe.report.drawing.chart import INTERVAL_COLUMNS, Chart, OnPage, Options, score_title, selected_columns
from sentprobe.report.drawing.figure_style import (
    FigureStyle,
    Row,
    Spec,
    figure_style,
    name_axis,
    numbers,
    points_axis,
    styles,
    ticks,
    tooltip,
)
from sentprobe.report.drawing.matrix import Matrix, Panel, cells, grid, legend_columns
from sentprobe.report.languages import class_notes
from sentprobe.report.names import truncate_names
from sentprobe.report.types import Summary


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per language, task and encoder, for the first such set; ``ratio`` is to the language ``relative_to``."""
    if options.mode == "above":
        raise UsageError("Profiles are absolute or relative to a language; --kind heatmap has --mode above.")
    comparison = summary.languages
    if not comparison:
        return []
    to = options.relative_to
    if options.mode == "relative" and to is None:
        to = "en" if "en" in comparison.languages else comparison.languages[0]
    if to is not None and to not in comparison.languages:
        raise UsageError(f"Profiles are relative to a language; the run has {', '.join(comparison.languages)}.")
    short = selected_columns(summary, options.columns)
    languages, tasks = (
        dict(zip(names, truncate_names(names), strict=True)) for names in (comparison.languages, comparison.tasks)
    )
    profiles = [p for p in comparison.profiles if not options.sets or p.set in options.sets]
    references: dict[tuple[str, int, int], float] = {}  # only sets with as many classes have the same chance level
    for p in profiles:
        if p.language == to:
            references.setdefault((p.task, p.column, summary.sets[p.set].classes), p.value)
    seen: set[tuple[str, str, int]] = set()
    records: list[Row] = []
    for p in profiles:
        key = (p.language, p.task, p.column)
        if p.column not in short or key in seen:
            continue
        seen.add(key)
        reference = references.get((p.task, p.column, summary.sets[p.set].classes))
        language, task, encoder = languages[p.language], tasks[p.task], short[p.column]
        records.append(
            {
                "language": language,
                "task": task,
                "place": comparison.tasks.index(p.task),
                "set": p.set,
                "column": p.column,
                "encoder_name": encoder,
                "metric": summary.sets[p.set].scored_by,
                **numbers(p.value, p.low, p.high),
                "reference": languages.get(str(to)),
                "ratio": None if not reference else round(p.value / reference, 6),
                "text": f"{encoder}, {language}, {task}: {POINTS.with_interval(p.value, p.low, p.high)}",
            }
        )
    if options.mode == "relative" and all(
        row["ratio"] is None for row in records if row["language"] != languages[str(to)]
    ):
        why = [*class_notes(summary, records), f"No encoder has a score on a task in {to} and in another language."]
        raise UsageError(f"--mode relative has nothing to draw. {why[0]}")
    order = list(languages.values())
    return sorted(records, key=lambda row: (order.index(row["language"]), row["place"], row["column"]))


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """A panel per language with a line per encoder; of ratios, a panel per encoder."""
    style = figure_style(options.width)
    return _ratios(style, rows) if options.mode == "relative" else _profiles(style, rows)


def _profiles(style: FigureStyle, rows: Sequence[Row]) -> Spec:
    """Tasks are rows, so that their names are horizontal and written once."""
    languages, encoders = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "encoder_name"))
    tasks = list(dict.fromkeys(row["task"] for row in sorted(rows, key=lambda row: row["place"])))
    panel_rows = [
        row | {"panel": languages.index(row["language"]), "dash": encoders.index(row["encoder_name"])} for row in rows
    ]
    key = {"title": None, "orient": "bottom", "columns": legend_columns(style, encoders)}
    colour, shape, dash = styles(style, "encoder_name", encoders, key if len(encoders) > 1 else None)
    marks = ticks(row[name] for row in rows for name in ("points", "points_low", "points_high"))

    def draw(panel: Panel) -> Spec:
        axis = name_axis(style, tasks, grid=True, labels=panel.first, labelPadding=style.font / 1.5)
        x = points_axis(marks, "points", score_title(rows))
        ends = {"x": {**x, "field": "points_low"}, "x2": {"field": "points_high"}, "color": colour}
        order = {"field": "place", "type": "quantitative"}
        return {
            "height": {"step": style.font * 2.2},
            "encoding": {"y": {"field": "task", "type": "nominal", "scale": {"domain": tasks}, "axis": axis}},
            "layer": [
                {"mark": {"type": "rule", "opacity": 0.5, "strokeWidth": style.font / 8}, "encoding": ends},
                {
                    "mark": {"type": "line", "strokeWidth": style.font / 8, "opacity": 0.75},
                    "encoding": {"x": x, "order": order, "color": colour, "strokeDash": dash},
                },
                {
                    "mark": {"type": "point", "filled": True, "size": style.dot(21), "opacity": 1},
                    "encoding": {"x": x, "color": colour, "shape": shape, "tooltip": tooltip()},
                },
            ],
        }

    return grid(
        style,
        panel_rows,
        languages,
        draw,
        label_width=style.label_width(tasks),
        min_width=8 * style.font,
        gap=2 * style.font,
    )


def _ratios(style: FigureStyle, rows: Sequence[Row]) -> Spec:
    languages, encoders = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "encoder_name"))
    tasks = list(dict.fromkeys(row["task"] for row in sorted(rows, key=lambda row: row["place"])))
    panel_rows = [row | {"panel": encoders.index(row["encoder_name"])} for row in rows]
    far = min(0.5, max((abs(row["ratio"] - 1) for row in rows if row["ratio"] is not None), default=0.5) or 0.1)
    matrix = Matrix(
        x="language",
        y="task",
        xs=languages,
        ys=tasks,
        value="ratio",
        domain=(1 - far, 1 + far),
        format=".2f",
        short=".1f",
        colours="both",
        title=f"ratio to {rows[0]['reference']}",
    )

    def draw(panel: Panel) -> Spec:
        rows_of_panel = [row for row in panel_rows if row["panel"] == panel.number]
        return cells(style, matrix, rows_of_panel, panel.width, names=panel.first)

    min_width = len(languages) * 2.6 * style.font
    return grid(
        style,
        panel_rows,
        encoders,
        draw,
        label_width=style.label_width(tasks),
        min_width=min_width,
        gap=1.5 * style.font,
    )


chart = Chart(
    name="profiles",
    order=90,
    title="Scores by task, a panel per language",
    doc="languages side by side",
    needs="Profiles need sets of the same tasks in at least two languages; give the runs that have them together: "
    "sentprobe figure ENGLISH FRENCH --kind profiles.",
    rows=rows,
    spec=spec,
    notes=class_notes,
    options={
        "mode": "`--mode relative`: ratios to a language, a panel per encoder",
        "relative_to": "`--relative-to`: that language; the default is `en`, else the first one",
    },
    caption="Horizontal bars: {level} intervals; lines join the tasks of an encoder.",
    page=OnPage(
        section="languages",
        caption="Scores by task and language, with {level} intervals.",
        columns=(("task", "Task"), ("language", "Language"), ("encoder_name", "Encoder"), *INTERVAL_COLUMNS),
    ),
)
