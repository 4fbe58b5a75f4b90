"""Translations under CSLS of some words among all: exact, without the neighbour means of all words.

The penalty of a candidate is its mean cosine to its k nearest source words. Over a part of the source words that mean
can only be lower, so 2 cos less the mean over a part is never below the score of a candidate. Only candidates which
could be among the best by this bound get their penalty computed over more and at last over all source words. For
1,500 queries between 200,000 and 200,000 words these are few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.best import Best, best
from sentprobe.lab.alignment.retrieval import (
    NEIGHBOURS,
    OUTER,
    Neighbours,
    Numbers,
    Unit,
    check_count,
    nearest,
    products,
)
from sentprobe.lab.alignment.space import Matrix, Rows

PARTS = (32, 4, 1)
"""One of this many source words, the most frequent ones, is looked at for the first bound, the second, and the end."""
SMALLEST = 512
"""Source words of the smallest part."""
QUERIES = 16_384
"""Queries whose candidates are held at a time."""
ROUNDING = np.float32(1e-5)
"""More than what blocks of other sizes may change in a score."""


class Translator:
    """CSLS from one side to the other. What one call finds out about candidates is not computed again by the next."""

    def __init__(self, source: Unit, target: Unit, neighbours: int = NEIGHBOURS) -> None:
        check_count(neighbours)
        self._source, self._target = source, target
        smallest = max(SMALLEST, neighbours)
        self._ends = [0, *sorted({min(len(source), max(smallest, len(source) // part)) for part in PARTS})]
        """Stage i has looked at the source words before the i-th of these."""
        self._best = best(len(target), min(neighbours, len(source)))
        self._stage: NDArray[np.int8] = np.zeros(len(target), np.int8)
        self._bounds: Numbers = np.zeros(len(target), np.float32)
        """(targets,): penalties of those at the last stage, bounds below them elsewhere."""
        self._advance(np.arange(len(target)))

    @property
    def computed(self) -> float:
        """The share of the candidates whose penalty had to be computed."""
        return float(self._is_exact().mean()) if len(self._target) else 0.0

    def nearest(self, queries: Unit, k: int = 1) -> Neighbours:
        """The k target rows with the highest 2 cos − penalty for every query, as ``retrieval.nearest`` finds them."""
        check_count(k)
        k = min(k, len(self._target))
        rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
        for at in range(0, len(queries) if k else 0, QUERIES):
            here = slice(at, at + QUERIES)
            rows[here], scores[here] = self._some(queries[here], k)
        return Neighbours(rows, scores)

    def _is_exact(self) -> NDArray[np.bool_]:
        return np.asarray(self._stage == len(self._ends) - 1)

    def _some(self, queries: Matrix, k: int) -> Neighbours:
        rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
        left, width = np.arange(len(queries)), min(4 * k + 12, len(self._target))
        while len(left):
            listed = nearest(queries[left], self._target, width, penalty=self._bounds)
            # whatever is not on a list has a bound no higher than that of its last candidate
            beyond = listed.scores[:, -1] + ROUNDING
            found = self._resolved(listed, k)
            done = (found.scores[:, -1] > beyond) | (width == len(self._target))
            rows[left[done]], scores[left[done]] = found.rows[done], found.scores[done]
            left, width = left[~done], min(4 * width, len(self._target))
        return Neighbours(rows, scores)

    def _resolved(self, listed: Neighbours, k: int) -> Neighbours:
        """The k candidates of every list with the highest scores, after as many penalties as that takes."""
        rows, cosines = listed.rows, listed.scores + self._bounds[listed.rows]
        while True:
            scores, exact = cosines - self._bounds[rows], self._is_exact()[rows]
            least = np.partition(np.where(exact, scores, -np.inf), -k, axis=1)[:, -k, None]
            if np.isfinite(least).all():
                needed = scores >= least - ROUNDING
            else:
                needed = scores >= np.partition(scores, -k, axis=1)[:, -k, None]
            needed &= ~exact
            if not needed.any():
                order = np.lexsort((rows, np.where(exact, -scores, np.inf)))[:, :k]
                return Neighbours(np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1))
            some = np.unique(rows[needed])
            self._advance(some[self._stage[some] == self._stage[some].min()])

    def _advance(self, some: Rows) -> None:
        """Take targets, all at the same stage, to the next."""
        if not len(some) or not len(self._source):
            self._stage[some] = len(self._ends) - 1
            return
        stage = int(self._stage[some[0]])
        for first in range(0, len(some), OUTER):
            self._take(some[first : first + OUTER], stage)

    def _take(self, some: Rows, stage: int) -> None:
        here = Best(self._best.values[some], self._best.floor[some])
        for at, _, cosines in products(self._target, self._source, some, between=self._ends[stage : stage + 2]):
            here.offer(at, cosines)
        self._best.values[some], self._best.floor[some] = here
        self._stage[some] = stage + 1
        self._bounds[some] = here.means() - (0 if stage + 2 == len(self._ends) else ROUNDING)
