"""Scores over several seeds, or over the folds of a cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.stats import inputs
from sentprobe.stats.means import quantile
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
