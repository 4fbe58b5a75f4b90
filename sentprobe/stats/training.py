"""The variance of a score over samples of training rows, from systems trained again without parts of their rows.

A test-set interval is about one trained probe. Readers take it to be about the encoder, whose score varies for a second
reason: other training rows give another probe. To estimate how much, the training rows are divided into g groups, and
the probe is trained without each of them in turn (the delete-a-group jackknife; each round divides them again). With
a_1 … a_g the accuracies of these probes, J = (g - 1) / g · Σ (a_i - ā)².

- J is not too small on average (Efron and Stein 1981, Ann. Stat. 9:586). It is the variance where the score is linear
  in the contributions of the rows, and twice the variance where it is quadratic, as an accuracy is near its maximum.
  Which it is depends on the number of rows per dimension. So J / √2 is used, whose root is off by a fifth at most in
  either case; but J itself where there are fewer rows than dimensions, and a probe is far from its maximum.
- J is uncertain: twenty probes, whose scores vary little more than the noise of the test rows; and where there are few
  rows per dimension it is several times too large, as each row that is left out has moved the probe far. For linear
  probes what is usual is known better, from how many answers change with half of the training rows: v, a variance per
  test row, is a mean over rows. Take Gaussian classes, a direction with independent errors, ρ of whose square is signal
  and 1 - ρ error, and an accuracy of Φ (z). Then v² = φ (z)² (1 - ρ) / 2π, and the variance of the accuracy is
  2π (ρ - ρ² / 2) v² / rows: π v² / rows where the direction is nearly right, and nothing at chance, where all answers
  may change and the accuracy does not. That is for the nearest mean; without penalties, discriminant analysis has about
  1 + z² times as much (Efron 1975, J. Am. Stat. Assoc. 70:892). Simulated probes have 1.9 (1 + z² / 2) times as much in
  the middle, mostly half to twice that, as the errors of dimensions are neither equal nor independent; and differences
  of two at most half of it. So the variance is (6 · usual + 4 · J) / 10, as variances of genes are moderated (Smyth
  2004, Stat. Appl. Genet. Mol. Biol. 3:3). What is usual is not estimated from the other encoders of a run: an interval
  does not depend on what else was run.
- Linear probes have ten groups. Networks have two: the randomness of their training is counted about (g - 1) times, and
  with ten groups it would be most of J. With two, J is the variance of half-samples, and is used as it is. Baselines
  have two as well: strongly smoothed, naive Bayes may turn to a single class, and J of ten groups is many times too
  large.
- The a_i are measured on a finite test set, whose noise would be counted twice, as it has a term of its own. It is
  estimated from the rows on which the probes differ, and subtracted.
- Other dev rows would choose another penalty, or whatever else dev chooses. Dev rows are resampled with replacement,
  and each draw chooses among the probes that were tuned on all training rows.
- The same groups are left out, and the same dev rows drawn, for every encoder, so that their effects on a difference
  show in the differences. If only one of two systems was trained again, the other is taken to vary as much; but a
  system that predicts the same class for all rows does not vary.

Folds, where every row is tested once, are different: the rows that test a probe train the probes of the other folds.
Two rows of different folds that help each other to be right are right together, and the clustered variance of the test
rows does not see it. A pair contributes as much as the square of its effect on a prediction; and so does what training
adds otherwise, near the maximum of accuracy. So the variance is larger by a share that grows with the square of the
share of predictions that other training rows would change, until most of them would:

    variance = rows · (1 + κ · m · share² / (1 + share²)),   share = changes / rows

- *Rows* is the clustered variance of the mean over all rows, as for one split.
- *Changes* is the part of the jackknife that one split takes for noise of the test rows, (g - 1) / g · Σ over i of the
  clustered variance of the mean of deviations. A prediction changes if a margin passes 0, which is as frequent as the
  margin moves: g groups give (g - 1) · √(2 / g) times as much as halves of the rows, by which it is divided. It is a
  mean over rows, and so known far better than a variance of g scores.
- m is how often a row that moves the margin of another has its own margin moved by it. A margin is between a row's
  class and its strongest rival, and rows of these two classes move it. Rows of one class move each other; others only
  if each is of the class that is the other's rival. So m is 1 for two classes, and C / (2 (C - 1)) for C of one size.
- κ is 2.4 for a system. For a difference of two systems that vary it is 1.4: the changes of both are in one sum, of
  which the square is twice the sum of their squares. Both were found in simulation: of 54 cells, on other seeds than
  those on which coverage was then measured.
- Baselines and networks, of which halves are left out, and differences with them have 2 · share², or half of that for
  two that vary: naive Bayes, most of whose answers may change, varies by more than the limit above.

``benchmarks/interval_coverage.py`` and ``benchmarks/fold_coverage.py`` measure the coverage of the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.stats.means import Mean, ScoredRows, combined
from sentprobe.stats.resample import Floats
from sentprobe.stats.seeds import SeedVariance, encoder_seeds, probe_seeds

Ints = npt.NDArray[np.int64]

LINEAR_GROUPS, NETWORK_GROUPS, BASELINE_GROUPS = 10, 2, 2
"""Groups into which training rows are divided, to be left out in turn."""
BOUND = 2**0.5
"""With many groups J is between one and two times the variance."""
USUAL, USUAL_OF_DIFFERENCE, MIN_SIGNAL = 1.9, 0.5, 0.06
"""The usual variance of a linear probe over (1 + z² / 2) times that of independent errors; the share of it for a
difference of two; and the least ρ."""
USUAL_DF, JACKKNIFE_DF = 6.0, 4.0
"""What the usual variance and the jackknife weigh, as degrees of freedom."""
FOLD_EXCESS, FOLD_EXCESS_OF_DIFFERENCE = 2.4, 1.4
"""κ of a system and of a difference of two: by how much the variance in folds exceeds that of rows."""
OTHER_FOLD_EXCESS = 2.0
"""κ of baselines and networks, and of differences with them, without the limit of linear probes."""


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
    mutual: float = 1.0
    """How often a row that moves the margin of another has its own moved by it; see ``mutual_share``."""
    train_rows: int | None = None
    """How many rows the probe was trained on; None where nothing is known of how it usually varies."""

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        if self.trained.ndim != 2 or len(self.trained) % self.groups or self.chosen.shape[1:] != self.trained.shape[1:]:
            raise DataError(
                f"trained must be (a multiple of {self.groups}, rows) and chosen (draws, rows), got "
                f"{self.trained.shape} and {self.chosen.shape}."
            )
        if self.folds is not None and self.folds.shape != self.trained.shape[1:]:
            raise DataError(f"folds must be {self.trained.shape[1:]}, got {self.folds.shape}.")


def mutual_share(labels: npt.ArrayLike) -> float:
    """How often a row that moves the margin of another has its own moved by it, given the labels (n,) of all rows."""
    _, counts = np.unique(np.asarray(labels), return_counts=True)
    same = float(np.square(counts / counts.sum()).sum())
    return min(1.0, 0.5 / (1 - same)) if same < 1 else 1.0


@dataclass(frozen=True, eq=False)
class Systems:
    """Several systems on the same test rows."""

    rows: ScoredRows
    correct: Floats
    """(systems, n): whether each row is right, averaged over seeds."""
    retrained: Sequence[Retrained | None] = ()
    """For each system; None if it was not trained again."""
    seeds: Sequence[SeedVariance] = ()
    """For each system, the variance of the score between seeds."""
    constant: Sequence[bool] = ()
    """Whether each system predicts the same class for all rows."""
    trainings: Sequence[Mapping[str, Floats]] = ()
    """For each system, whether each row (n) is right by each of its trainings, by name; empty for a single one."""
    swapped: Floats | None = None
    """(systems, n): what two systems exchange in a permutation test, if it is not whether rows are right."""
    _spreads: dict[int, _Spread] = field(default_factory=dict, init=False, repr=False)
    _differences: dict[tuple[int, int], Mean] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        n = len(self.rows.number)
        if self.correct.ndim != 2 or self.correct.shape[1] != n:
            raise DataError(f"correct must be (systems, {n}), got {self.correct.shape}.")
        for resamples in self.retrained:
            if resamples is not None and resamples.trained.shape[1] != n:
                raise DataError(f"Retrained probes have {resamples.trained.shape[1]} test rows; expected {n}.")

    def known(self, *systems: int) -> bool:
        """Whether all of these systems were trained again, or do not vary."""
        return all(self._retrained(i) is not None or self._constant(i) for i in systems)

    def score(self, system: int) -> Mean:
        """The accuracy of a system, with the variance due to training rows and seeds where that is known."""
        return self._mean(self.correct[system], float(self._tested[system, system]), system)

    def difference(self, first: int, second: int) -> Mean:
        """The accuracy of one system minus that of another."""
        if (first, second) not in self._differences:
            products = self._tested
            tested = float(products[first, first] + products[second, second] - 2 * products[first, second])
            difference = self.correct[first] - self.correct[second]
            self._differences[first, second] = self._mean(difference, max(0.0, tested), first, second)
        return self._differences[first, second]

    def _mean(self, values: Floats, tested: float, *systems: int) -> Mean:
        """The mean of values (n) of systems, given the variance due to test rows."""
        df = self.rows.df(values)
        seeds = self.seed_variances(tested, *systems)
        return combined(float(values.mean()), (tested, df), *seeds, *self._trained(tested, df, *systems))

    def training_variance(self, system: int) -> float | None:
        """The variance of the accuracy over samples of training rows; None if it is not known."""
        if self._retrained(system) is None:
            return None
        return sum(variance for variance, _ in self._trained(float(self._tested[system, system]), 1.0, system))

    @cached_property
    def sums(self) -> Floats:
        """What is exchanged in a permutation test, summed by cluster: (systems, m)."""
        return self.rows.sums(self.correct if self.swapped is None else self.swapped)

    @cached_property
    def _tested(self) -> Floats:
        """Products (systems, systems) of the influences of clusters of test rows."""
        influence = self.rows.influence(self.correct)
        return np.asarray(influence @ influence.T)

    def _retrained(self, system: int) -> Retrained | None:
        return self.retrained[system] if self.retrained else None

    def _constant(self, system: int) -> bool:
        return bool(self.constant) and self.constant[system]

    def _trained(self, tested: float, df: float, *systems: int) -> list[tuple[float, float]]:
        """The variances that training and dev rows add to a score or a difference, with their degrees of freedom.

        ``tested`` is the variance due to test rows, and ``df`` are its degrees of freedom.
        """
        retrained = [(system, resamples) for system in systems if (resamples := self._retrained(system)) is not None]
        if not retrained:
            return []
        varying = [system for system in systems if not self._constant(system)]
        if len(retrained) == 2 and retrained[0][1].groups == retrained[1][1].groups:
            (first, resamples), (second, _) = retrained
            wide = any(side.wide for _, side in retrained)
            spreads = [(self._spread(first) - self._spread(second), replace(resamples, wide=wide))]
        else:
            spreads = [(self._spread(system), resamples) for system, resamples in retrained]
        # a system that was not trained again is taken to vary as much
        times = 2 if len(varying) > len(retrained) else 1
        if all(resamples.folds is not None for _, resamples in retrained):
            changes = times * sum(spread.changes(resamples.groups) for spread, resamples in spreads)
            share = min(1.0, changes / tested) if tested > 0 else 0.0
            is_linear = all(resamples.groups == LINEAR_GROUPS for _, resamples in retrained)
            excess = fold_excess(share, len(varying), retrained[0][1].mutual if is_linear else None) * tested
            return [(excess, df), *((times * spread.dev[0], spread.dev[1]) for spread, _ in spreads)]
        factor = float(np.mean([self._usual_factor(system) for system, _ in retrained]))
        if len(spreads) < len(retrained):
            factor *= USUAL_OF_DIFFERENCE
        return [
            (times * variance, freedom)
            for spread, resamples in spreads
            for variance, freedom in (spread.training(resamples, factor), spread.dev)
        ]

    def _usual_factor(self, system: int) -> float:
        retrained = self._retrained(system)
        assert retrained is not None
        n = len(self.rows.number)
        right = float(self.correct[system].sum())
        return usual_factor(n * self._spread(system).changes(retrained.groups), (right + 0.5) / (n + 1))

    def _spread(self, system: int) -> _Spread:
        if system not in self._spreads:
            retrained = self._retrained(system)
            assert retrained is not None
            n = retrained.trained.shape[1]
            self._spreads[system] = _Spread(
                _about(self.rows, retrained.trained.reshape(-1, retrained.groups, n)),
                _about(self.rows, retrained.chosen[None]),
            )
        return self._spreads[system]

    def seed_variances(self, tested: float, *systems: int) -> list[tuple[float, float]]:
        """The variances that seeds add to that due to test rows, with their degrees of freedom."""
        seeds = [self.seeds[system] for system in systems] if self.seeds else []
        first, second = (self.trainings[systems[0]], self.trainings[systems[-1]]) if self.trainings else ({}, {})
        if len(systems) == 2 and first and first.keys() == second.keys():
            # the same trainings, such as with a control: what counts is how their differences vary
            seeds = [encoder_seeds(np.array([first[name] - second[name] for name in first]), self.rows, tested)]
        elif len(systems) == 2 and first.keys() & second.keys():
            # what some have in common is not in the variance of the difference, from which no noise can be taken off
            seeds = [probe_seeds(np.array(list(side.values()))) for side in (first, second) if side]
        return [variance.of_mean for variance in seeds if variance.seeds > 1]


def fold_excess(share: float, varying: int, mutual: float | None) -> float:
    """By what share the variance in folds exceeds that of rows, of a system or of a difference of two that vary.

    ``share`` is that of changes; ``mutual`` is known of linear probes only.
    """
    if mutual is None:
        return OTHER_FOLD_EXCESS / max(1, varying) * share**2
    factor = FOLD_EXCESS if varying < 2 else FOLD_EXCESS_OF_DIFFERENCE
    return factor * mutual * share**2 / (1 + share**2)


def usual_factor(changes: float, accuracy: float) -> float:
    """The usual variance of the accuracy of a linear probe, over changes² / training rows.

    ``changes`` is the variance per test row of answers that change with half of the training rows.
    """
    from scipy.special import ndtri

    z = float(ndtri(accuracy))
    density = math.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
    signal = max(MIN_SIGNAL, 1 - 2 * math.pi * (changes / density) ** 2)
    return USUAL * (1 + z**2 / 2) * 2 * math.pi * (signal - signal**2 / 2)


_Scores = tuple[Floats, Floats]
"""Scores (K,) minus the mean of their round, and the influence of clusters of test rows on each, (K, m)."""


@dataclass(frozen=True, eq=False)
class _Spread:
    """How the scores of retrained probes vary."""

    trained: _Scores
    chosen: _Scores

    def __sub__(self, subtrahend: _Spread) -> _Spread:
        return _Spread(_minus(self.trained, subtrahend.trained), _minus(self.chosen, subtrahend.chosen))

    def jackknife(self, retrained: Retrained) -> tuple[float, float]:
        """The variance due to training rows of one split, and its degrees of freedom."""
        k, groups = len(self.trained[0]), retrained.groups
        bound = BOUND if groups == LINEAR_GROUPS and not retrained.wide else 1.0
        return (groups - 1) / k * _without_noise(*self.trained) / bound, k * (groups - 1) / groups

    def training(self, retrained: Retrained, factor: float) -> tuple[float, float]:
        """The variance due to training rows of one split, and its degrees of freedom: that of the jackknife, moderated
        for linear probes by what is usual, which is ``factor`` · changes² / training rows."""
        variance, freedom = self.jackknife(retrained)
        if retrained.train_rows is None or retrained.groups != LINEAR_GROUPS:
            return variance, freedom
        changes = retrained.trained.shape[1] * self.changes(retrained.groups)
        usual, freedom = factor * changes**2 / retrained.train_rows, USUAL_DF + JACKKNIFE_DF
        return (USUAL_DF * usual + JACKKNIFE_DF * variance) / freedom, freedom

    @property
    def dev(self) -> tuple[float, float]:
        """The variance due to dev rows, and its degrees of freedom."""
        draws = len(self.chosen[0])
        return _without_noise(*self.chosen) / (draws - 1), draws - 1.0

    def changes(self, groups: int) -> float:
        """The variance due to predictions that change with half of the training rows."""
        k = len(self.trained[0])
        noise = (groups - 1) / k * float(np.square(self.trained[1]).sum())
        return float(noise / ((groups - 1) * (2 / groups) ** 0.5))


def _about(rows: ScoredRows, rounds: Floats) -> _Scores:
    """Scores from correctness (rounds, g, n)."""
    deviations = (rounds - rounds.mean(axis=1, keepdims=True)).reshape(-1, rounds.shape[-1])
    return deviations.mean(axis=1), rows.influence(deviations)


def _minus(minuend: _Scores, subtrahend: _Scores) -> _Scores:
    k = min(len(minuend[0]), len(subtrahend[0]))  # one run may have more rounds than another
    return minuend[0][:k] - subtrahend[0][:k], minuend[1][:k] - subtrahend[1][:k]


def _without_noise(scores: Floats, noise: Floats) -> float:
    """The sum of squares of scores (K,), minus what the noise of the test rows contributes."""
    return max(0.0, float(np.square(scores).sum()) - float(np.square(noise).sum()))
