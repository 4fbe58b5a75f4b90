"""Neighbours in the space of a pair; what CSLS and the inverted softmax find out about words is computed once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.csls import Translator
from sentprobe.lab.alignment.retrieval import Neighbours, Scoring, nearest, penalty_of
from sentprobe.lab.alignment.space import Rows
from sentprobe.lab.words.pair import Pair


class Neighbourhood:
    """A pair, with what takes longest and all evaluations share."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._translators: dict[bool, Translator] = {}
        self._penalties: dict[tuple[Scoring, bool], NDArray[np.float32] | None] = {}

    def nearest(self, rows: Rows, k: int, scoring: Scoring, *, flip: bool = False) -> Neighbours:
        """The k nearest words of each of these words (n,), on the other side; ``flip``: queries are of the target.

        If both sides are one space, a word is among its own neighbours.
        """
        queries, candidates = self.pair.sides(flip)
        if scoring == "csls":
            if flip not in self._translators:
                self._translators[flip] = Translator(queries.unit, candidates.unit)
            return self._translators[flip].nearest(queries.unit[rows], k)
        if (scoring, flip) not in self._penalties:
            self._penalties[scoring, flip] = penalty_of(scoring, queries.unit, candidates.unit)
        return nearest(queries.unit[rows], candidates.unit, k, penalty=self._penalties[scoring, flip])
