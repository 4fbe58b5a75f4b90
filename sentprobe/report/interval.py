"""The interval of a number, and how it is written: used by every table, page and figure."""

from __future__ import annotations

from sentprobe.report.types import Cell

Estimate = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval, None where there is none."""


def estimate_of(cell: Cell | None) -> Estimate:
    """The number in a cell and the interval that is shown with it."""
    return (None, None, None) if cell is None else (cell.score.value, cell.score.low, cell.score.high)
