"""Heat map: sets by encoders, as points, as points above the best baseline, or as ratios.

Ravishankar et al. (2019), figure 2, has tasks by encoders; figure 4 has ratios to a language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sonde.errors import UsageError
from sonde.report.charts.figure_style import Row, Spec, Width, figure_style, points, single_view, ticks
from sonde.report.charts.matrix import Matrix, cells
from sonde.report.charts.options import Mode, Options, require_rows, score_title, selected_columns, selected_sets
from sonde.report.escape import plain
from sonde.report.interval import estimate_of, in_points
from sonde.report.verdict import NOT_SIGNIFICANT, mark_of, verdict_of

NEEDS = "A heat map needs results of an encoder; the run has none."
FIELDS = {"absolute": "points", "above": "points_above", "relative": "ratio"}
"""The field that each mode draws."""


def chart(summary: Mapping[str, Any], options: Options) -> tuple[list[Row], Spec]:
    """The figure of these options."""
    to = options.relative_to
    if options.mode == "relative" and to is None:
        raise UsageError("Relative to what? Name an encoder or a language: --relative-to static:.")
    found = rows(summary, sets=options.sets, columns=options.columns, relative_to=to)
    if options.mode == "above" and all(row["above"] is None for row in found):
        raise UsageError(
            "There is no baseline to be above of: no set has one on the rows that its encoders were tested on."
        )
    return require_rows(found, NEEDS), spec(found, width=options.width, mode=options.mode)


def rows(
    summary: Mapping[str, Any],
    *,
    sets: Sequence[int] = (),
    columns: Sequence[int] = (),
    relative_to: int | str | None = None,
) -> list[Row]:
    """A row per set and encoder, with nulls where there is no number.

    ``value``, ``low``, ``high``, ``baseline`` and ``above`` are shares of one; ``points`` and ``points_above`` the same
    in points; ``ratio`` is to the same cell of ``relative_to``: of a column, or of the task in a language.
    """
    short, titles = selected_columns(summary, columns), selected_sets(summary, sets)
    every = selected_columns(summary, ())
    reference = every[relative_to] if isinstance(relative_to, int) else relative_to and plain(relative_to)
    found = []
    for i in titles:
        said = summary["sets"][i]
        for j in short:
            cell = said["cells"][j]
            value, low, high = estimate_of(cell)
            known = cell if cell is not None and value is not None else {}
            baseline = known.get("against")
            above = None if value is None or not baseline else value - baseline["value"]
            found.append(
                {
                    "set": i, "label": plain(said["label"]), "set_name": titles[i], "task": plain(said["task"]),
                    "language": said["language"] and plain(said["language"]),
                    "encoder": plain(", ".join(summary["columns"][j]["label"])),
                    "encoder_name": short[j], "column": j, "metric": said["scored_by"], "value": value, "low": low,
                    "high": high, "baseline": baseline["value"] if baseline else None, "above": above,
                    "verdict": verdict_of(known), "marked": bool(mark_of(known)),
                    "letters": known.get("letters"), "best": bool(known.get("best")),
                    "partial": bool(known.get("partial")), "points": points(value), "points_above": points(above),
                    "reference": reference,
                    "ratio": _ratio(summary, value, i, j, relative_to),
                    "text": _tooltip_text(short[j], titles[i], cell),
                }
            )  # fmt: skip
    return found if any(row["value"] is not None for row in found) else []


def _ratio(summary: Mapping[str, Any], value: float | None, i: int, j: int, to: int | str | None) -> float | None:
    said = summary["sets"][i]
    if isinstance(to, int):
        other, _, _ = estimate_of(said["cells"][to])
    else:
        same = (s for s in summary["sets"] if s["language"] == to and _task_key(s) == _task_key(said))
        other = next((v for s in same if (v := estimate_of(s["cells"][j])[0]) is not None), None) if to else None
    return None if value is None or not other else round(value / other, 6)


def _task_key(said: Mapping[str, Any]) -> tuple[str, str]:
    """What a set shares with the set of another language: its task and its suite."""
    suite, slash, _ = said["name"].rpartition("/")
    return said["task"], suite if slash else ""


def _tooltip_text(encoder: str, title: str, cell: Mapping[str, Any] | None) -> str:
    value, low, high = estimate_of(cell)
    if cell is None or value is None:
        return f"{encoder} on {title}: {'failed' if cell and 'failure' in cell else 'no result'}"
    said = f"{encoder} on {title}: {in_points(value, low, high)}"
    if against := cell.get("against"):
        words = NOT_SIGNIFICANT if mark_of(cell) else "best baseline"
        said += f"; {words}: {against['baseline']}, {in_points(against['value'])}"
    return said + ("; partial" if cell.get("partial") else "")


def spec(rows: Sequence[Row], *, width: Width = "container", mode: Mode = "absolute") -> Spec:
    """Sets go down unless there are more encoders. Bold and † as in tables."""
    style, field = figure_style(width), FIELDS[mode]
    sets, encoders = (list(dict.fromkeys(row[name] for row in rows)) for name in ("set_name", "encoder_name"))
    y, x, ys, xs = "set_name", "encoder_name", sets, encoders
    if len(encoders) > len(sets):
        x, y, xs, ys = y, x, ys, xs
    values = [row[field] for row in rows if row[field] is not None]
    low, *_, high = ticks(values)
    shape: dict[str, Any] = {"bold": "best", "domain": (low, high), "title": score_title(rows)}
    if mode == "above":
        far = max((abs(value) for value in values), default=1.0) or 1.0
        shape = {"domain": (-far, far), "format": "+.1f", "short": "+.0f", "colours": "both"}
        shape["title"] = "points above the best baseline"
    elif mode == "relative":
        far = min(0.5, max((abs(value - 1) for value in values), default=0.5) or 0.1)
        shape = {"domain": (1 - far, 1 + far), "format": ".2f", "short": ".1f", "colours": "both"}
        shape["title"] = f"ratio to {rows[0]['reference']}" if rows[0]["reference"] else "ratio"
    matrix = Matrix(x=x, y=y, xs=xs, ys=ys, value=field, mark_if="marked", **shape)
    room = style.total - style.label_width(ys)
    return single_view(cells(style, matrix, rows, room), rows, style)
