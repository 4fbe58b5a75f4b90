"""What a comparison of encoders says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SIGNIFICANCE_LEVEL = 0.05
"""Of tests; intervals are at 95 %."""


EQUIVALENCE_MARGIN = 0.01
"""Share of rows within which two accuracies are called equivalent, unless another one is asked for."""


InferenceTarget = Literal["encoder", "partly", "probe"]
"""What an interval or a p-value is about: the encoder, with any probe trained like this one; or the trained probe; or
something between: one of two was trained again, and the other is taken to vary as much, or seeds were all that varied.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two encoders on one set."""

    dataset: str
    n: int
    one: float
    two: float
    """Accuracies, means over seeds."""
    difference: float
    about: InferenceTarget
    """What the next four are about."""
    low: float
    high: float
    """95 % interval of the difference."""
    p: float
    p_holm: float
    """``p``, adjusted over the sets compared."""
    equivalence_margin: float
    """The smallest margin within which the two are equivalent, by two one-sided tests at 5 %."""
    clusters: int | None
    """Target forms, or sentences, that rows share; None: rows are taken as independent."""
    only_first: float
    only_second: float
    """Test rows that only one of the two has right, means over seeds."""
    p_exact: float | None
    p_mid: float | None
    """McNemar's test of these probes, rows taken as independent; None with several seeds."""
    p_t: float | None
    """The paired t-test over rows of these probes, rows taken as independent; None if all rows differ alike."""
    p_probe: float
    """Of these probes: McNemar's mid-p; or where rows share target forms that of exchanging these, and with several
    seeds that of exchanging rows."""
    detectable: float | None
    """The difference that a comparison like this one shows four times out of five, not adjusted over sets; None if all
    rows differ alike."""
    seeds: int
    partial: bool

    def verdict(self, margin: float = EQUIVALENCE_MARGIN) -> Literal["first", "second", "equivalent", "undecided"]:
        """Which one is significantly better; or that they are equivalent within a margin; or that nothing is known."""
        if self.p_holm <= SIGNIFICANCE_LEVEL:
            return "first" if self.difference > 0 else "second"
        return "equivalent" if self.equivalence_margin <= margin else "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class TieGroups:
    """Several encoders on one set, the best first."""

    dataset: str
    n: int
    accuracy: dict[str, float]
    letters: dict[str, str]
    about: InferenceTarget
    """What the letters are about."""
    partial: bool
