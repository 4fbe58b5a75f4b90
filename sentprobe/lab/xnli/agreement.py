"""How well a second annotation agrees with gold labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.errors import DataError
from sentprobe.stats.intervals import wilson


@dataclass(frozen=True)
class Agreement:
    """Two annotations of the same pairs."""

    n: int
    same: int
    low: float
    high: float
    """The interval of the share that is the same: Wilson's."""
    kappa: float
    """Cohen's."""

    @property
    def share(self) -> float:
        """Of pairs with the same label."""
        return self.same / self.n


def agreement(gold: Sequence[str], other: Sequence[str]) -> Agreement:
    """Compare labels, pair by pair."""
    if len(gold) != len(other):
        raise DataError(f"There are {len(gold):,} gold labels and {len(other):,} others: expected as many.")
    if not gold:
        raise DataError("There are no labels to compare.")
    n, same = len(gold), sum(a == b for a, b in zip(gold, other, strict=True))
    one, two = Counter(gold), Counter(other)
    chance = sum(one[label] * two[label] for label in one) / n**2
    kappa = (same / n - chance) / (1 - chance) if chance < 1 else 1.0
    return Agreement(n, same, *wilson(same, n), kappa)
