"""Scores over several seeds, or over the folds of a cross-validation.

A recipe for training encoders has a level of its own above training and test rows: other seeds would have given other
encoders. Its score is the mean over the k encoders at hand, x̄ = 1/k · Σ x_s, and its variance

    rows of the mean over encoders  +  (training rows, as for one encoder)  +  (s² - noise) / k

- s² is the variance of the scores x_s. All encoders were tested on the same rows, so s² is more than what seeds
  contribute: encoders are right on different rows by chance. This *noise* is the mean variance of x_s - x̄ over test
  rows, which are part of the first term already.
- Degrees of freedom are Satterthwaite's, in which seeds have k - 1 of s²: not of the difference, which is known no
  better. So with three seeds that differ a lot, the quantile is that of t with about two degrees of freedom, and with
  seeds that do not differ it is that of the rows.
- Of a difference of two recipes, the seeds of either side are another term each: they are drawn independently, even if
  both have seed 1. Where both sides are the same trainings, with two probes or with a control, x_s is the difference of
  each, and there is one term. An encoder with one seed has no term: it is taken as it is, and not as one of its recipe.

``benchmarks/recipe_coverage.py`` measures coverage, and how often two sets of seeds of one recipe are called different.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.stats import inputs
from sentprobe.stats.means import ScoredRows, quantile
from sentprobe.stats.resample import Clusters, bootstrap_sums, cluster_sums, percentile_interval


@dataclass(frozen=True)
class Spread:
    """The distribution of the scores of several seeds."""

    mean: float
    std: float | None
    """Standard deviation, with n - 1 in the denominator; None for a single score."""
    minimum: float
    maximum: float
    seeds: int


def spread(scores: npt.ArrayLike) -> Spread:
    """Mean, standard deviation, minimum and maximum of one score per seed, (seeds)."""
    values = inputs.numbers(scores, "scores")
    std = float(values.std(ddof=1)) if len(values) > 1 else None
    return Spread(float(values.mean()), std, float(values.min()), float(values.max()), len(values))


class SeedVariance(NamedTuple):
    """How much a score varies between seeds."""

    variance: float
    seeds: int
    df: float
    """Degrees of freedom of the variance."""

    @property
    def of_mean(self) -> tuple[float, float]:
        """The variance of the mean over seeds, with its degrees of freedom."""
        return self.variance / self.seeds, self.df


ONE_SEED = SeedVariance(0.0, 1, 1.0)
MIN_SHARE = 1e-6
"""The least share of the variance of scores that is put down to seeds: degrees of freedom are those of s² even then."""


def probe_seeds(correct: npt.NDArray[np.float64]) -> SeedVariance:
    """Between seeds of a probe, from which rows it has right (seeds, n)."""
    seeds = len(correct)
    return ONE_SEED if seeds < 2 else SeedVariance(float(correct.mean(axis=1).var(ddof=1)), seeds, seeds - 1.0)


def encoder_seeds(correct: npt.NDArray[np.float64], rows: ScoredRows, tested: float = math.inf) -> SeedVariance:
    """Between encoders of a recipe, from which rows each has right (seeds, n): without the noise of the test rows.

    ``tested``: the variance of the mean over encoders due to test rows, which has the noise that is taken off here.
    """
    seeds = len(correct)
    if seeds < 2:
        return ONE_SEED
    scores = correct.mean(axis=1)
    observed = float(scores.var(ddof=1))
    noise = float(np.square(rows.influence(correct - correct.mean(axis=0))).sum()) / (seeds - 1)
    noise = min(noise, seeds * tested)
    variance = max(MIN_SHARE * observed, observed - noise)
    # the difference is as uncertain as what it is computed from, whose square over its degrees of freedom stays
    df = (seeds - 1) * (variance / observed) ** 2 if observed > 0 else seeds - 1.0
    return SeedVariance(variance, seeds, df)


def hierarchical_bootstrap(
    values: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    seed: int,
    draws: int = 2000,
    level: float | None = None,
) -> tuple[float, float]:
    """The percentile interval of the mean over seeds and rows, (seeds, n), when both are resampled.

    Seeds are drawn, then rows, or with ``clusters`` (n) clusters. All seeds were tested on the same rows, so a draw
    takes the same rows for each: separate rows for every seed would make the interval too narrow. With a handful of
    seeds their contribution is too small, by (seeds - 1) / seeds in variance.
    """
    table = inputs.numbers(values, "values", dimensions=2)
    seeds, rng = len(table), np.random.default_rng(seed)
    sums = bootstrap_sums(cluster_sums(table, clusters), inputs.checked_draws(draws), rng)
    times = rng.multinomial(seeds, np.full(seeds, 1 / seeds), size=draws)
    return percentile_interval((sums[:, :-1] * times).sum(axis=1) / (seeds * sums[:, -1]), level)


@dataclass(frozen=True)
class CorrectedT:
    """A mean over folds, and whether it differs from 0."""

    mean: float
    low: float
    high: float
    t: float
    p: float
    """Two-sided."""
    folds: int


def corrected_t(differences: npt.ArrayLike, n_train: float, n_test: float) -> CorrectedT:
    """Nadeau and Bengio's t-test of differences (folds), trained on n_train rows and tested on n_test in each fold.

    Folds share training rows and are not independent: the variance of the mean is (1 / k + n_test / n_train) times that
    of the differences, and not 1 / k (2003, Machine Learning 52:239). Given scores instead of differences, the result
    is their interval.
    """
    from scipy.special import stdtr

    d = inputs.numbers(differences, "differences", minimum=2)
    if n_train <= 0 or n_test <= 0:
        raise UsageError(f"n_train and n_test must be above 0, got {n_train} and {n_test}.")
    k, mean = len(d), float(d.mean())
    # equal folds have no variance, whatever rounding makes of it
    error = 0.0 if (d == d[0]).all() else math.sqrt((1 / k + n_test / n_train) * d.var(ddof=1))
    t = mean / error if error else math.copysign(math.inf, mean) if mean else 0.0
    half = quantile(None, k - 1) * error
    return CorrectedT(mean, mean - half, mean + half, t, 2 * float(stdtr(k - 1, -abs(t))), k)
