"""What of a run a figure shows, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sonde.errors import UsageError
from sonde.report.charts.figure_style import Row, Width
from sonde.report.names import set_names, short_names

Mode = Literal["absolute", "above", "relative"]
Lines = Literal["set", "encoder"]

METRIC_TITLES = {
    "accuracy": "accuracy (%)",
    "pearson": "Pearson × 100",
    "spearman": "Spearman × 100",
    "recall@1": "recall@1 (%)",
}
MIXED_METRICS_TITLE = "accuracy or correlation, × 100"


@dataclass(frozen=True, kw_only=True)
class Options:
    """What to draw. A figure takes note of what concerns it."""

    sets: tuple[int, ...] = ()
    """Numbers of sets in the summary; none: all."""
    columns: tuple[int, ...] = ()
    """Numbers of columns; none: all."""
    mode: Mode = "absolute"
    """heatmap: points, points above the best baseline, or a ratio. profiles: points, or a ratio."""
    relative_to: int | str | None = None
    """The column, by its number, or the language that ratios are to. profiles: a language."""
    lines: Lines | None = None
    """layers, dimensions, epochs, learning: what a line is; None: an encoder if there are several, else a set."""
    width: Width = "container"


def selected_sets(summary: Mapping[str, Any], indices: Sequence[int]) -> dict[int, str]:
    """The sets that were asked for, or all there are, by number, and what they are called beside each other."""
    found = _places(summary["sets"], indices)
    return dict(zip(found, set_names([summary["sets"][i] for i in found]), strict=True))


def selected_columns(summary: Mapping[str, Any], indices: Sequence[int]) -> dict[int, str]:
    """The same of columns."""
    found = _places(summary["columns"], indices)
    return dict(zip(found, short_names([", ".join(summary["columns"][j]["label"]) for j in found]), strict=True))


def _places(found: Sequence[Any], indices: Sequence[int]) -> list[int]:
    return [i for i in range(len(found)) if not indices or i in indices]


def require_rows(rows: list[Row], needs: str) -> list[Row]:
    """The rows; an error that says what is needed if there are none."""
    if not rows:
        raise UsageError(needs)
    return rows


def score_title(rows: Sequence[Row]) -> str:
    """What the points of these rows are, as a title."""
    met = {row["metric"] for row in rows}
    return METRIC_TITLES.get(met.pop(), MIXED_METRICS_TITLE) if len(met) == 1 else MIXED_METRICS_TITLE
