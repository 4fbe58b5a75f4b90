"""Translations under CSLS of some words among all: exact, without the neighbour means of all words.

The penalty of a candidate is its mean cosine to its k nearest source words. Over a sample of the source words that mean
can only be lower, so 2 cos less the mean over a sample is never below the score of a candidate. Only candidates which
could be among the best by this bound get their penalty computed over all source words. For 1,500 queries between
200,000 and 200,000 words these are a small part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sonde.alignment.retrieval import NEIGHBOURS, Matrix, Neighbours, Numbers, Rows, Unit, mean_cosines, nearest

SAMPLE = 32
"""One of this many source words is in the sample, but not fewer than ``SMALLEST``."""
SMALLEST = 512
QUERIES = 16_384
"""Queries whose candidates are held at a time."""
ROUNDING = np.float32(1e-5)
"""More than what blocks of other sizes may change in a score."""


class Translator:
    """CSLS from one side to the other. What one call finds out about candidates is not computed again by the next."""

    def __init__(self, source: Unit, target: Unit, neighbours: int = NEIGHBOURS) -> None:
        self._source, self._target, self._neighbours = source, target, neighbours
        step = max(1, min(SAMPLE, len(source) // max(SMALLEST, neighbours)))
        self._bounds: Numbers = mean_cosines(target, source[::step], neighbours)
        """(targets,): penalties where they are exact, bounds below them elsewhere."""
        self._exact: NDArray[np.bool_] = np.full(len(target), step == 1)
        if step > 1:
            self._bounds -= ROUNDING

    @property
    def computed(self) -> float:
        """The share of the candidates whose penalty had to be computed."""
        return float(self._exact.mean()) if len(self._exact) else 0.0

    def nearest(self, queries: Unit, k: int = 1) -> Neighbours:
        """The k target rows with the highest 2 cos − penalty for every query, as ``retrieval.nearest`` finds them."""
        k = min(k, len(self._target))
        rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
        for at in range(0, len(queries), QUERIES):
            here = queries[at : at + QUERIES]
            rows[at : at + QUERIES], scores[at : at + QUERIES] = self._some(here, k)
        return Neighbours(rows, scores)

    def _some(self, queries: Matrix, k: int) -> Neighbours:
        rows, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), np.float32)
        left, width = np.arange(len(queries)), min(4 * k + 12, len(self._target))
        while len(left):
            found = nearest(queries[left], self._target, width, penalty=self._bounds)
            beyond = found.scores[:, -1] if width < len(self._target) else np.full(len(left), -np.inf, np.float32)
            found = self._resolve(found, k)
            # whatever is not on a list has a bound no higher than that of its last candidate
            done = found.scores[:, k - 1] > beyond + ROUNDING
            done |= self._exact.all()
            rows[left[done]], scores[left[done]] = found.rows[done, :k], found.scores[done, :k]
            left, width = left[~done], min(4 * width, len(self._target))
        return Neighbours(rows, scores)

    def _resolve(self, found: Neighbours, k: int) -> Neighbours:
        """Compute penalties until the first k candidates of every list are those of the highest exact scores."""
        cosines = found.scores + self._bounds[found.rows]
        first = found.rows[:, :k]
        while True:
            self._compute(first)
            scores = cosines - self._bounds[found.rows]
            exact = np.where(self._exact[found.rows], scores, -np.inf)
            least = np.partition(exact, -k, axis=1)[:, -k, None]
            needed = (scores >= least - ROUNDING) & ~self._exact[found.rows]
            if not needed.any():
                order = np.lexsort((found.rows, -exact))[:, :k]
                return Neighbours(np.take_along_axis(found.rows, order, 1), np.take_along_axis(exact, order, 1))
            first = found.rows[needed]

    def _compute(self, some: Rows) -> None:
        flags = np.zeros(len(self._exact), bool)
        flags[some.reshape(-1)] = True
        new = np.flatnonzero(flags & ~self._exact)
        self._bounds[new] = mean_cosines(self._target, self._source, self._neighbours, only=new)
        self._exact[new] = True
