"""Two systems on the same rows: is one better, and by how much?

McNemar's test and Newcombe's interval are for correctness. The paired bootstrap and the sign-flip permutation test take
any number per row, such as bits, and support clusters. A difference is always the first system minus the second, and
swapping the systems gives the same numbers with the opposite sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.stats import inputs
from sentprobe.stats import level as levels
from sentprobe.stats.intervals import wilson
from sentprobe.stats.planning import detectable_difference
from sentprobe.stats.resample import (
    FEW_KINDS,
    Clusters,
    Floats,
    bootstrap_sums,
    cluster_numbers,
    cluster_sums,
    draw_chunks,
    percentile_interval,
)

FLIPS = 20
"""Non-zero differences up to which all 2^n sign flips are enumerated."""
DIFFERENCE_TIE = 1e-9
"""The share of the largest difference below which two sums are tied: they may have been added in another order."""


@dataclass(frozen=True)
class McNemar:
    """A comparison by the rows on which one of two systems is right and the other wrong."""

    b: int
    """Rows that only the first has right."""
    c: int
    """Rows that only the second has right."""
    n: int
    difference: float
    """Of the accuracies: (b - c) / n."""
    low: float
    high: float
    """Newcombe's interval of the difference."""
    p_exact: float
    """Two-sided, from the binomial distribution. It is conservative."""
    p_mid: float
    """The same with half the probability of the observed table: closer to the nominal level (Fagerland et al. 2013)."""


def mcnemar(first_right: npt.ArrayLike, second_right: npt.ArrayLike, *, level: float | None = None) -> McNemar:
    """Compare two systems by the rows (n) that each has right."""
    first, second = inputs.booleans(first_right, "first_right"), inputs.booleans(second_right, "second_right")
    inputs.check_same_shape(first, "first_right", second, "second_right")
    b, c, both = int((first & ~second).sum()), int((second & ~first).sum()), int((first & second).sum())
    n = len(first)
    low, high = newcombe(both, b, c, n, levels.normal_quantile(level))
    p_exact, p_mid = binomial_p(b, c)
    return McNemar(b, c, n, (b - c) / n, low, high, p_exact, p_mid)


def binomial_p(b: int, c: int) -> tuple[float, float]:
    """The two-sided exact p-value of b against c where both are equally likely, and the mid-p value."""
    from scipy.special import bdtr

    few, m = min(b, c), b + c
    observed = math.exp(math.lgamma(m + 1) - math.lgamma(few + 1) - math.lgamma(m - few + 1) - m * math.log(2))
    tails = 2 * float(bdtr(few, m, 0.5))
    return min(1.0, tails), min(1.0, max(0.0, tails - observed))


def newcombe(both: int, b: int, c: int, n: int, z: float) -> tuple[float, float]:
    """Newcombe's square-and-add interval of a paired difference of shares (1998, Stat. Med. 17:2635, method 10).

    It combines the Wilson intervals of the two accuracies with their correlation. It has a width even if the two are
    right on the same rows, stays between -1 and 1, and covers well even for small n, where Wald's does not.
    """
    first, second = (both + b) / n, (both + c) / n
    (first_low, first_high), (second_low, second_high) = wilson(both + b, n, z), wilson(both + c, n, z)
    neither = n - both - b - c
    spread = (both + b) * (c + neither) * (both + c) * (b + neither)
    excess = float(both * neither - b * c)
    if excess > 0:
        excess = max(excess - n / 2, 0.0)  # Newcombe's continuity correction
    phi = excess / math.sqrt(spread) if spread else 0.0
    below = _add(first - first_low, second_high - second, phi)
    above = _add(first_high - first, second - second_low, phi)
    return max(-1.0, (b - c) / n - below), min(1.0, (b - c) / n + above)


def _add(x: float, y: float, phi: float) -> float:
    return math.sqrt(max(0.0, x * x - 2 * phi * x * y + y * y))


@dataclass(frozen=True)
class PairedBootstrap:
    """How the difference of two means varies when the rows are resampled."""

    difference: float
    low: float
    high: float
    """Percentile interval."""
    p: float
    """Two-sided: how often a draw is as far from the difference as the difference is from 0."""
    p_greater: float
    """One-sided: small if the first mean is greater (Berg-Kirkpatrick et al. 2012)."""
    draws: int


