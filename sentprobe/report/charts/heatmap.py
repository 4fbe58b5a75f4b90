"""Heat map: sets by encoders, in points, in points above the best baseline, or as ratios.

Ravishankar et al. (2019) have tasks by encoders in figure 2, and ratios to a language in figure 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.errors import UsageError
from sentprobe.report.cells import estimate_of
from sentprobe.report.drawing.chart import (
    NAME_COLUMNS,
    Chart,
    OnPage,
    Options,
    score_title,
    selected_columns,
    selected_sets,
)
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, points, single_view, ticks
from sentprobe.report.drawing.matrix import Matrix, break_names, cells
from sentprobe.report.languages import class_note, class_notes, language_of, task_of
from sentprobe.report.types import CellSummary, Summary
from sentprobe.report.verdict import BOLD_NOTE, MARK, NOT_SIGNIFICANT, is_significant, mark_of, verdict_of
from sentprobe.results.metric import metric_named

FIELDS = {"absolute": "points", "above": "points_above", "relative": "ratio"}
"""The field that each mode draws."""
MAX_ABOVE = 25.0
"""Points above or below the best baseline at which colours end: the length of sentences is 80 points away."""


def rows(summary: Summary, options: Options) -> list[Row]:
    """A row per set and encoder, with nulls where there is no score.

    ``value``, ``low``, ``high``, ``baseline`` and ``above`` are fractions; ``points`` and ``points_above`` the same
    in points; ``ratio`` is to the same cell of ``relative_to``: of a column, or of the task in a language.
    """
    to = options.relative_to
    if options.mode == "relative" and to is None:
        raise UsageError("--mode relative needs an encoder or a language to compare with: --relative-to static:.")
    short, titles = selected_columns(summary, options.columns), selected_sets(summary, options.sets)
    reference = selected_columns(summary, ())[to] if isinstance(to, int) else to and plain(to)
    records: list[Row] = []
    for i, title in titles.items():
        s = summary.sets[i]
        for j, encoder in short.items():
            cell = s.cells[j]
            value, low, high = estimate_of(cell)
            scored = cell if value is not None else None
            baseline = scored.against if scored else None
            gain = metric_named(s.scored_by).gain
            above = None if value is None or not baseline else gain(value, baseline.value)
            records.append(
                {
                    "set": i,
                    "label": plain(s.label),
                    "set_name": title,
                    "task": plain(s.task),
                    "language": s.language and plain(s.language),
                    "encoder": plain(summary.columns[j].encoder),
                    "encoder_name": encoder,
                    "column": j,
                    "metric": s.scored_by,
                    "value": value,
                    "low": low,
                    "high": high,
                    "baseline": baseline.value if baseline else None,
                    "above": above,
                    "verdict": verdict_of(scored),
                    "marked": bool(mark_of(scored)),
                    "significant": is_significant(scored),
                    "letters": scored.letters if scored else None,
                    "best": bool(scored and scored.best),
                    "partial": bool(scored and scored.partial),
                    "points": points(value),
                    "points_above": points(above),
                    "reference": reference,
                    "ratio": _ratio(summary, value, i, j, to),
                    "text": _tooltip_text(encoder, title, cell, failed=j in s.failed),
                }
            )
    if options.mode == "relative":
        _refuse_blank(summary, records, to)
    if options.mode == "above" and all(row["above"] is None for row in records):
        raise UsageError("--mode above needs a baseline: no set has one on the rows that its encoders were tested on.")
    return records if any(row["value"] is not None for row in records) else []


def _refuse_blank(summary: Summary, records: Sequence[Row], to: int | str | None) -> None:
    """Raise UsageError if there is nothing but what ratios are relative to, with the reason."""
    if isinstance(to, int):
        if any(row["ratio"] is not None for row in records if row["column"] != to):
            return
        why = f"no other encoder has a score on a set of {summary.columns[to].name}"
    else:
        if any(row["ratio"] is not None for row in records if language_of(summary.sets[row["set"]]) != to):
            return
        tasks = {task_of(s) for s in summary.sets if language_of(s) == to}
        note = class_note(s for s in summary.sets if task_of(s) in tasks).removesuffix(".")
        why = note or f"no encoder has a score on a task in {to} and on the same task in another language"
    raise UsageError(f"--mode relative has nothing to draw: {why}.")


def _ratio(summary: Summary, value: float | None, i: int, j: int, to: int | str | None) -> float | None:
    s = summary.sets[i]
    if isinstance(to, int):
        reference, _, _ = estimate_of(s.cells[to])
    else:
        same_task = (
            t for t in summary.sets if language_of(t) == to and task_of(t) == task_of(s) and t.classes == s.classes
        )
        reference = next((v for t in same_task if (v := estimate_of(t.cells[j])[0]) is not None), None) if to else None
    return None if value is None or not reference else round(value / reference, 6)


def _tooltip_text(encoder: str, title: str, cell: CellSummary | None, *, failed: bool) -> str:
    value, low, high = estimate_of(cell)
    if cell is None or value is None:
        return f"{encoder} on {title}: {'failed' if failed else 'no result'}"
    text = f"{encoder} on {title}: {POINTS.with_interval(value, low, high)}"
    if cell.against:
        words = NOT_SIGNIFICANT if mark_of(cell) else "best baseline"
        text += f"; {words}: {cell.against.baseline}, {POINTS.with_interval(cell.against.value)}"
    return text + ("; partial" if cell.partial else "")


def spec(rows: Sequence[Row], options: Options) -> Spec:
    """Sets go down, unless there are more encoders than sets. Bold and † as in tables."""
    style, field = figure_style(options.width), FIELDS[options.mode]
    sets, encoders = (list(dict.fromkeys(row[name] for row in rows)) for name in ("set_name", "encoder_name"))
    y, x, ys, xs = "set_name", "encoder_name", sets, encoders
    if len(encoders) > len(sets):
        x, y, xs, ys = y, x, ys, xs
    values = [row[field] for row in rows if row[field] is not None]
    low, *_, high = ticks(values)
    shape: dict[str, Any] = {"bold": "best", "domain": (low, high), "title": score_title(rows)}
    if options.mode == "above":
        far = min(MAX_ABOVE, max((abs(value) for value in values), default=1.0) or 1.0)
        shape = {"domain": (-far, far), "format": "+.1f", "short": "+.0f", "colours": "both", "bold": "best"}
        shape |= {"title": "points above the best baseline", "colour_if": "significant"}
    elif options.mode == "relative":
        far = min(0.5, max((abs(value - 1) for value in values), default=0.5) or 0.1)
        shape = {"domain": (1 - far, 1 + far), "format": ".2f", "short": ".1f", "colours": "both"}
        shape["title"] = f"ratio to {rows[0]['reference']}" if rows[0]["reference"] else "ratio"
    width = style.total - style.label_width(ys)
    broken = dict(zip(xs, break_names(style, xs, width / len(xs)), strict=True))
    rows = [row | {"x_name": broken[row[x]]} for row in rows]
    matrix = Matrix(
        x="x_name", y=y, xs=list(broken.values()), ys=ys, value=field, mark_if="marked", x_top=True, **shape
    )
    return single_view(cells(style, matrix, rows, width), rows, style)


chart = Chart(
    name="heatmap",
    order=10,
    title="Heat map of the scores, sets by encoders; the table above has the same numbers",
    doc="sets by encoders",
    needs="A heat map needs results of an encoder; the run has none.",
    rows=rows,
    spec=spec,
    notes=class_notes,
    options={
        "mode": "`--mode above`: points above the best baseline; `--mode relative`: ratios",
        "relative_to": "`--relative-to`: the encoder or language that ratios are relative to",
    },
    caption=BOLD_NOTE,
    page=OnPage(
        section="intervals",
        heading="Heat map",
        intro="Relative to the best baseline, one column or a language, blue is better and orange is worse; what does "
        "not differ significantly from the best baseline is grey. Of scores, the darker blue is the higher.",
        caption=f"{BOLD_NOTE} {MARK}: {NOT_SIGNIFICANT}. Ratios to a language are of sets with as many classes only.",
        columns=(
            *NAME_COLUMNS,
            ("points", "Score, × 100"),
            ("points_above", "above the best baseline"),
            ("verdict", "verdict"),
            ("ratio", "ratio"),
        ),
        switch=True,
    ),
)
