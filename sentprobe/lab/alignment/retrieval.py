"""Nearest neighbours between two spaces: by cosine, by CSLS and by inverted softmax; exact, with bounded memory.

All functions take rows of length one: a float32 array (n, d), or ``MappedRows``, which are mapped as they are read.
Scores are computed in blocks of float32; results do not depend on the size of blocks beyond rounding.

CSLS (Conneau et al. 2018) subtracts from twice the cosine the mean cosine of either word to its k nearest neighbours in
the other space, so that words that are near to everything are no longer the nearest. The inverted softmax (Smith et al.
2017) asks how likely the candidate is to be mapped back to the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.lab.alignment.best import best, ranked
from sentprobe.lab.alignment.maps import MappedRows
from sentprobe.lab.alignment.space import Matrix, Rows

Scoring = Literal["nn", "csls", "isf"]
SCORINGS: tuple[Scoring, ...] = ("nn", "csls", "isf")
Unit = Matrix | MappedRows
Numbers = NDArray[np.float32]
NEIGHBOURS = 10
"""Neighbours of CSLS, as in the paper; 5 and 50 behave alike."""
OUTER = 8192
"""Rows that are held while all blocks of the other side go by, each of which is mapped again for them."""
BLOCK = 2048
"""A block of scores is this square, so that it stays in the cache until it has been looked at."""
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

    source: Numbers
    target: Numbers


def neighbour_means(source: Unit, target: Unit, k: int = NEIGHBOURS) -> Means:
    """The mean cosine of every row to its k nearest rows of the other side, both directions from one product.

    If the other side has fewer rows, all of them count; if it has none, the mean is 0.
    """
    check_count(k)
    of_source, of_target = best(len(source), min(k, len(target))), best(len(target), min(k, len(source)))
    for at, to, cosines in products(source, target):
        of_source.offer(at, cosines)
        of_target.offer_columns(to, cosines)
    return Means(of_source.means(), of_target.means())


def mean_cosines(rows: Unit, others: Unit, k: int = NEIGHBOURS, *, only: Rows | None = None) -> Numbers:
    """The mean cosine of rows to their k nearest of the others: one side of ``neighbour_means``, or ``only`` some."""
    check_count(k)
    found = best(len(rows) if only is None else len(only), min(k, len(others)))
    for at, _, cosines in products(rows, others, only):
        found.offer(at, cosines)
    return found.means()


def nearest(queries: Unit, candidates: Unit, k: int = 1, *, penalty: Numbers | None = None) -> Neighbours:
    """The k candidates with the highest cosine, or, with a penalty (candidates,), with the highest 2 cos − penalty.

    For CSLS, the penalty is ``mean_cosines(candidates, all rows of the side of the queries)``; what CSLS subtracts for
    the query is the same for all candidates, and left out here: see ``csls_scores``. If there are fewer candidates
    than k, there are fewer columns.
    """
    check_count(k)
    found = ranked(len(queries), min(k, len(candidates)))
    for at, to, scores in products(queries, candidates, scale=1 if penalty is None else 2):
        if penalty is not None:
            scores -= penalty[to : to + scores.shape[1]]
        here = slice(at, at + len(scores))
        type(found)(found.values[here], found.candidates[here]).offer(to, scores)
    return Neighbours(found.candidates, found.values)


def csls_scores(found: Neighbours, queries: Unit, candidates: Unit, k: int = NEIGHBOURS) -> Matrix:
    """CSLS of what ``nearest`` found with the penalty of CSLS: 2 cos − r_T − r_S, (queries, columns).

    It subtracts what ``nearest`` leaves out: the mean cosine of each query to its k nearest candidates.
    """
    return np.asarray(found.scores - mean_cosines(queries, candidates, k)[:, None], np.float32)


def log_partition(source: Unit, target: Unit, temperature: float = TEMPERATURE) -> Numbers:
    """For the inverted softmax: log Σ exp(temperature · cos) of every target row over all source rows.

    ``nearest(…, penalty=2 * log_partition(…) / temperature)`` then ranks by the inverted softmax. −inf if there are no
    source rows.
    """
    highest, sums = np.full(len(target), -np.inf, np.float32), np.zeros(len(target))
    for to, _, scores in products(target, source):
        scores *= np.float32(temperature)
        here = slice(to, to + len(scores))
        top = np.maximum(highest[here], scores.max(1))
        scores -= top[:, None]
        np.exp(scores, out=scores)
        sums[here] = sums[here] * np.exp(highest[here] - top) + scores.sum(1)
        highest[here] = top
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums) + np.where(sums > 0, highest, 0), np.float32)


def penalty_of(scoring: Scoring, source: Unit, target: Unit, k: int = NEIGHBOURS) -> Numbers | None:
    """What ``nearest`` needs to score target rows as candidates of source rows."""
    match scoring:
        case "nn":
            return None
        case "csls":
            return mean_cosines(target, source, k)
        case "isf":
            return 2 * log_partition(source, target) / np.float32(TEMPERATURE)
        case _:
            assert_never(scoring)


def products(
    rows: Unit, others: Unit, only: Rows | None = None, *, scale: int = 1, between: Sequence[int] | None = None
) -> Iterator[tuple[int, int, Matrix]]:
    """Blocks of scale · rows @ others.T, with the first row and column of each; a block is overwritten by the next.

    With ``only``, of these rows; with ``between``, of the others from the first to before the second of two numbers.
    """
    buffer = np.empty(BLOCK * BLOCK, np.float32)
    first, last = between or (0, len(others))
    for outer in range(0, len(rows) if only is None else len(only), OUTER):
        held = rows[outer : outer + OUTER] if only is None else rows[only[outer : outer + OUTER]]
        if scale != 1:
            held = scale * held
        for to in range(first, last, BLOCK):
            there = others[to : min(to + BLOCK, last)].T
            for at in range(0, len(held), BLOCK):
                here = held[at : at + BLOCK]
                block = buffer[: len(here) * there.shape[1]].reshape(len(here), -1)
                yield outer + at, to, np.matmul(here, there, out=block)


def check_count(k: int) -> None:
    """UsageError unless it can be a number of neighbours."""
    if k < 1:
        raise UsageError(f"The number of neighbours must be 1 or more, got {k}.")
