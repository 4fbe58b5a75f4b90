"""Nearest neighbours between two spaces: by cosine, by CSLS and by inverted softmax; exact, with bounded memory.

All functions take rows of length one: a float32 array (n, d), or ``MappedRows``, which are mapped as they are read.
Scores are computed in blocks of float32; results do not depend on the size of blocks beyond rounding.

CSLS (Conneau et al. 2018) subtracts from twice the cosine the mean cosine of either word to its k nearest neighbours in
the other space, so that words that are near to everything are no longer the nearest. ``nearest`` takes these means of
all candidates as a penalty; a ``CslsIndex``, for some queries among many words, computes those of a few candidates.
The inverted softmax (Smith et al. 2017) asks how likely the candidate is to be mapped back to the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import UsageError
from sentprobe.lab.alignment.maps import MappedRows
from sentprobe.lab.alignment.space import Matrix, Rows
from sentprobe.lab.alignment.top_k import RunningTopK, ranked_top_k, running_top_k

Scoring = Literal["nn", "csls", "isf"]
SCORINGS: tuple[Scoring, ...] = ("nn", "csls", "isf")
UnitRows = Matrix | MappedRows
Numbers = NDArray[np.float32]
NEIGHBOURS = 10
"""Neighbours of CSLS, as in the paper; 5 and 50 behave alike."""
OUTER = 8192
"""Rows that are held while all blocks of the other side go by, each of which is mapped again for them."""
BLOCK = 2048
"""A block of scores is this square, so that it stays in the cache until it has been looked at."""
TEMPERATURE = 30.0
"""The inverse temperature of the inverted softmax in the released code of MUSE (``invsm_beta_30``)."""
PARTS = (32, 4, 1)
"""One of this many source words, the most frequent ones, is looked at for the first bound, the second, and the end."""
SMALLEST = 512
"""Source words of the smallest part."""
QUERIES = 16_384
"""Queries whose candidates are held at a time."""
ROUNDING = np.float32(1e-5)
"""More than what blocks of other sizes may change in a score."""


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


def neighbour_means(source: UnitRows, target: UnitRows, k: int = NEIGHBOURS) -> Means:
    """The mean cosine of every row to its k nearest rows of the other side, both directions from one product.

    If the other side has fewer rows, all of them count; if it has none, the mean is 0.
    """
    check_count(k)
    source_top = running_top_k(len(source), min(k, len(target)))
    target_top = running_top_k(len(target), min(k, len(source)))
    for row, column, cosines in products(source, target):
        source_top.offer(row, cosines)
        target_top.offer_columns(column, cosines)
    return Means(source_top.means(), target_top.means())


def mean_cosines(rows: UnitRows, candidates: UnitRows, k: int = NEIGHBOURS, *, only: Rows | None = None) -> Numbers:
    """The mean cosine of rows to their k nearest candidates: one side of ``neighbour_means``, or of ``only`` some."""
    check_count(k)
    top = running_top_k(len(rows) if only is None else len(only), min(k, len(candidates)))
    for row, _, cosines in products(rows, candidates, only):
        top.offer(row, cosines)
    return top.means()


def nearest(queries: UnitRows, candidates: UnitRows, k: int = 1, *, penalty: Numbers | None = None) -> Neighbours:
    """The k candidates with the highest cosine, or, with a penalty (candidates,), with the highest 2 cos − penalty.

    For CSLS, the penalty is ``mean_cosines(candidates, all rows of the side of the queries)``; what CSLS subtracts for
    the query is the same for all candidates, and left out here. If there are fewer candidates than k, there are fewer
    columns.
    """
    check_count(k)
    top = ranked_top_k(len(queries), min(k, len(candidates)))
    for row, column, scores in products(queries, candidates, scale=1 if penalty is None else 2):
        if penalty is not None:
            scores -= penalty[column : column + scores.shape[1]]
        top.rows(slice(row, row + len(scores))).offer(column, scores)
    return Neighbours(top.candidates, top.values)


def log_partition(source: UnitRows, target: UnitRows, temperature: float = TEMPERATURE) -> Numbers:
    """For the inverted softmax: log Σ exp(temperature · cos) of every target row over all source rows, (m,).

    ``nearest(…, penalty=2 * log_partition(…) / temperature)`` then ranks by the inverted softmax. −inf if there are no
    source rows.
    """
    # sums are relative to the highest score so far, and rescaled when it rises: exp of it alone might overflow
    highest, sums = np.full(len(target), -np.inf, np.float32), np.zeros(len(target))
    for row, _, scores in products(target, source):
        scores *= np.float32(temperature)
        span = slice(row, row + len(scores))
        raised = np.maximum(highest[span], scores.max(1))
        scores -= raised[:, None]
        np.exp(scores, out=scores)
        sums[span] = sums[span] * np.exp(highest[span] - raised) + scores.sum(1)
        highest[span] = raised
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums) + np.where(sums > 0, highest, 0), np.float32)


def penalty_of(scoring: Scoring, source: UnitRows, target: UnitRows, k: int = NEIGHBOURS) -> Numbers | None:
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
    rows: UnitRows, columns: UnitRows, only: Rows | None = None, *, scale: int = 1, between: Sequence[int] | None = None
) -> Iterator[tuple[int, int, Matrix]]:
    """Blocks of scale · rows @ columns.T, with the first row and column of each; a block is overwritten by the next.

    With ``only``, of these rows; with ``between``, of the columns from the first to before the second of two numbers.
    """
    buffer = np.empty(BLOCK * BLOCK, np.float32)
    first, last = between or (0, len(columns))
    for outer in range(0, len(rows) if only is None else len(only), OUTER):
        outer_rows = rows[outer : outer + OUTER] if only is None else rows[only[outer : outer + OUTER]]
        if scale != 1:
            outer_rows = scale * outer_rows
        for column in range(first, last, BLOCK):
            column_block = columns[column : min(column + BLOCK, last)].T
            for row in range(0, len(outer_rows), BLOCK):
                row_block = outer_rows[row : row + BLOCK]
                block = buffer[: len(row_block) * column_block.shape[1]].reshape(len(row_block), -1)
                yield outer + row, column, np.matmul(row_block, column_block, out=block)


def check_count(k: int) -> None:
    """UsageError unless it can be a number of neighbours."""
    if k < 1:
        raise UsageError(f"Expected 1 neighbour or more, got {k}.")


class CslsIndex:
    """Translations under CSLS of some words among all: exact, without the neighbour means of all words.

    The penalty of a candidate is its mean cosine to its k nearest source words. Over a part of the source words that
    mean can only be lower, so 2 cos less the mean over a part is never below the score of a candidate. Only candidates
    which could be among the best by this bound get their penalty computed over more and at last over all source words.
    For 1,500 queries between 200,000 and 200,000 words these are few. What one call computes of candidates is not
    computed again by the next.
    """

    def __init__(self, source: UnitRows, target: UnitRows, neighbours: int = NEIGHBOURS) -> None:
        check_count(neighbours)
        self._source, self._target = source, target
        smallest = max(SMALLEST, neighbours)
        self._ends = [0, *sorted({min(len(source), max(smallest, len(source) // part)) for part in PARTS})]
        """Stage i has looked at the source words before the i-th of these."""
        self._top = running_top_k(len(target), min(neighbours, len(source)))
        self._stage: NDArray[np.int8] = np.zeros(len(target), np.int8)
        self._bounds: Numbers = np.zeros(len(target), np.float32)
        """(targets,): penalties of those at the last stage, bounds below them elsewhere."""
        self._advance(np.arange(len(target)))

    @property
    def computed(self) -> float:
        """The share of the candidates whose penalty had to be computed."""
        return float(self._is_exact().mean()) if len(self._target) else 0.0

    def nearest(self, queries: UnitRows, k: int = 1) -> Neighbours:
        """The k target rows with the highest 2 cos − penalty for every query, as ``retrieval.nearest`` finds them."""
        check_count(k)
        k = min(k, len(self._target))
        rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
        for start in range(0, len(queries) if k else 0, QUERIES):
            span = slice(start, start + QUERIES)
            rows[span], scores[span] = self._nearest_block(queries[span], k)
        return Neighbours(rows, scores)

    def _is_exact(self) -> NDArray[np.bool_]:
        return np.asarray(self._stage == len(self._ends) - 1)

    def _nearest_block(self, queries: Matrix, k: int) -> Neighbours:
        rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
        open_queries, width = np.arange(len(queries)), min(4 * k + 12, len(self._target))
        while len(open_queries):
            listed = nearest(queries[open_queries], self._target, width, penalty=self._bounds)
            # whatever is not on a list has a bound no higher than that of its last candidate
            unlisted_bound = listed.scores[:, -1] + ROUNDING
            best = self._exact_best(listed, k)
            decided = (best.scores[:, -1] > unlisted_bound) | (width == len(self._target))
            rows[open_queries[decided]], scores[open_queries[decided]] = best.rows[decided], best.scores[decided]
            open_queries, width = open_queries[~decided], min(4 * width, len(self._target))
        return Neighbours(rows, scores)

    def _exact_best(self, listed: Neighbours, k: int) -> Neighbours:
        """The k candidates of every list with the highest scores, after as many penalties as that takes."""
        rows, cosines = listed.rows, listed.scores + self._bounds[listed.rows]
        while True:
            scores, exact = cosines - self._bounds[rows], self._is_exact()[rows]
            kth_score = np.partition(np.where(exact, scores, -np.inf), -k, axis=1)[:, -k, None]
            if np.isfinite(kth_score).all():
                needed = scores >= kth_score - ROUNDING
            else:  # some query has fewer than k exact scores yet
                needed = scores >= np.partition(scores, -k, axis=1)[:, -k, None]
            needed &= ~exact
            if not needed.any():
                order = np.lexsort((rows, np.where(exact, -scores, np.inf)))[:, :k]
                return Neighbours(np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1))
            targets = np.unique(rows[needed])
            self._advance(targets[self._stage[targets] == self._stage[targets].min()])

    def _advance(self, targets: Rows) -> None:
        """Take targets, all at the same stage, to the next."""
        if not len(targets) or not len(self._source):
            self._stage[targets] = len(self._ends) - 1
            return
        stage = int(self._stage[targets[0]])
        for start in range(0, len(targets), OUTER):
            self._advance_block(targets[start : start + OUTER], stage)

    def _advance_block(self, targets: Rows, stage: int) -> None:
        top = RunningTopK(self._top.values[targets], self._top.floor[targets])
        for row, _, cosines in products(self._target, self._source, targets, between=self._ends[stage : stage + 2]):
            top.offer(row, cosines)
        self._top.values[targets], self._top.floor[targets] = top
        self._stage[targets] = stage + 1
        # lowered unless it is final, since rounding must not make a bound exceed the penalty
        self._bounds[targets] = top.means() - (0 if stage + 2 == len(self._ends) else ROUNDING)
