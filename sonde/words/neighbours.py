"""Neighbours in the space of a pair; what CSLS and the inverted softmax need is computed once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sonde.alignment.retrieval import (
    TEMPERATURE,
    Means,
    Neighbours,
    Scoring,
    log_partition,
    nearest,
    neighbour_means,
)
from sonde.alignment.space import Rows
from sonde.words.pair import Pair


class Neighbourhood:
    """A pair with its neighbour means, which take longest and which all evaluations share."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._means: Means | None = None
        self._partitions: dict[bool, NDArray[np.float32]] = {}

    def nearest(self, rows: Rows, k: int, scoring: Scoring, *, flip: bool = False) -> Neighbours:
        """The k nearest words of each of these words (n,), on the other side; ``flip``: queries are of the target.

        If both sides are one space, a word is among its own neighbours.
        """
        queries, candidates = self.pair.sides(flip)
        return nearest(queries.unit[rows], candidates.unit, k, penalty=self._penalty(scoring, flip))

    def _penalty(self, scoring: Scoring, flip: bool) -> NDArray[np.float32] | None:
        queries, candidates = self.pair.sides(flip)
        if scoring == "nn":
            return None
        if scoring == "csls":
            if self._means is None:  # both directions from one product
                self._means = neighbour_means(self.pair.source.unit, self.pair.target.unit)
            return self._means.source if flip else self._means.target
        if flip not in self._partitions:
            self._partitions[flip] = 2 * log_partition(queries.unit, candidates.unit) / np.float32(TEMPERATURE)
        return self._partitions[flip]
