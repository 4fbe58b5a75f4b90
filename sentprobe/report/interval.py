"""The interval of a number, and how it is written: used by every table, page and figure."""

from __future__ import annotations

from sentprobe.report.types import Cell

Estimate = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval, None where there is none."""


def estimate_of(cell: Cell | None) -> Estimate:
    """The number in a cell and the interval that is shown with it."""
    return (None, None, None) if cell is None else (cell.score.value, cell.score.low, cell.score.high)


def in_points(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A share and its interval in words: 78.7 (77.5 to 79.8)."""
    if value is None:
        return "–"
    return f"{100 * value:.1f}" + ("" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})")
