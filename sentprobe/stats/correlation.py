"""Correlation of two scores over encoders or tasks, of which there are always few."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError, UsageError
from sentprobe.stats import inputs
from sentprobe.stats import level as levels
from sentprobe.stats.resample import Floats, percentile_interval

Kind = Literal["spearman", "pearson"]
MAX_EXACT_N = 8
"""Pairs up to which all permutations are enumerated: 40,320."""
CORRELATION_TIE = 1e-12
"""Correlations that differ by less are equal up to rounding."""


@dataclass(frozen=True)
class Correlation:
    """A correlation with its interval and p-value."""

    kind: Kind
    value: float
    low: float
    high: float
    p: float
    """Two-sided: how often randomly permuted pairs correlate as strongly."""
    exact: bool
    """Whether all permutations were enumerated, and not a sample of them."""
    n: int


def correlate(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    kind: Kind = "spearman",
    seed: int,
    draws: int = 10_000,
) -> Correlation:
    """The correlation of x (n) with y (n), n at least 3: permutation p-value, and bootstrap interval.

    The interval is BCa (Efron 1987), or the percentiles where BCa is not defined. Draws in which a side is constant
    have no correlation and are left out. If the correlation is perfect, so it is in every draw: the interval has no
    width, and the p-value is more informative.
    """
    if kind not in ("spearman", "pearson"):
        raise UsageError(f"Expected the correlation spearman or pearson, got {kind!r}.")
    a, b = inputs.numbers(x, "x", minimum=3), inputs.numbers(y, "y", minimum=3)
    inputs.check_same_shape(a, "x", b, "y")
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    if (a == a[0]).all() or (b == b[0]).all():
        raise DataError("A correlation needs x and y that vary; x or y has one value only.")
    rng = np.random.default_rng(seed)
    value = float(_rows(a[None, :], b[None, :], kind)[0])
    p, exact = _p_value(a, b, kind, value, rng, inputs.checked_draws(draws))
    low, high = _interval(a, b, kind, value, rng, draws)
    return Correlation(kind, value, low, high, p, exact, len(a))


@dataclass(frozen=True)
class MeanCorrelation:
    """The mean correlation of two groups of sets over encoders, with its interval."""

    value: float
    low: float
    high: float
    encoders: int


def mean_correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, *, kind: Kind = "spearman", seed: int, draws: int = 2_000
) -> MeanCorrelation:
    """The mean correlation of every row of x (r, n) with every row of y (c, n), n at least 3.

    The interval is the percentiles of a bootstrap that draws encoders (columns) and sets (rows of x, rows of y) anew,
    each with replacement: with other encoders and with other sets the mean would be another one. Draws in which a row
    is constant leave that row out.
    """
    a, b = np.atleast_2d(np.asarray(x, np.float64)), np.atleast_2d(np.asarray(y, np.float64))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or a.shape[1] < 3:
        raise DataError(f"Expected x (rows, n) and y (rows, n) with n at least 3, got {a.shape} and {b.shape}.")
    value, n, rng = _mean_of_rows(a, b, kind), a.shape[1], np.random.default_rng(seed)
    if math.isnan(value):
        raise DataError("A correlation needs x and y that vary; x or y has one value only.")
    means = np.empty(inputs.checked_draws(draws))
    for draw in range(draws):
        encoders = rng.integers(n, size=n)
        first, second = (side[rng.integers(len(side), size=len(side))][:, encoders] for side in (a, b))
        means[draw] = _mean_of_rows(first, second, kind)
    return MeanCorrelation(value, *percentile_interval(means[~np.isnan(means)]), n)


def _mean_of_rows(a: Floats, b: Floats, kind: Kind) -> float:
    """The mean over all pairs of rows of a (r, n) and b (c, n) that vary; NaN if there is none."""
    a, b = a[np.ptp(a, axis=1) > 0], b[np.ptp(b, axis=1) > 0]
    if not len(a) or not len(b):
        return math.nan
    a, b = _centred(a, kind), _centred(b, kind)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    return float((a @ b.T).mean())


def coefficient(x: npt.ArrayLike, y: npt.ArrayLike, kind: Kind) -> float:
    """The correlation of x (n) with y (n) alone; NaN if one of them is constant."""
    a, b = inputs.numbers(x, "x"), inputs.numbers(y, "y")
    return float(_rows(a[None, :], b[None, :], kind)[0])


def _p_value(
    a: Floats, b: Floats, kind: Kind, value: float, rng: np.random.Generator, draws: int
) -> tuple[float, bool]:
    (a,), (b,) = (_centred(side[None, :], kind) for side in (a, b))
    exact = len(a) <= MAX_EXACT_N
    permuted = np.array(list(permutations(b))) if exact else rng.permuted(np.tile(b, (draws, 1)), axis=1)
    coefficients = permuted @ a / np.sqrt((a @ a) * (b @ b))
    as_strong = int((np.abs(coefficients) >= abs(value) - CORRELATION_TIE).sum())
    return (as_strong / len(permuted) if exact else (as_strong + 1) / (len(permuted) + 1)), exact


def _rows(a: Floats, b: Floats, kind: Kind) -> Floats:
    """The correlation of each row of a (m, n) with that of b; NaN if one is constant."""
    varied = (np.ptp(a, axis=1) > 0) & (np.ptp(b, axis=1) > 0)
    a, b = _centred(a, kind), _centred(b, kind)
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    coefficients = np.full(len(a), np.nan)
    np.divide((a * b).sum(axis=1), scale, out=coefficients, where=varied & (scale > 0))
    return coefficients.clip(-1.0, 1.0)


def _centred(rows: Floats, kind: Kind) -> Floats:
    """Rows (m, n), or their ranks, minus their means."""
    if kind == "spearman":
        rows = ranks(rows)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def ranks(rows: Floats) -> Floats:
    """The rank of each value in its row (m, n), from 1; equal values have the mean of their ranks.

    scipy.stats.rankdata does the same, but it takes half a second to import scipy.stats.
    """
    positions = np.arange(rows.shape[1])
    order = np.argsort(rows, axis=1)
    values = np.take_along_axis(rows, order, axis=1)
    new = np.ones(rows.shape, np.bool_)
    new[:, 1:] = values[:, 1:] != values[:, :-1]
    last = np.roll(new, -1, axis=1)
    first_equal = np.maximum.accumulate(np.where(new, positions, 0), axis=1)
    last_equal = np.minimum.accumulate(np.where(last, positions, positions[-1])[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first_equal + last_equal) / 2 + 1, axis=1)
    return ranks


def _interval(
    a: Floats, b: Floats, kind: Kind, value: float, rng: np.random.Generator, draws: int
) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri

    n, level = len(a), levels.LEVEL
    samples = rng.integers(n, size=(draws, n))
    coefficients = _rows(a[samples], b[samples], kind)
    coefficients = coefficients[~np.isnan(coefficients)]
    remaining = np.array([np.delete(np.arange(n), i) for i in range(n)])
    without = _rows(a[remaining], b[remaining], kind)
    u = without.mean() - without
    below = ((coefficients < value - CORRELATION_TIE).mean() + (coefficients <= value + CORRELATION_TIE).mean()) / 2
    if not 0 < below < 1 or np.isnan(u).any() or np.abs(u).max() <= CORRELATION_TIE:
        return percentile_interval(coefficients, level)
    bias, skew = ndtri(below), (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z = bias + ndtri(np.array([(1 - level) / 2, (1 + level) / 2]))
    if (skew * z >= 1).any():
        return percentile_interval(coefficients, level)
    low, high = np.quantile(coefficients, ndtr(bias + z / (1 - skew * z)))
    return float(low), float(high)
