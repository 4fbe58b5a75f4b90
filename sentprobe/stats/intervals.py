"""Intervals of a score over samples of test rows."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.stats import inputs
from sentprobe.stats.level import checked_level, normal_quantile, standard_errors
from sentprobe.stats.means import Mean, ScoredRows, quantile
from sentprobe.stats.resample import Clusters, bootstrap_sums, cluster_sums, percentile_interval


def wilson(k: float, n: float, z: float | None = None) -> tuple[float, float]:
    """The Wilson score interval of k out of n, with z standard errors on each side."""
    z = standard_errors() if z is None else z
    if n <= 0 or not 0 <= k <= n:
        raise UsageError(f"Expected k of n with 0 <= k <= n and n > 0, got {k} of {n}.")
    p = k / n
    centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
    return max(0.0, min(low, p)), min(1.0, max(high, p))  # at 0 and n of n, rounding may exclude p


def proportion_interval(mean: Mean, rows: ScoredRows, *, averaged: bool = False) -> tuple[float, float]:
    """Wilson's interval of a share whose rows are not independent, with an effective number of rows.

    This is the number of independent rows that would have the same variance, at most the actual number, reduced where
    the variance itself is uncertain (Franco et al. 2019, J. Surv. Stat. Methodol. 7:334, find that it covers best). If
    all rows are right, or all wrong, it is at most one per cluster: the correlation within clusters is then unknown.
    ``averaged``: rows are right to a share, over several systems, and their mean may vary less than of right or wrong.
    """
    p, z = mean.value, normal_quantile()
    n = len(rows.number)
    most = n if 0 < p < 1 else len(rows.sizes)
    inner = (p * n + 0.5) / (n + 1) if not 0 < p < 1 else p
    size = inner * (1 - inner) / mean.variance if mean.variance > 0 else most
    size = size if averaged and mean.variance > 0 else min(most, size)
    size *= (z / quantile(None, mean.df)) ** 2
    return wilson(p * size, size, z)


def bootstrap(
    values: npt.ArrayLike, *, seed: int, draws: int = 2000, level: float | None = None
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean of values (n), such as correctness or bits.

    If all values are equal the interval has no width. For accuracies, ``wilson`` is better.
    """
    return _interval(values, None, seed, draws, level)


def cluster_bootstrap(
    values: npt.ArrayLike, clusters: Clusters, *, seed: int, draws: int = 2000, level: float | None = None
) -> tuple[float, float]:
    """The same for rows in clusters (n), such as rows with the same target form: clusters are drawn, not rows.

    The mean of a draw is its sum over its size, as clusters differ in size. With fewer than about fifty clusters the
    interval is too narrow, though less so than one that treats rows as independent.
    """
    return _interval(values, clusters, seed, draws, level)


def _interval(
    values: npt.ArrayLike, clusters: Clusters | None, seed: int, draws: int, level: float | None
) -> tuple[float, float]:
    rows = cluster_sums(inputs.numbers(values, "values")[None, :], clusters)
    sums = bootstrap_sums(rows, inputs.checked_draws(draws), np.random.default_rng(seed))
    return percentile_interval(sums[:, 0] / sums[:, 1], checked_level(level))