def paired_bootstrap(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    seed: int,
    draws: int = 10_000,
) -> PairedBootstrap:
    """Resample the same rows (n) for both, or with ``clusters`` (n) the same clusters, and take the difference."""
    d = _differences(first, second)
    rows, mirrored = cluster_sums(d[None, :], clusters), cluster_sums(0.0 - d[None, :], clusters)
    unlike = (rows - mirrored).ravel()
    flipped = unlike.any() and unlike[unlike != 0][0] < 0  # the draws do not depend on which system is first
    sums = bootstrap_sums(mirrored if flipped else rows, inputs.checked_draws(draws), np.random.default_rng(seed))
    differences = sums[:, 0] / sums[:, 1] * (-1 if flipped else 1)
    if not unlike.any():
        differences = np.concatenate(
            [differences, -differences]
        )  # equally likely, and the same for either order of the systems
    difference = float(rows[:, 0].sum() / len(d))
    off, tie = differences - difference, DIFFERENCE_TIE * np.abs(d).max()
    p, p_greater = (
        (int((above >= limit - tie).sum()) + 1) / (len(differences) + 1)
        for above, limit in ((np.abs(off), abs(difference)), (off, difference))
    )
    low, high = percentile_interval(differences)
    return PairedBootstrap(difference, low, high, p, p_greater, draws)


@dataclass(frozen=True)
class Permutation:
    """How often random sign flips give a difference as large as the observed one."""

    difference: float
    p: float
    """Two-sided."""
    exact: bool
    """Whether all sign flips were enumerated, and not a sample of them."""


def permutation(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    seed: int,
    draws: int = 10_000,
) -> Permutation:
    """Swap the two systems at random, row by row (n), or with ``clusters`` (n) cluster by cluster.

    For correctness without clusters this is the exact McNemar test, which is the better choice.
    """
    d = _differences(first, second)
    by_cluster = cluster_sums(d[None, :], clusters)[:, 0]
    total, sizes = float(by_cluster.sum()), _sizes(by_cluster)
    if len(sizes) <= FLIPS:
        return Permutation(total / len(d), _exact_p(total, sizes), exact=True)
    flipped_sums = _some_sums(sizes, inputs.checked_draws(draws), np.random.default_rng(seed))
    p = (int(_as_large(flipped_sums, total, sizes).sum()) + 1) / (len(flipped_sums) + 1)
    return Permutation(total / len(d), p, exact=False)


Columns = Mapping[Any, npt.NDArray[Any]]
"""The predictions of a system, by name: (n, …) each."""


def swap_permutation(
    score: Callable[[Columns], float],
    first: Sequence[Columns],
    second: Sequence[Columns],
    *,
    clusters: Clusters | None = None,
    seed: int = 0,
    draws: int = 2_000,
) -> Permutation:
    """Swap the predictions of two systems at random, row by row, or with ``clusters`` (n) cluster by cluster.

    For scores that are no means over rows. Systems have the same number of seeds, whose scores are averaged. Only
    clusters in which the systems differ count; if these can be swapped in at most ``draws`` ways, all are enumerated.
    """
    n = len(next(iter(first[0].values())))
    seeds = list(zip(first, second, strict=True))
    number = np.arange(n) if clusters is None else cluster_numbers(clusters, n)

    def difference(swapped: npt.NDArray[np.bool_]) -> float:
        gaps = [
            score(_swapped(columns, rivals, swapped)) - score(_swapped(rivals, columns, swapped))
            for columns, rivals in seeds
        ]
        return float(np.mean(gaps))

    unlike = np.zeros(n, bool)
    for columns, rivals in seeds:
        for name, column in columns.items():
            unlike |= (column != rivals[name]).reshape(n, -1).any(axis=1)
    differing = np.unique(number[unlike])
    exact = 2 ** min(len(differing), 64) <= inputs.checked_draws(draws)
    if exact:
        ways = np.arange(2 ** len(differing))[:, None] >> np.arange(len(differing)) & 1
    else:
        ways = np.random.default_rng(seed).integers(2, size=(draws, len(differing)), dtype=np.int8)
    swaps = np.zeros((len(ways), int(number.max()) + 1), bool)
    swaps[:, differing] = ways
    observed = difference(np.zeros(n, bool))
    differences = np.array([difference(swap[number]) for swap in swaps])
    as_large = int((np.abs(differences) >= abs(observed) - DIFFERENCE_TIE).sum())
    # the observed way is one of those that are enumerated, but not of those that are sampled
    return Permutation(observed, as_large / len(ways) if exact else (as_large + 1) / (len(ways) + 1), exact=exact)


