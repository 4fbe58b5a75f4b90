"""The variance of a score over samples of training rows, from systems trained again without parts of their rows.

A test-set interval is about one trained probe. Readers take it to be about the encoder, whose score varies for a second
reason: other training rows give another probe. To estimate how much, the training rows are divided into g groups, and
the probe is trained without each of them in turn (the delete-a-group jackknife; each round divides them again). With
a_1 … a_g the accuracies of these probes, J = (g - 1) / g · Σ (a_i - ā)².

- J is not too small on average (Efron and Stein 1981, Ann. Stat. 9:586). It is the variance where the score is linear
  in the contributions of the rows, and twice the variance where it is quadratic, as an accuracy is near its maximum.
  Which it is depends on the number of rows per dimension. So J / √2 is used, whose root is off by a fifth at most in
  either case; but J itself where there are fewer rows than dimensions, and a probe is far from its maximum.
- Linear probes have ten groups. Networks have two: the randomness of their training is counted about (g - 1) times, and
  with ten groups it would be most of J. With two, J is the variance of half-samples, and is used as it is.
- The a_i are measured on a finite test set, whose noise would be counted twice, as it has a term of its own. It is
  estimated from the rows on which the probes differ, and subtracted.
- Other dev rows would choose another penalty, or whatever else dev chooses. Dev rows are resampled with replacement,
  and each draw chooses among the probes that were tuned on all training rows.
- The same groups are left out, and the same dev rows drawn, for every encoder, so that their effects on a difference
  show in the differences. If only one of two systems was trained again, the other is taken to vary as much; but a
  system that predicts the same class for all rows does not vary.

``benchmarks/interval_coverage.py`` measures the coverage of the intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.stats.means import Mean, Rows, combined
from sentprobe.stats.resample import Floats

Ints = npt.NDArray[np.int64]

LINEAR_GROUPS, NETWORK_GROUPS = 10, 2
"""Groups into which training rows are divided, to be left out in turn."""
BOUND = 2**0.5
"""With many groups J is between one and two times the variance."""


@dataclass(frozen=True, eq=False)
class Retrained:
    """Which test rows the retrained versions of a probe have right."""

    trained: Floats
    """(K, n): of probes trained without each of ``groups`` groups of training rows, round by round."""
    groups: int
    chosen: Floats
    """(B, n): of the probes that resampled dev rows choose."""
    wide: bool = False
    """Whether there are more dimensions than training rows."""
    folds: Ints | None = None
    """(n,): the fold of each test row, where every row is tested once; None with one split. Groups are of all rows of
    the set: probe i of every fold is trained without the training rows that are in group i."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        if self.trained.ndim != 2 or len(self.trained) % self.groups or self.chosen.shape[1:] != self.trained.shape[1:]:
            raise DataError(
                f"trained must be (a multiple of {self.groups}, rows) and chosen (draws, rows), got "
                f"{self.trained.shape} and {self.chosen.shape}."
            )
        if self.folds is not None and self.folds.shape != self.trained.shape[1:]:
            raise DataError(f"folds must be {self.trained.shape[1:]}, got {self.folds.shape}.")


