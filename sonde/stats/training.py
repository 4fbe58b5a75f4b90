"""What another sample of training rows would have done to a score: systems trained again without parts of their rows.

A test-set interval is about one trained probe. Readers take it for one about the encoder, whose score varies for a
second reason: from other training rows another probe is learned. To see how much, the training rows are dealt into g
groups, and the probe is trained without each of them in turn (the delete-a-group jackknife; several rounds deal anew).
With a_1 … a_g the accuracies of these probes, J = (g - 1) / g · Σ (a_i - ā)².

- J is not too small on average (Efron and Stein 1981, Ann. Stat. 9:586). It is the variance where the score is linear
  in what the rows contribute, and twice the variance where it is quadratic, as an accuracy is near its maximum. Which
  it is, depends on how many rows there are for each dimension. So J / √2 is taken, whose root is off by a fifth at most
  in either case; but J itself where there are fewer rows than dimensions, and a probe is far from its maximum.
- Linear probes have ten groups. Networks have two: the luck of their training is counted about (g - 1) times, and
  with ten groups it would be most of J. With two, J is the variance that half-samples have, and is taken as it is.
- The a_i are measured on a finite test set, whose noise would be counted twice: that of the test rows has its own
  place. It is estimated from the rows on which the probes differ, and taken off.
- The penalty, or whatever else dev chooses, is another one with other dev rows. These are drawn again, with
  replacement, and each draw chooses among the probes that were tuned on all training rows.
- The same groups are left out, and the same dev rows drawn, for every encoder, so that what a difference owes to them
  is seen in the differences. Of two systems of which only one was trained again, the other is taken to vary as much;
  but one that gives all rows the same answer does not vary.

``benchmarks/coverage.py`` shows how often the intervals cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sonde.errors import DataError
from sonde.stats.means import Estimate, Rows, combined
from sonde.stats.resample import Floats

LINEAR_GROUPS, NETWORK_GROUPS = 10, 2
"""Groups into which training rows are dealt; one after the other is left out."""
BOUND = 2**0.5
"""With many groups J is between one and two times the variance."""


@dataclass(frozen=True, eq=False)
class Retrained:
    """Which test rows other probes like one have right."""

    trained: Floats
    """(K, n): those that were trained without each of ``groups`` groups of training rows, in rounds."""
    groups: int
    chosen: Floats
    """(B, n): those that other draws of dev rows choose."""
    wide: bool = False
    """Whether there are more dimensions than training rows."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        if self.trained.ndim != 2 or len(self.trained) % self.groups or self.chosen.shape[1:] != self.trained.shape[1:]:
            raise DataError(
                f"trained must be (a multiple of {self.groups}, rows) and chosen (draws, rows), got "
                f"{self.trained.shape} and {self.chosen.shape}."
            )