def _swapped(columns: Columns, rivals: Columns, swapped: npt.NDArray[np.bool_]) -> Columns:
    """The predictions of the first system, but those of the second in swapped rows (n)."""
    return {
        name: np.where(swapped.reshape(-1, *(1,) * (column.ndim - 1)), rivals[name], column)
        for name, column in columns.items()
    }


def clustered_p(first: npt.ArrayLike, second: npt.ArrayLike, clusters: Clusters | None = None) -> float:
    """The two-sided p-value of a difference when two systems are swapped row by row (n), or cluster by cluster (n).

    With up to ``FLIPS`` clusters that differ, all sign flips are enumerated; with more, the sum of the clusters'
    differences is taken to be normal with its variance under sign flips. McNemar's test treats rows as independent, and
    finds spurious differences where the rows of a cluster are right or wrong together.
    """
    by_cluster = cluster_sums(_differences(first, second)[None, :], clusters)[:, 0]
    differing = by_cluster[by_cluster != 0]
    if len(differing) <= FLIPS:
        return _exact_p(float(by_cluster.sum()), _sizes(by_cluster))
    # not 2 Φ(-z), which is 0 from z = 8.3 on
    return math.erfc(abs(float(differing.sum())) / math.sqrt(2 * float(np.square(differing).sum())))


def _sizes(by_cluster: Floats) -> Floats:
    """The absolute differences that are not zero, sorted."""
    return np.sort(np.abs(by_cluster[by_cluster != 0]))


def _exact_p(total: float, sizes: Floats) -> float:
    """The share of all sign flips of sizes (m) whose sum is as large as the observed one."""
    if not len(sizes):
        return 1.0
    sums, ways = np.zeros(1), np.ones(1)
    # of equal sizes, only the number of positive ones counts
    for size, times in zip(*np.unique(sizes, return_counts=True), strict=True):
        sums = np.add.outer(sums, size * np.arange(-times, times + 1, 2)).ravel()
        ways = np.outer(ways, [math.comb(times, k) for k in range(times + 1)]).ravel()
    return float(ways[_as_large(sums, total, sizes)].sum()) / 2.0 ** len(sizes)


def _as_large(flipped_sums: Floats, total: float, sizes: Floats) -> npt.NDArray[np.bool_]:
    """Which sums are as large as the observed one."""
    return np.asarray(np.abs(flipped_sums) >= abs(total) - DIFFERENCE_TIE * sizes[-1])


def _some_sums(sizes: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The sums (draws) of sizes (m) with random signs; equal sizes are drawn together."""
    kinds, times = np.unique(sizes, return_counts=True)
    singly = len(kinds) * FEW_KINDS > len(sizes)
    kinds = sizes if singly else kinds
    positive = np.empty(draws)
    for part in draw_chunks(draws, len(kinds)):
        shape = (part.stop - part.start, len(kinds))
        positive[part] = (rng.integers(2, size=shape) if singly else rng.binomial(times, 0.5, shape)) @ kinds
    return np.asarray(2 * positive - sizes.sum())


def _differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    first_values = inputs.numbers(first, "first", minimum=2)
    second_values = inputs.numbers(second, "second", minimum=2)
    inputs.check_same_shape(first_values, "first", second_values, "second")
    return first_values - second_values


def detectable(discordance: float, n: int, power: float = 0.8, alpha: float | None = None) -> float:
    """The approximate difference of two accuracies on n rows that a two-sided test detects with this power.

    ``discordance`` is the share of rows on which one is right and the other wrong. It bounds the difference: a result
    above it means that n rows are too few to detect any.
    """
    if not 0 <= discordance <= 1 or n <= 0:
        raise UsageError(f"A discordance must be between 0 and 1 and n above 0, got {discordance} and {n}.")
    return detectable_difference(discordance / n, power=power, alpha=alpha)
