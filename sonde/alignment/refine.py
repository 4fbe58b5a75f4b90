"""Refinement: a dictionary of mutual neighbours of the most frequent words, Procrustes on it, and again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sonde.alignment.criterion import criterion, mapped
from sonde.alignment.method import Matrices
from sonde.alignment.retrieval import NEIGHBOURS, nearest, neighbour_means
from sonde.alignment.space import Matrix, Rows

MOST_FREQUENT = 15_000
"""Words of either side that may be in the dictionary."""


def mutual_neighbours(
    source: Matrix, target: Matrix, matrices: Matrices, words: int = MOST_FREQUENT, k: int = NEIGHBOURS
) -> Rows:
    """Pairs (p, 2) of the most frequent words that are each other's nearest under CSLS among all words."""
    one, two = mapped(source, matrices.source), mapped(target, matrices.target)
    means = neighbour_means(one, two, k)
    there = nearest(one[:words], two, 1, penalty=means.target).rows[:, 0]
    back = nearest(two[:words], one, 1, penalty=means.source).rows[:, 0]
    rows = np.arange(len(there))
    near = there < len(back)
    kept = rows[near][back[there[near]] == rows[near]]
    return np.stack([kept, there[kept]], axis=1)


def refine(source: Matrix, target: Matrix, matrices: Matrices, rounds: int) -> Iterator[tuple[Matrices, Rows, float]]:
    """After each round: the matrices, the pairs (p, 2) they were fitted to, and the criterion."""
    from sonde.alignment.methods.procrustes import orthogonal

    for _ in range(rounds):
        pairs = mutual_neighbours(source, target, matrices)
        if not len(pairs):
            return
        matrices = Matrices(orthogonal(source[pairs[:, 0]], target[pairs[:, 1]]))
        yield matrices, pairs, criterion(source, target, matrices)
