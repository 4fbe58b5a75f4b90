"""The orthogonal matrix that maps the words of a dictionary nearest to their translations: U Vᵀ of one SVD."""

from __future__ import annotations

import numpy as np

from sentprobe.lab.alignment.maps import BLOCK
from sentprobe.lab.alignment.method import Matrices, Method, Problem
from sentprobe.lab.alignment.space import Matrix


def orthogonal(source: Matrix, target: Matrix) -> Matrix:
    """The orthogonal matrix Q (d, d) that minimises ‖source Q − target‖ over rows (n, d) of pairs."""
    product = np.zeros((source.shape[1], target.shape[1]))
    for at in range(0, len(source), BLOCK):
        product += source[at : at + BLOCK].T.astype(np.float64) @ target[at : at + BLOCK].astype(np.float64)
    u, _, vt = np.linalg.svd(product, full_matrices=False)
    return np.ascontiguousarray(u @ vt, np.float32)


def solve(problem: Problem) -> Matrices:
    """One SVD."""
    assert problem.pairs is not None
    source, target = problem.pairs.T
    return Matrices(orthogonal(problem.source[source], problem.target[target]))


alignment_method = Method(
    "procrustes", "the orthogonal matrix nearest to a dictionary", solve, dictionary="needed", order=10
)
