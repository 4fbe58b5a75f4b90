"""Languages side by side: what each encoder reaches on each task, or ratios to one language.

Krasnowska-Kieraś and Wróblewska (2019), figure 2, has a panel per language; Ravishankar et al. (2019), figure 4, has
ratios to English, where 1 is white.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.errors import UsageError
from sonde.report.charts.figure_style import (
    FigureStyle,
    Row,
    Spec,
    Width,
    figure_style,
    name_axis,
    numbers,
    points_axis,
    styles,
    ticks,
    tooltip,
)
from sonde.report.charts.matrix import Matrix, cells
from sonde.report.charts.options import Mode, Options, require_rows, score_title, selected_columns
from sonde.report.charts.panels import Panel, grid, legend_columns
from sonde.report.interval import in_points
from sonde.report.names import truncate_names

NEEDS = (
    "Profiles need sets of the same tasks in two languages or more; name the runs that have them together: "
    "sonde figure ENGLISH FRENCH --kind profiles."
)


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    if options.mode == "above":
        raise UsageError("Profiles are absolute or relative to a language; a heat map shows what is above a baseline.")
    known = (summary.get("languages") or {}).get("languages", ())
    to = options.relative_to
    if options.mode == "relative" and to is None and known:
        to = "en" if "en" in known else known[0]
    if known and to is not None and to not in known:
        raise UsageError(f"Profiles are relative to a language; the run has {', '.join(known)}.")
    found = rows(summary, sets=options.sets, columns=options.columns, relative_to=to)
    return require_rows(found, NEEDS), spec(found, width=options.width, mode=options.mode)


def rows(
    summary: Mapping[str, Any],
    *,
    sets: Sequence[int] = (),
    columns: Sequence[int] = (),
    relative_to: int | str | None = None,
) -> list[Row]:
    """A row per language, task and encoder, of the first such set; ``ratio`` is to the one in ``relative_to``."""
    known = summary.get("languages")
    if not known:
        return []
    short = selected_columns(summary, columns)
    languages, tasks = (
        dict(zip(known[name], truncate_names(known[name]), strict=True)) for name in ("languages", "tasks")
    )
    of: dict[tuple[str, int], float] = {}
    for p in known["profiles"]:
        if p["language"] == relative_to and (not sets or p["set"] in sets):
            of.setdefault((p["task"], p["column"]), p["value"])
    seen: set[tuple[str, str, int]] = set()
    found = []
    for p in known["profiles"]:
        here = (p["language"], p["task"], p["column"])
        if (sets and p["set"] not in sets) or p["column"] not in short or here in seen:
            continue
        seen.add(here)
        value, reference = p["value"], of.get((p["task"], p["column"]))
        language, task, encoder = languages[p["language"]], tasks[p["task"]], short[p["column"]]
        found.append(
            {
                "language": language, "task": task, "place": known["tasks"].index(p["task"]), "set": p["set"],
                "column": p["column"], "encoder_name": encoder,
                "metric": summary["sets"][p["set"]]["scored_by"], **numbers(value, p["low"], p["high"]),
                "reference": languages.get(str(relative_to)),
                "ratio": None if value is None or not reference else round(value / reference, 6),
                "text": f"{encoder}, {language}, {task}: {in_points(value, p['low'], p['high'])}",
            }
        )  # fmt: skip
    order = list(languages.values())
    return sorted(found, key=lambda row: (order.index(row["language"]), row["place"], row["column"]))


def spec(rows: Sequence[Row], *, width: Width = "container", mode: Mode = "absolute") -> Spec:
    """A panel per language with a line per encoder; of ratios, a panel per encoder."""
    style = figure_style(width)
    return _ratios(style, rows) if mode == "relative" else _profiles(style, rows)


def _profiles(style: FigureStyle, rows: Sequence[Row]) -> Spec:
    """Tasks go down, so that their names stand level and once."""
    languages, encoders = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "encoder_name"))
    tasks = list(dict.fromkeys(row["task"] for row in sorted(rows, key=lambda row: row["place"])))
    drawn = [
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
        drawn,
        languages,
        draw,
        label_width=style.label_width(tasks),
        min_width=8 * style.font,
        gap=2 * style.font,
    )


def _ratios(style: FigureStyle, rows: Sequence[Row]) -> Spec:
    languages, encoders = (list(dict.fromkeys(row[name] for row in rows)) for name in ("language", "encoder_name"))
    tasks = list(dict.fromkeys(row["task"] for row in sorted(rows, key=lambda row: row["place"])))
    drawn = [row | {"panel": encoders.index(row["encoder_name"])} for row in rows]
    far = min(0.5, max((abs(row["ratio"] - 1) for row in rows if row["ratio"] is not None), default=0.5) or 0.1)
    matrix = Matrix(
        x="language", y="task", xs=languages, ys=tasks, value="ratio", domain=(1 - far, 1 + far), format=".2f",
        short=".1f", colours="both", title=f"ratio to {rows[0]['reference']}",
    )  # fmt: skip

    def draw(panel: Panel) -> Spec:
        own = [row for row in drawn if row["panel"] == panel.number]
        return cells(style, matrix, own, panel.width, names=panel.first)

    min_width = len(languages) * 2.6 * style.font
    return grid(
        style, drawn, encoders, draw, label_width=style.label_width(tasks), min_width=min_width, gap=1.5 * style.font
    )
