"""A number with its interval, and what that interval is about."""

from __future__ import annotations

from typing import Literal

import msgspec

from sentprobe.core.formatting import POINTS, NumberFormat
from sentprobe.stats import level as levels

About = Literal["encoder", "probe", "rows", "none"]
"""What an interval is about: the encoder, with any probe trained like this one; the one trained probe, on other test
rows; test rows alone, where nothing is trained; or there is no interval."""
Interval = tuple[float, float]
CONSTANT = "constant"
"""The method of a score that is fixed by the test rows, since all rows get the same prediction: no interval."""


class Estimate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A number with its interval, if it has one.

    Examples
    --------
    >>> from sentprobe.results.estimate import Estimate
    >>> Estimate.of(0.75, (0.53, 0.89), "wilson")
    0.750 [0.530, 0.890]
    >>> Estimate.of(0.75, (0.53, 0.89), "wilson").text()
    '75.0 ±18.0'
    """

    value: float
    low: float | None = None
    high: float | None = None
    level: float | None = None
    """Of the interval; None without one."""
    about: About = "none"
    method: str = ""
    """How the interval was computed: wilson, cluster, bootstrap, t, nadeau-bengio, …; constant where there is none."""

    @classmethod
    def of(cls, value: float, interval: Interval | None = None, method: str = "", about: About = "probe") -> Estimate:
        """A number and its interval at the level of all intervals."""
        if interval is None:
            return cls(value, method=method)
        return cls(value, *interval, levels.LEVEL, about, method)

    @property
    def interval(self) -> Interval | None:
        """Both ends of the interval; None without one."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def constant(self) -> bool:
        """Whether the number is fixed by the test rows."""
        return self.method == CONSTANT

    def within(self, low: float, high: float) -> Estimate:
        """The same with an interval that ends at the bounds of what the number can be."""
        if self.low is None or self.high is None:
            return self
        return msgspec.structs.replace(self, low=max(low, self.low), high=min(high, self.high))

    def widened(self, wider: Interval | None, method: str) -> Estimate:
        """The same with an interval that covers another one, too."""
        if wider is None or self.low is None or self.high is None:
            return self
        low, high = min(self.low, wider[0]), max(self.high, wider[1])
        return msgspec.structs.replace(self, low=low, high=high, method=method)

    def text(self, form: NumberFormat = POINTS) -> str:
        """The number with half the width of its interval: 78.7 ±1.2."""
        return " ".join(filter(None, (form.number(self.value), form.half_width(self.low, self.high))))

    def __repr__(self) -> str:
        ends = "" if self.interval is None else f" [{self.low:.3f}, {self.high:.3f}]"
        return f"{self.value:.3f}{ends}"
