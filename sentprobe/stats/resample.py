"""Bootstrap samples of rows, or of clusters of rows.

Only the sums and the size of a cluster count. So rows are first summed by cluster, and then sorted: what is drawn with
a seed depends neither on the order of the rows nor on the names of the clusters. Equal rows, as in tables of right and
wrong, are drawn together: the counts of the distinct rows are multinomial.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError, TooFewError
from sentprobe.stats.level import checked_level

Floats = npt.NDArray[np.float64]
Clusters = Sequence[Hashable] | npt.NDArray[Any]
"""The cluster of each row, (n), by name or number."""

CHUNK_CELLS = 2_000_000
"""Random numbers in memory at a time."""
FEW_KINDS = 16
"""One multinomial count takes about as long as drawing this many rows."""


def cluster_sums(columns: Floats, clusters: Clusters | None = None) -> Floats:
    """The sum of each of the columns (k, n) by cluster, and its size: (clusters, k + 1), sorted.

    Without clusters each row is one. An interval needs at least two.
    """
    n = columns.shape[1]
    if clusters is None:
        rows = np.vstack([columns, np.ones(n)]).T
    else:
        of_row = cluster_numbers(clusters, n)
        order = np.lexsort((*columns, of_row))  # within a cluster too: sums of floats depend on the order
        starts = np.flatnonzero(np.diff(of_row[order], prepend=-1))
        rows = np.vstack([np.add.reduceat(columns[:, order], starts, axis=1), np.diff(starts, append=n)]).T
    if len(rows) < 2:
        raise TooFewError("There is only one row or cluster; expected at least two, to estimate a variance.")
    return rows[np.lexsort(rows.T[::-1])]


def cluster_numbers(clusters: Clusters, n: int) -> npt.NDArray[np.int64]:
    """The index of each row's cluster, (n)."""
    names = clusters.tolist() if isinstance(clusters, np.ndarray) else clusters
    if len(names) != n:
        raise DataError(f"There are {n} rows and {len(names)} clusters; expected one per row.")
    number: dict[Hashable, int] = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.fromiter(map(number.__getitem__, names), np.int64, n)


def bootstrap_sums(rows: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """The sums (draws, k) of as many rows as there are in (m, k), sorted, drawn with replacement."""
    m, width = rows.shape
    starts = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]).any(axis=1)])
    sums = np.empty((draws, width))
    if len(starts) * FEW_KINDS <= m:
        kinds, shares = rows[starts], np.diff(starts, append=m) / m
        for part in draw_chunks(draws, len(kinds)):
            sums[part] = rng.multinomial(m, shares, size=part.stop - part.start) @ kinds
    else:
        for part in draw_chunks(draws, m):
            sample = rng.integers(m, size=(part.stop - part.start, m))
            for column in range(width):
                sums[part, column] = rows[:, column][sample].sum(axis=1)
    return sums


def draw_chunks(draws: int, width: int) -> Iterator[slice]:
    """The draws in chunks of at most ``CHUNK_CELLS`` numbers, ``width`` per draw."""
    step = max(1, CHUNK_CELLS // width)
    for start in range(0, draws, step):
        yield slice(start, min(draws, start + step))


def bootstrap_score(
    score: Callable[[Mapping[Any, npt.NDArray[Any]]], float],
    columns: Mapping[Any, npt.NDArray[Any]],
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    draws: int = 1000,
) -> Floats:
    """Any function of columns (n, …) over samples of the rows or clusters, drawn with replacement: (draws)."""
    n = len(next(iter(columns.values())))
    number = np.arange(n) if clusters is None else cluster_numbers(clusters, n)
    order, sizes = np.argsort(number, kind="stable"), np.bincount(number)
    if len(sizes) < 2:
        raise TooFewError("There is only one row or cluster; expected at least two, to estimate a variance.")
    starts, rng = np.cumsum(sizes) - sizes, np.random.default_rng(seed)
    scores = np.empty(draws)
    for draw in range(draws):
        sample = rng.integers(len(sizes), size=len(sizes))
        ends = np.cumsum(sizes[sample])
        # the rows of each sampled cluster, one after the other
        rows = order[np.arange(ends[-1]) + np.repeat(starts[sample] - ends + sizes[sample], sizes[sample])]
        scores[draw] = score({name: column[rows] for name, column in columns.items()})
    return scores


def percentile_interval(values: Floats, level: float | None = None) -> tuple[float, float]:
    """The percentiles between which the share ``level`` of the values lies."""
    share = checked_level(level)
    low, high = np.quantile(values, [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
