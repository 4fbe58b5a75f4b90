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
class Group:
    """Some rows, by name."""

    pearson: Any
    """What scipy's ``pearsonr`` returns."""
    spearman: Any
    """What scipy's ``spearmanr`` returns."""
    n: int


@dataclass(frozen=True)
class Summary:
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
class Correlations:
    """Agreement with gold scores. A correlation is NaN where a side does not vary, and so is a mean with it."""

    groups: Mapping[str, Group]
    """In order of first occurrence."""
    pearson: Summary
    spearman: Summary
    n: int


def similarity(one: Features, two: Features) -> Doubles:
    """The cosine of row i of one (n, d) and row i of two, (n,).

    As in SentEval, a value that is NaN counts as 0, and a vector that has no direction, as its values are all 0 or some
    are infinite, has the cosine 0 with any other.
    """
    if one.shape != two.shape:
        raise ShapeError(f"The two sides are {one.shape} and {two.shape}; expected the same rows and dimensions.")
    found = np.zeros(len(one))
    for (start, u), (_, v) in zip(one.chunks(COSINE_ROWS), two.chunks(COSINE_ROWS), strict=True):
        a, b = (np.where(np.isnan(side), 0.0, side).astype(np.float64) for side in (u, v))
        with np.errstate(invalid="ignore"):
            dots, *squares = (np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (a, a), (b, b)))
            size = np.sqrt(squares[0]) * np.sqrt(squares[1])
        np.divide(dots, size, out=found[start : start + len(u)], where=(size > 0) & np.isfinite(size))
    return found


def correlations(
    similarities: npt.ArrayLike,
    gold: npt.ArrayLike,
    groups: Sequence[str],
    *,
    seed: int,
    draws: int = 2000,
) -> Correlations:
    """How similarities (n,) agree with gold scores (n,), within groups, which each row (n,) names, and over all."""
    x, y = inputs.numbers(similarities, "similarities"), inputs.numbers(gold, "gold")
    inputs.check_same_shape(x, "similarities", y, "gold")
    names = np.asarray(groups)
    inputs.check_same_shape(x, "similarities", names, "groups")
    found = {}
    for name in dict.fromkeys(names.tolist()):
        inside = names == name
        found[name] = Group(*_both(x[inside], y[inside], name), int(inside.sum()))
    overall = _both(x, y, "all")
    drawn = _redraw(x, y, np.random.default_rng(seed), inputs.checked_draws(draws))
    rows = [group.n for group in found.values()]
    pearson = _summary([group.pearson[0] for group in found.values()], rows, overall[0][0], drawn[0])
    spearman = _summary([group.spearman[0] for group in found.values()], rows, overall[1][0], drawn[1])
    return Correlations(found, pearson, spearman, len(x))


def _summary(of_groups: Sequence[float], rows: Sequence[int], overall: float, drawn: Doubles) -> Summary:
    varied = drawn[~np.isnan(drawn)]
    low, high = percentile_interval(varied) if len(varied) else (np.nan, np.nan)
    return Summary(float(np.mean(of_groups)), float(np.average(of_groups, weights=rows)), float(overall), low, high)


def _both(x: Doubles, y: Doubles, name: str) -> tuple[Any, Any]:
    from scipy.stats import DegenerateDataWarning, pearsonr, spearmanr

    inputs.numbers(x, f"The group {name}", minimum=MIN_PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)  # the result is NaN
        return pearsonr(x, y), spearmanr(x, y)


def _redraw(x: Doubles, y: Doubles, rng: np.random.Generator, draws: int) -> tuple[Doubles, Doubles]:
    """Pearson's and Spearman's correlation for each of the draws of n rows; NaN where a side does not vary.

    Rows are sorted first, so that what is drawn does not depend on their order. A draw is how often each row is in it:
    so ranks are cumulative sums, and nothing is sorted again.
    """
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    n, step = len(x), max(1, CHUNK_CELLS // len(x))
    plain, ranked = np.empty(draws), np.empty(draws)
    for start in range(0, draws, step):
        part = slice(start, min(draws, start + step))
        drawn = rng.integers(n, size=(part.stop - start, n)) + n * np.arange(part.stop - start)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.float64)
        plain[part] = _weighted(counts, *(side - (counts @ side)[:, None] / n for side in (x, y)))
        ranked[part] = _weighted(counts, _ranks(counts, x), _ranks(counts, y))
    plain[np.isnan(ranked)] = np.nan  # constant values have a deviation of 0 up to rounding; their ranks have exactly 0
    return plain, ranked


def _weighted(counts: Doubles, a: Doubles, b: Doubles) -> Doubles:
    """The correlation of each row of (m, n) with that of the other, both centred, weighted by how often each counts."""
    size = np.sqrt(_products(counts, a, a) * _products(counts, b, b))
    found = np.full(len(counts), np.nan)
    np.divide(_products(counts, a, b), size, out=found, where=size > 0)
    return found.clip(-1.0, 1.0)


def _products(counts: Doubles, a: Doubles, b: Doubles) -> Doubles:
    found: Doubles = np.einsum("ij,ij,ij->i", counts, a, b)
    return found


def _ranks(counts: Doubles, values: Doubles) -> Doubles:
    """The mean rank, centred, of each of the values (n,) in each of the draws (m, n)."""
    kinds, kind = np.unique(values, return_inverse=True)
    order = np.argsort(kind, kind="stable")
    starts = np.searchsorted(kind[order], np.arange(len(kinds)))
    of_kind = np.add.reduceat(counts[:, order], starts, axis=1)
    ranks: Doubles = of_kind.cumsum(axis=1) - (of_kind + len(values)) / 2
    return ranks[:, kind]
