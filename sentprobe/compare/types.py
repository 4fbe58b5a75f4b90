"""The results of comparing encoders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sentprobe.stats import level as levels

EQUIVALENCE_MARGIN = 0.01
"""The default margin within which two accuracies are called equivalent."""
InferenceTarget = Literal["encoder", "partly", "probe", "system"]
"""What an interval or a p-value is about: the encoder, with any probe trained like this one; the trained probe; or
something in between: only one of two was retrained, and the other is assumed to vary as much, or only seeds vary. Or a
system as it is, if there is nothing to train, as for spaces of words.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two encoders on one set: the difference of their accuracies, with an interval and p-values."""

    dataset: str
    n: int
    one: float
    two: float
    """Accuracies, means over seeds."""
    difference: float
    about: InferenceTarget
    """What the interval and the p-values that follow are about."""
    low: float
    high: float
    """The interval of the difference."""
    p: float
    p_holm: float
    """``p``, adjusted over the sets compared."""
    equivalence_margin: float
    """The smallest margin within which the two are equivalent, by two one-sided tests."""
    clusters: int | None
    """Number of target forms or sentences that rows share; None: rows are independent."""
    only_first: float
    only_second: float
    """Number of test rows that only one of the two has right, means over seeds."""
    p_exact: float | None
    p_mid: float | None
    """McNemar's test of these probes, treating rows as independent; None with several seeds."""
    p_t: float | None
    """The paired t-test of these probes, treating rows as independent; None if all rows differ equally."""
    p_probe: float
    """About these probes: McNemar's mid-p; a permutation test over target forms if rows share them, or over rows with
    several seeds."""
    detectable: float | None
    """The difference that a comparison like this one detects with a power of 80 %, not adjusted over sets; None if all
    rows differ equally."""
    seeds: int
    partial: bool

    def __repr__(self) -> str:
        return (
            f"Comparison({self.dataset}: {self.one:.3f} - {self.two:.3f} = {self.difference:+.3f} "
            f"[{self.low:+.3f}, {self.high:+.3f}], p = {self.p_holm:.3f}, n = {self.n:,})"
        )

    def verdict(self, margin: float = EQUIVALENCE_MARGIN) -> Literal["first", "second", "equivalent", "undecided"]:
        """Which one is significantly better, or whether they are equivalent within a margin, or undecided."""
        if self.p_holm <= levels.ALPHA:
            return "first" if self.difference > 0 else "second"
        return "equivalent" if self.equivalence_margin <= margin else "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class TieGroups:
    """Several encoders on one set, the best first; those that share a letter do not differ significantly."""

    dataset: str
    n: int
    accuracy: dict[str, float]
    letters: dict[str, str]
    about: InferenceTarget
    """What the letters are about."""
    partial: bool

    def __repr__(self) -> str:
        encoders = ", ".join(f"{name} {self.accuracy[name]:.3f} {self.letters[name]}" for name in self.letters)
        return f"TieGroups({self.dataset}: {encoders}, n = {self.n:,})"
