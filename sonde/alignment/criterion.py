"""The unsupervised criterion: the mean cosine of the CSLS translations of the most frequent words."""

from __future__ import annotations

from functools import partial

import numpy as np

from sonde.alignment.maps import MappedRows, SideMap
from sonde.alignment.method import Matrices
from sonde.alignment.retrieval import NEIGHBOURS, nearest, neighbour_means
from sonde.alignment.space import Matrix

WORDS = 10_000
"""Source words whose translations count."""


def mapped(vectors: Matrix, matrix: Matrix | None) -> MappedRows:
    """Prepared rows in the common space."""
    return MappedRows(vectors, SideMap(matrix=matrix))


def criterion(source: Matrix, target: Matrix, matrices: Matrices, words: int = WORDS, k: int = NEIGHBOURS) -> float:
    """Of prepared vectors, the mean cosine of the first source words and their translations."""
    one, two = mapped(source, matrices.source), mapped(target, matrices.target)
    queries = one[: min(words, len(one))]
    found = nearest(queries, two, 1, penalty=neighbour_means(one, two, k).target).rows[:, 0]
    return float(np.einsum("ij,ij->i", queries, two[found]).mean(dtype=np.float64))


def of_problem(source: Matrix, target: Matrix) -> partial[float]:
    """The criterion as a function of matrices."""
    return partial(criterion, source, target)
