"""What of a run a figure shows, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sonde.errors import UsageError
from sonde.report.charts.look import Row, Width
from sonde.report.names import set_names, short_names

Mode = Literal["absolute", "above", "relative"]
Lines = Literal["set", "encoder"]

TITLES = {
    "accuracy": "accuracy (%)",
    "pearson": "Pearson × 100",
    "spearman": "Spearman × 100",
    "recall@1": "recall@1 (%)",
}
MIXED = "accuracy or correlation, × 100"


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


def sets_drawn(summary: Mapping[str, Any], wanted: Sequence[int]) -> dict[int, str]:
    """The sets that were asked for, or all there are, by number, and what they are called beside each other."""
    found = _places(summary["sets"], wanted)
    return dict(zip(found, set_names([summary["sets"][i] for i in found]), strict=True))


def columns_drawn(summary: Mapping[str, Any], wanted: Sequence[int]) -> dict[int, str]:
    """The same of columns."""
    found = _places(summary["columns"], wanted)
    return dict(zip(found, short_names([", ".join(summary["columns"][j]["label"]) for j in found]), strict=True))


def _places(found: Sequence[Any], wanted: Sequence[int]) -> list[int]:
    return [i for i in range(len(found)) if not wanted or i in wanted]


def some(rows: list[Row], needs: str) -> list[Row]:
    """The rows; an error that says what is needed if there are none."""
    if not rows:
        raise UsageError(needs)
    return rows


def scored(rows: Sequence[Row]) -> str:
    """What the points of these rows are, as a title."""
    met = {row["metric"] for row in rows}
    return TITLES.get(met.pop(), MIXED) if len(met) == 1 else MIXED
