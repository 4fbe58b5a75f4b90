"""The interval that stands beside a number, and how it is written: every table, page and figure asks here."""

from __future__ import annotations

from typing import Any

Estimate = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval, null where there is none."""


def estimate_of(cell: Any) -> Estimate:
    """The number in a cell of the summary and the interval that is shown with it."""
    if cell is not None and hasattr(cell, "score"):
        return cell.score.value, cell.score.low, cell.score.high
    score = (cell or {}).get("score") or {}
    return score.get("value"), score.get("low"), score.get("high")


def half_width(low: float | None, high: float | None, *, scale: float = 100, digits: int = 1) -> str:
    """± and half the width of an interval; nothing for a number that has none, as a constant answer."""
    return "" if low is None or high is None else f"±{scale * (high - low) / 2:.{digits}f}"


def in_points(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A share and its interval in words: 78.7 (77.5 to 79.8)."""
    if value is None:
        return "–"
    return f"{100 * value:.1f}" + ("" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})")
