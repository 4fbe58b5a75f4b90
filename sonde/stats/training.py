"""What another sample of training rows would have done to a score: systems trained again without parts of their rows.

A test-set interval is about one trained probe. Readers take it for one about the encoder, whose score varies for a
second reason: from other training rows another probe is learned. To see how much, the training rows are dealt into
``GROUPS`` groups, and the probe is trained without each of them in turn (the delete-a-group jackknife; several rounds
deal anew). With a_1 … a_g the accuracies of these probes, J = (g - 1) / g · Σ (a_i - ā)².

- J is not too small on average (Efron and Stein 1981, Ann. Stat. 9:586). It is the variance where the score is linear
  in what the rows contribute, and twice the variance where it is quadratic, as an accuracy is near its maximum. Which
  it is, depends on how many rows there are for each dimension. So J / √2 is taken, whose root is off by a fifth at most
  in either case; but J itself where there are fewer rows than dimensions, and a probe is far from its maximum.
- The a_i are measured on a finite test set, whose noise would be counted twice: that of the test rows has its own
  place. It is estimated from the rows on which the probes differ, and taken off.
- The penalty, or whatever else dev chooses, is another one with other dev rows. These are drawn again, with
  replacement, and each draw chooses among the probes that were tuned on all training rows.
- The same groups are left out, and the same dev rows drawn, for every encoder, so that what a difference owes to them
  is seen in the differences.

``benchmarks/coverage.py`` shows how often the intervals cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sonde.errors import DataError
from sonde.stats.means import Estimate, Rows, combined
from sonde.stats.resample import Floats

GROUPS = 10
"""Into which training rows are dealt; one after the other is left out."""
BOUND = 2**0.5
"""J is between one and two times the variance."""


@dataclass(frozen=True, eq=False)
class Systems:
    """Several systems on the same test rows."""

    rows: Rows
    right: Floats
    """(systems, n): whether each row is right, as a mean over seeds."""
    resampled: Floats | None = None
    """(systems, K, n): the same of probes trained without each of GROUPS groups, in K / GROUPS rounds; NaN for systems
    that were not trained again."""
    chosen: Floats | None = None
    """(systems, B, n): the same of the probes that were chosen when dev rows were drawn again; NaN likewise."""
    seeds: tuple[tuple[float, int], ...] = ()
    """Of each system, the variance of the score between seeds, and how many there are."""
    wide: tuple[bool, ...] = ()
    """Whether each system has more dimensions than training rows."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not belong together."""
        n = len(self.rows.number)
        again = self.resampled
        if self.right.ndim != 2 or self.right.shape[1] != n:
            raise DataError(f"right must be (systems, {n}), got {self.right.shape}.")
        if again is not None and (again.shape != (len(self.right), again.shape[1], n) or again.shape[1] % GROUPS):
            raise DataError(f"resampled must be ({len(self.right)}, a multiple of {GROUPS}, {n}), got {again.shape}.")

    def known(self, *systems: int) -> bool:
        """Whether all of these systems were trained again."""
        return self.resampled is not None and not np.isnan(self.resampled[list(systems), 0, 0]).any()

    def score(self, system: int) -> Estimate:
        """The accuracy of a system, with the variance of its training rows and seeds where that is known."""
        value, tested = float(self.right[system].mean()), float(self._tested[system, system])
        parts = [(tested, self.rows.df(self.right[system])), *self._of_seeds(system)]
        return combined(value, *parts, *self._trained(system))

    def difference(self, one: int, two: int) -> Estimate:
        """The accuracy of one system less that of another."""
        apart = self.right[one] - self.right[two]
        tested = _of_difference(self._tested, one, two)
        parts = [(tested, self.rows.df(apart)), *self._of_seeds(one), *self._of_seeds(two)]
        return combined(float(apart.mean()), *parts, *self._trained(one, two))

    def training_variance(self, system: int) -> float | None:
        """Of the accuracy, from one sample of training rows to the next; None if it is not known."""
        return sum(variance for variance, _ in self._trained(system)) if self.known(system) else None

    @cached_property
    def sums(self) -> Floats:
        """Rows that are right, added up by cluster, (systems, m)."""
        return self.rows.sums(self.right)

    @cached_property
    def _tested(self) -> Floats:
        """Products (systems, systems) of what leaving out clusters of test rows does."""
        found = self.rows.influence(self.right)
        return np.asarray(found @ found.T)

    @cached_property
    def _left_out(self) -> tuple[Floats, Floats]:
        """Of probes trained again: scores (systems, K) about the mean of their round, and the products of noise."""
        assert self.resampled is not None
        systems, _, n = self.resampled.shape
        return self._about(self.resampled.reshape(systems, -1, GROUPS, n))

    @cached_property
    def _redrawn(self) -> tuple[Floats, Floats]:
        """The same of probes chosen again, about the mean of all."""
        assert self.chosen is not None
        return self._about(self.chosen[:, None])

    def _about(self, rounds: Floats) -> tuple[Floats, Floats]:
        """Scores (systems, K) about the mean of their round, of right and wrong (systems, rounds, g, n)."""
        systems, _, _, n = rounds.shape
        known = np.nan_to_num(rounds)
        apart = (known - known.mean(axis=2, keepdims=True)).reshape(systems, -1, n)
        noise = self.rows.influence(apart).reshape(systems, -1)
        return apart.mean(axis=2), np.asarray(noise @ noise.T)

    def _trained(self, *systems: int) -> list[tuple[float, float]]:
        """The variance that training rows add to a score, or to the difference of two, and its degrees of freedom.

        A system that was not trained again is taken as it is.
        """
        known = [system for system in systems if self.known(system)]
        if not known:
            return []
        k = self._left_out[0].shape[1]
        jackknife = (GROUPS - 1) / k * _spread(*self._left_out, known)
        bound = 1.0 if any(self.wide[system] for system in known if self.wide) else BOUND
        parts = [(max(0.0, jackknife) / bound, k * (GROUPS - 1) / GROUPS)]
        if self.chosen is not None:
            draws = self._redrawn[0].shape[1]
            parts.append((max(0.0, _spread(*self._redrawn, known)) / (draws - 1), draws - 1.0))
        return parts

    def _of_seeds(self, system: int) -> list[tuple[float, float]]:
        if not self.seeds or self.seeds[system][1] < 2:
            return []
        variance, seeds = self.seeds[system]
        return [(variance / seeds, seeds - 1.0)]


def _spread(scores: Floats, products: Floats, systems: Sequence[int]) -> float:
    """The sum of squares of the scores (systems, K) of a system, or of the differences of two, less that of noise."""
    first, *rest = systems
    apart = scores[first] - (scores[rest[0]] if rest else 0.0)
    noise = _of_difference(products, first, rest[0]) if rest else float(products[first, first])
    return float(np.square(apart).sum()) - noise


def _of_difference(products: Floats, one: int, two: int) -> float:
    """The squared length of a difference, from products (systems, systems); rounding may leave less than nothing."""
    return max(0.0, float(products[one, one] + products[two, two] - 2 * products[one, two]))
