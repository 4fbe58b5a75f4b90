"""How similar two sentences are by the cosine of their vectors, and how well that agrees with human scores."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import ShapeError
from sentprobe.probes.features import Features
from sentprobe.stats import inputs
from sentprobe.stats.resample import CHUNK_CELLS, percentile_interval

Doubles = npt.NDArray[np.float64]

COSINE_ROWS = 1024
"""Rows that are gathered at a time."""
MIN_PAIRS = 3
"""Minimum number of rows in a group: two always correlate perfectly."""


@dataclass(frozen=True)
class GroupCorrelation:
    """The correlations of the rows of one group."""

    pearson: Any
    """What scipy's ``pearsonr`` returns."""
    spearman: Any
    """What scipy's ``spearmanr`` returns."""
    n: int


@dataclass(frozen=True)
class CorrelationSummary:
    """One kind of correlation over all groups. Three ways to average are in use, and they differ."""

    mean: float
    """Mean over groups."""
    weighted: float
    """Mean over groups, weighted by their rows."""
    overall: float
    """Of all rows at once."""
    low: float
    high: float
    """The bootstrap interval of the correlation of all rows at once, at the level ``level``."""


@dataclass(frozen=True)
class GoldCorrelations:
    """Agreement with gold scores. A correlation is NaN where a side does not vary, and so is a mean with it."""

    groups: Mapping[str, GroupCorrelation]
    """In order of first occurrence."""
    pearson: CorrelationSummary
    spearman: CorrelationSummary
    n: int


def similarity(first: Features, second: Features) -> Doubles:
    """The cosine of row i of the first (n, d) and row i of the second, (n,).

    As in SentEval, a value that is NaN counts as 0, and a vector that has no direction, as its values are all 0 or some
    are infinite, has the cosine 0 with any other.
    """
    if first.shape != second.shape:
        raise ShapeError(f"The two sides are {first.shape} and {second.shape}; expected the same rows and dimensions.")
    cosines = np.zeros(len(first))
    for (start, u), (_, v) in zip(first.chunks(COSINE_ROWS), second.chunks(COSINE_ROWS), strict=True):
        a, b = (np.where(np.isnan(side), 0.0, side).astype(np.float64) for side in (u, v))
        with np.errstate(invalid="ignore"):
            dots, *squares = (np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (a, a), (b, b)))
            # roots first: the product of two squares may overflow or vanish
            norms = np.sqrt(squares[0]) * np.sqrt(squares[1])
        np.divide(dots, norms, out=cosines[start : start + len(u)], where=(norms > 0) & np.isfinite(norms))
    return cosines


def correlations(
    similarities: npt.ArrayLike,
    gold: npt.ArrayLike,
    groups: Sequence[str],
    *,
    seed: int,
    draws: int = 2000,
) -> GoldCorrelations:
    """How similarities (n,) agree with gold scores (n,), within groups, which each row (n,) names, and over all."""
    x, y = inputs.numbers(similarities, "similarities"), inputs.numbers(gold, "gold")
    inputs.check_same_shape(x, "similarities", y, "gold")
    names = np.asarray(groups)
    inputs.check_same_shape(x, "similarities", names, "groups")
    by_group = {}
    for name in dict.fromkeys(names.tolist()):
        inside = names == name
        by_group[name] = GroupCorrelation(*_both(x[inside], y[inside], name), int(inside.sum()))
    overall = _both(x, y, "all")
    bootstrap = _bootstrap(x, y, np.random.default_rng(seed), inputs.checked_draws(draws))
    sizes = [group.n for group in by_group.values()]
    pearson = _summary([group.pearson[0] for group in by_group.values()], sizes, overall[0][0], bootstrap[0])
    spearman = _summary([group.spearman[0] for group in by_group.values()], sizes, overall[1][0], bootstrap[1])
    return GoldCorrelations(by_group, pearson, spearman, len(x))


def _summary(
    of_groups: Sequence[float], sizes: Sequence[int], overall: float, bootstrap: Doubles
) -> CorrelationSummary:
    defined = bootstrap[~np.isnan(bootstrap)]
    low, high = percentile_interval(defined) if len(defined) else (np.nan, np.nan)
    mean, weighted = float(np.mean(of_groups)), float(np.average(of_groups, weights=sizes))
    return CorrelationSummary(mean, weighted, float(overall), low, high)


def _both(x: Doubles, y: Doubles, name: str) -> tuple[Any, Any]:
    """Pearson's and Spearman's correlation of (n,) and (n,), as scipy returns them."""
    from scipy.stats import DegenerateDataWarning, pearsonr, spearmanr

    inputs.numbers(x, f"The group {name}", minimum=MIN_PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)  # the result is NaN
        return pearsonr(x, y), spearmanr(x, y)


def _bootstrap(x: Doubles, y: Doubles, rng: np.random.Generator, draws: int) -> tuple[Doubles, Doubles]:
    """Pearson's and Spearman's correlation (draws,) of n rows drawn again; NaN where a side does not vary.

    Rows are sorted first, so that what is drawn does not depend on their order. A draw is how often each row is in it:
    so ranks are cumulative sums, and nothing is sorted again.
    """
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    n, step = len(x), max(1, CHUNK_CELLS // len(x))
    pearson, spearman = np.empty(draws), np.empty(draws)
    for start in range(0, draws, step):
        chunk = slice(start, min(draws, start + step))
        # draw i counts in cells i * n … i * n + n - 1, so that one bincount serves all draws
        cells = rng.integers(n, size=(chunk.stop - start, n)) + n * np.arange(chunk.stop - start)[:, None]
        counts = np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape).astype(np.float64)
        pearson[chunk] = _weighted(counts, *(side - (counts @ side)[:, None] / n for side in (x, y)))
        spearman[chunk] = _weighted(counts, _ranks(counts, x), _ranks(counts, y))
    # constant values have a deviation of 0 up to rounding; their ranks have exactly 0
    pearson[np.isnan(spearman)] = np.nan
    return pearson, spearman


def _weighted(counts: Doubles, a: Doubles, b: Doubles) -> Doubles:
    """The correlation of each row of (m, n) with that of the other, both centred, weighted by how often each counts."""
    norms = np.sqrt(_products(counts, a, a) * _products(counts, b, b))
    correlations = np.full(len(counts), np.nan)
    np.divide(_products(counts, a, b), norms, out=correlations, where=norms > 0)
    return correlations.clip(-1.0, 1.0)


def _products(counts: Doubles, a: Doubles, b: Doubles) -> Doubles:
    """The sum (m,) of products of two sides (m, n), each as often as it was drawn."""
    sums: Doubles = np.einsum("ij,ij,ij->i", counts, a, b)
    return sums


def _ranks(counts: Doubles, values: Doubles) -> Doubles:
    """The mean rank, centred, of each of the values (n,) in each of the draws (m, n)."""
    distinct, index = np.unique(values, return_inverse=True)
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(len(distinct)))
    occurrences = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks: Doubles = occurrences.cumsum(axis=1) - (occurrences + len(values)) / 2
    return ranks[:, index]
