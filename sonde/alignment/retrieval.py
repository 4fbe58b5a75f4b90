"""Nearest neighbours between two spaces: by cosine, by CSLS and by inverted softmax; exact, with bounded memory.

All functions take rows of length one: a float32 array (n, d), or ``MappedRows``, which are mapped as they are read.

CSLS (Conneau et al. 2018) subtracts from twice the cosine the mean cosine of either word to its k nearest neighbours in
the other space, so that words that are near to everything are no longer the nearest. The inverted softmax (Smith et al.
2017) asks how likely the candidate is to be mapped back to the query.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from sonde.alignment.maps import MappedRows
from sonde.alignment.space import Matrix, Rows

Scoring = Literal["nn", "csls", "isf"]
SCORINGS: tuple[Scoring, ...] = ("nn", "csls", "isf")
Unit = Matrix | MappedRows
NEIGHBOURS = 10
"""Neighbours of CSLS, as in the paper; 5 and 50 behave alike."""
BLOCK = 2048
TEMPERATURE = 30.0
"""The inverse temperature of the inverted softmax in the released code of MUSE."""


class Neighbours(NamedTuple):
    """The nearest candidates of each query."""

    rows: Rows
    """(queries, k): rows of candidates, the best first; of equal scores, the lower row first."""
    scores: Matrix
    """(queries, k)."""


class Means(NamedTuple):
    """The mean cosine of every row to its nearest neighbours on the other side."""

    source: NDArray[np.float32]
    target: NDArray[np.float32]


def neighbour_means(source: Unit, target: Unit, k: int = NEIGHBOURS) -> Means:
    """The mean cosine of every row to its k nearest rows of the other side, both directions from one product."""
    of_source = np.full((len(source), k), -np.inf, np.float32)
    of_target = np.full((len(target), k), -np.inf, np.float32)
    for at in range(0, len(source), BLOCK):
        here = source[at : at + BLOCK]
        for to in range(0, len(target), BLOCK):
            cosines = here @ target[to : to + BLOCK].T
            for best, some in ((of_source[at : at + BLOCK], cosines), (of_target[to : to + BLOCK], cosines.T)):
                best[:] = np.partition(np.concatenate([best, some], axis=1), -k, axis=1)[:, -k:]
    return Means(_mean(of_source), _mean(of_target))


def _mean(best: Matrix) -> NDArray[np.float32]:
    """The mean of the numbers found: fewer than k, if there are fewer rows."""
    found = np.isfinite(best)
    return np.asarray(np.where(found, best, 0).sum(1, dtype=np.float64) / found.sum(1), np.float32)


def nearest(queries: Unit, candidates: Unit, k: int = 1, *, penalty: NDArray[np.float32] | None = None) -> Neighbours:
    """The k candidates with the highest cosine, or, with a penalty (candidates,), with the highest 2 cos − penalty.

    For CSLS, the penalty is ``neighbour_means(…).target``; what it subtracts for the query is the same for all
    candidates, and left out here. If there are fewer candidates than k, there are fewer columns.
    """
    k = min(k, len(candidates))
    rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
    for at in range(0, len(queries), BLOCK):
        here = queries[at : at + BLOCK]
        best, where = np.empty((len(here), 0), np.float32), np.empty((len(here), 0), np.int64)
        for to in range(0, len(candidates), BLOCK):
            found = here @ candidates[to : to + BLOCK].T
            if penalty is not None:
                found = 2 * found - penalty[to : to + BLOCK]
            best = np.concatenate([best, found], axis=1)
            where = np.concatenate([where, np.broadcast_to(np.arange(to, to + found.shape[1]), found.shape)], axis=1)
            order = np.argsort(-best, axis=1, kind="stable")[:, :k]
            best, where = np.take_along_axis(best, order, 1), np.take_along_axis(where, order, 1)
        rows[at : at + BLOCK], scores[at : at + BLOCK] = where, best
    return Neighbours(rows, scores)


def log_partition(source: Unit, target: Unit, temperature: float = TEMPERATURE) -> NDArray[np.float32]:
    """For the inverted softmax: log Σ exp(temperature · cos) of every target row over all source rows.

    ``nearest(…, penalty=2 * log_partition(…) / temperature)`` then ranks by the inverted softmax.
    """
    found = np.full(len(target), -np.inf)
    for to in range(0, len(target), BLOCK):
        there = target[to : to + BLOCK]
        for at in range(0, len(source), BLOCK):
            some = temperature * (source[at : at + BLOCK] @ there.T).astype(np.float64)
            found[to : to + BLOCK] = np.logaddexp(found[to : to + BLOCK], np.logaddexp.reduce(some, axis=0))
    return found.astype(np.float32)


def penalty_of(scoring: Scoring, source: Unit, target: Unit, k: int = NEIGHBOURS) -> NDArray[np.float32] | None:
    """What ``nearest`` needs to score target rows as candidates of source rows."""
    match scoring:
        case "nn":
            return None
        case "csls":
            return neighbour_means(source, target, k).target
        case "isf":
            return 2 * log_partition(source, target) / np.float32(TEMPERATURE)
        case _:
            assert_never(scoring)
