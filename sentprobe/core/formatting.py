"""How numbers and names are written in tables, pages, captions and messages.

POINTS.number(0.7869)                  78.7
POINTS.number(-0.012, sign=True)       -1.2
POINTS.half_width(0.775, 0.798)        ±1.2
POINTS.with_interval(0.787, 0.775, 0.798)  78.7 (77.5 to 79.8)
"""

from __future__ import annotations

from dataclasses import dataclass

# Numbers


ABSENT = "–"
"""In place of a number that there is none of."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """A scale and a number of digits after the point."""

    scale: float = 100.0
    digits: int = 1

    def number(self, value: float | None, *, sign: bool = False) -> str:
        """A number, with its sign on request; a dash for None."""
        if value is None:
            return ABSENT
        rounded = round(self.scale * value, self.digits) + 0.0  # no -0
        return f"{rounded:{'+' if sign else ''}.{self.digits}f}"

    def half_width(self, low: float | None, high: float | None) -> str:
        """± and half the width of an interval; empty if there is none."""
        return "" if low is None or high is None else f"±{self.scale * (high - low) / 2:.{self.digits}f}"

    def interval(self, low: float, high: float, *, sign: bool = False, between: str = " to ") -> str:
        """Both ends of an interval."""
        return between.join(self.number(end, sign=sign) for end in (low, high))

    def with_interval(self, value: float | None, low: float | None = None, high: float | None = None) -> str:
        """A number and its interval in words: 78.7 (77.5 to 79.8)."""
        ends = "" if value is None or low is None or high is None else f" ({self.interval(low, high)})"
        return f"{self.number(value)}{ends}"


POINTS = NumberFormat(100.0, 1)
"""Shares of one, in points."""
WHOLE_POINTS = NumberFormat(100.0, 0)
FINE_POINTS = NumberFormat(100.0, 2)
BITS = NumberFormat(1.0, 3)
"""Losses and information."""
PLAIN = NumberFormat(1.0, 3)
"""Numbers as they are."""


# Names and texts


def printable(text: str) -> str:
    """The text with unprintable characters escaped, so that it cannot move the cursor or set colours."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def duration(seconds: float) -> str:
    """A time as a clock shows it: ``0:07``, ``1:01:40``."""
    minutes, whole = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole:02}" if hours else f"{minutes}:{whole:02}"


def count_of(n: int, noun: str) -> str:
    """A number with its noun: ``1 set``, ``2,000 sets``."""
    return f"{n:,} {noun}{'s' * (n != 1)}"