@dataclass(frozen=True, eq=False)
class Systems:
    """Several systems on the same test rows."""

    rows: Rows
    correct: Floats
    """(systems, n): whether each row is right, as a mean over seeds."""
    retrained: Sequence[Retrained | None] = ()
    """Of each system; None if it was not trained again."""
    seeds: Sequence[tuple[float, int]] = ()
    """Of each system, the variance of the score between seeds, and how many there are."""
    constant: Sequence[bool] = ()
    """Whether each system gives all rows the same answer."""
    _spreads: dict[int, _Spread] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        n = len(self.rows.number)
        if self.correct.ndim != 2 or self.correct.shape[1] != n:
            raise DataError(f"right must be (systems, {n}), got {self.correct.shape}.")
        for each in self.retrained:
            if each is not None and each.trained.shape[1] != n:
                raise DataError(f"There are {n} test rows, and {each.trained.shape[1]} of the probes trained again.")

    def known(self, *systems: int) -> bool:
        """Whether all of these systems were trained again, or would not vary."""
        return all(self._retrained(i) is not None or self._constant(i) for i in systems)

    def score(self, system: int) -> Estimate:
        """The accuracy of a system, with the variance of its training rows and seeds where that is known."""
        value, tested = float(self.correct[system].mean()), float(self._tested[system, system])
        parts = [(tested, self.rows.df(self.correct[system])), *self._of_seeds(system)]
        return combined(value, *parts, *self._trained(system))

    def difference(self, one: int, two: int) -> Estimate:
        """The accuracy of one system less that of another."""
        apart = self.correct[one] - self.correct[two]
        products = self._tested
        tested = max(0.0, float(products[one, one] + products[two, two] - 2 * products[one, two]))
        parts = [(tested, self.rows.df(apart)), *self._of_seeds(one), *self._of_seeds(two)]
        return combined(float(apart.mean()), *parts, *self._trained(one, two))

    def training_variance(self, system: int) -> float | None:
        """Of the accuracy, from one sample of training rows to the next; None if it is not known."""
        return sum(variance for variance, _ in self._trained(system)) if self._retrained(system) is not None else None

    @cached_property
    def sums(self) -> Floats:
        """Rows that are right, added up by cluster, (systems, m)."""
        return self.rows.sums(self.correct)

    @cached_property
    def _tested(self) -> Floats:
        """Products (systems, systems) of what leaving out clusters of test rows does."""
        found = self.rows.influence(self.correct)
        return np.asarray(found @ found.T)

    def _retrained(self, system: int) -> Retrained | None:
        return self.retrained[system] if self.retrained else None

    def _constant(self, system: int) -> bool:
        return bool(self.constant) and self.constant[system]

    def _trained(self, *systems: int) -> list[tuple[float, float]]:
        """The variances that training and dev rows add to a score, or to a difference, with degrees of freedom."""
        known = [(i, found) for i in systems if (found := self._retrained(i)) is not None]
        if len(known) == 2 and known[0][1].groups == known[1][1].groups:
            (one, first), (two, second) = known
            return _parts(self._spread(one) - self._spread(two), first.groups, wide=first.wide or second.wide)
        parts = [part for i, found in known for part in _parts(self._spread(i), found.groups, wide=found.wide)]
        other = [i for i in systems if self._retrained(i) is None and not self._constant(i)]
        return [(2 * variance, df) for variance, df in parts] if known and other else parts

    def _spread(self, system: int) -> _Spread:
        if system not in self._spreads:
            found = self._retrained(system)
            assert found is not None
            n = found.trained.shape[1]
            self._spreads[system] = _Spread(
                _about(self.rows, found.trained.reshape(-1, found.groups, n)), _about(self.rows, found.chosen[None])
            )
        return self._spreads[system]

    def _of_seeds(self, system: int) -> list[tuple[float, float]]:
        if not self.seeds or self.seeds[system][1] < 2:
            return []
        variance, seeds = self.seeds[system]
        return [(variance / seeds, seeds - 1.0)]


_Scores = tuple[Floats, Floats]
"""Scores (K,) about the mean of their round, and what leaving out clusters of test rows does to each, (K, m)."""


@dataclass(frozen=True, eq=False)
class _Spread:
    """How the scores of other probes lie."""

    trained: _Scores
    chosen: _Scores

    def __sub__(self, other: _Spread) -> _Spread:
        return _Spread(_minus(self.trained, other.trained), _minus(self.chosen, other.chosen))


def _about(rows: Rows, rounds: Floats) -> _Scores:
    """Of right and wrong (rounds, g, n)."""
    apart = (rounds - rounds.mean(axis=1, keepdims=True)).reshape(-1, rounds.shape[-1])
    return apart.mean(axis=1), rows.influence(apart)


def _minus(one: _Scores, two: _Scores) -> _Scores:
    k = min(len(one[0]), len(two[0]))  # runs may have trained some of them more often
    return one[0][:k] - two[0][:k], one[1][:k] - two[1][:k]


def _parts(spread: _Spread, groups: int, *, wide: bool) -> list[tuple[float, float]]:
    """The variance of training rows and that of dev rows, each with its degrees of freedom."""
    k, draws = len(spread.trained[0]), len(spread.chosen[0])
    jackknife = (groups - 1) / k * _beyond_noise(*spread.trained)
    bound = BOUND if groups == LINEAR_GROUPS and not wide else 1.0
    return [
        (jackknife / bound, k * (groups - 1) / groups),
        (_beyond_noise(*spread.chosen) / (draws - 1), draws - 1.0),
    ]


def _beyond_noise(scores: Floats, noise: Floats) -> float:
    """The sum of squares of scores (K,), less what the test rows make of it."""
    return max(0.0, float(np.square(scores).sum()) - float(np.square(noise).sum()))