@dataclass(frozen=True, eq=False)
class Systems:
    """Several systems on the same test rows."""

    rows: Rows
    correct: Floats
    """(systems, n): whether each row is right, averaged over seeds."""
    retrained: Sequence[Retrained | None] = ()
    """For each system; None if it was not trained again."""
    seeds: Sequence[tuple[float, int]] = ()
    """For each system, the variance of the score between seeds, and how many there are."""
    constant: Sequence[bool] = ()
    """Whether each system predicts the same class for all rows."""
    swapped: Floats | None = None
    """(systems, n): what two systems exchange in a permutation test, if it is not whether rows are right."""
    _spreads: dict[int, _Spread] = field(default_factory=dict, init=False, repr=False)
    _differences: dict[tuple[int, int], Mean] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        n = len(self.rows.number)
        if self.correct.ndim != 2 or self.correct.shape[1] != n:
            raise DataError(f"correct must be (systems, {n}), got {self.correct.shape}.")
        for each in self.retrained:
            if each is not None and each.trained.shape[1] != n:
                raise DataError(f"Retrained probes have {each.trained.shape[1]} test rows; expected {n}.")

    def known(self, *systems: int) -> bool:
        """Whether all of these systems were trained again, or do not vary."""
        return all(self._retrained(i) is not None or self._constant(i) for i in systems)

    def score(self, system: int) -> Mean:
        """The accuracy of a system, with the variance due to training rows and seeds where that is known."""
        value, tested = float(self.correct[system].mean()), float(self._tested[system, system])
        parts = [(tested, self.rows.df(self.correct[system])), *self._of_seeds(system)]
        return combined(value, *parts, *self._trained(system))

    def difference(self, one: int, two: int) -> Mean:
        """The accuracy of one system minus that of another."""
        if (one, two) not in self._differences:
            self._differences[one, two] = self._difference(one, two)
        return self._differences[one, two]

    def _difference(self, one: int, two: int) -> Mean:
        difference = self.correct[one] - self.correct[two]
        products = self._tested
        tested = max(0.0, float(products[one, one] + products[two, two] - 2 * products[one, two]))
        parts = [(tested, self.rows.df(difference)), *self._of_seeds(one), *self._of_seeds(two)]
        return combined(float(difference.mean()), *parts, *self._trained(one, two))

    def training_variance(self, system: int) -> float | None:
        """The variance of the accuracy over samples of training rows; None if it is not known."""
        return sum(variance for variance, _ in self._trained(system)) if self._retrained(system) is not None else None

    @cached_property
    def sums(self) -> Floats:
        """What is exchanged in a permutation test, summed by cluster: (systems, m)."""
        return self.rows.sums(self.correct if self.swapped is None else self.swapped)

    @cached_property
    def _tested(self) -> Floats:
        """Products (systems, systems) of the influences of clusters of test rows."""
        found = self.rows.influence(self.correct)
        return np.asarray(found @ found.T)

    def _retrained(self, system: int) -> Retrained | None:
        return self.retrained[system] if self.retrained else None

    def _constant(self, system: int) -> bool:
        return bool(self.constant) and self.constant[system]

    def _trained(self, *systems: int) -> list[tuple[float, float]]:
        """The variances that training and dev rows add to a score or a difference, with their degrees of freedom."""
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
"""Scores (K,) minus the mean of their round, and the influence of clusters of test rows on each, (K, m)."""


@dataclass(frozen=True, eq=False)
class _Spread:
    """How the scores of retrained probes vary."""

    trained: _Scores
    chosen: _Scores

    def __sub__(self, other: _Spread) -> _Spread:
        return _Spread(_minus(self.trained, other.trained), _minus(self.chosen, other.chosen))


def _about(rows: Rows, rounds: Floats) -> _Scores:
    """From correctness (rounds, g, n)."""
    deviations = (rounds - rounds.mean(axis=1, keepdims=True)).reshape(-1, rounds.shape[-1])
    return deviations.mean(axis=1), rows.influence(deviations)


def _minus(one: _Scores, two: _Scores) -> _Scores:
    k = min(len(one[0]), len(two[0]))  # one run may have more rounds than another
    return one[0][:k] - two[0][:k], one[1][:k] - two[1][:k]


def _parts(spread: _Spread, groups: int, *, wide: bool) -> list[tuple[float, float]]:
    """The variance due to training rows and that due to dev rows, each with its degrees of freedom."""
    k, draws = len(spread.trained[0]), len(spread.chosen[0])
    jackknife = (groups - 1) / k * _beyond_noise(*spread.trained)
    bound = BOUND if groups == LINEAR_GROUPS and not wide else 1.0
    return [
        (jackknife / bound, k * (groups - 1) / groups),
        (_beyond_noise(*spread.chosen) / (draws - 1), draws - 1.0),
    ]


def _beyond_noise(scores: Floats, noise: Floats) -> float:
    """The sum of squares of scores (K,), minus what the noise of the test rows contributes."""
    return max(0.0, float(np.square(scores).sum()) - float(np.square(noise).sum()))
