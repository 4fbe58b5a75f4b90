"""The map of vecmap: whiten both sides, rotate them onto each other, weight by correlation, undo the whitening.

Artetxe et al. 2018, "Generalizing and improving bilingual word embedding mappings with a multi-step framework of linear
transformations". Without whitening and weights it is the orthogonal Procrustes map, in a basis that both sides share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.space import Matrix, Rows

Square = NDArray[np.float64]
BLOCK = 4096


class Weights(NamedTuple):
    """Which of the steps are taken."""

    whiten: bool = True
    source_reweight: float = 0.5
    """The power of the correlations by which the source side is multiplied; 0: not at all."""
    target_reweight: float = 0.5
    dewhiten: bool = True
    dimensions: int = 0
    """Dimensions of the common space that are kept, the most correlated first; 0: all."""


def products(one: Matrix, rows: Rows, two: Matrix, others: Rows) -> Square:
    """one[rows]ᵀ two[others], (d, d) in double precision, without copies of all these rows."""
    found = np.zeros((one.shape[1], two.shape[1]))
    for at in range(0, len(rows), BLOCK):
        here = one[rows[at : at + BLOCK]].astype(np.float64)
        found += here.T @ two[others[at : at + BLOCK]].astype(np.float64)
    return found


def rotation(source: Matrix, target: Matrix, pairs: Rows) -> Matrix:
    """The orthogonal matrix (d, d) that takes the source words of pairs nearest to their translations."""
    left, _, right = np.linalg.svd(products(source, pairs[:, 0], target, pairs[:, 1]))
    return np.asarray(left @ right, np.float32)


def roots(gram: Square) -> tuple[Square, Square]:
    """G^(−1/2) and G^(1/2) of a symmetric matrix without negative eigenvalues; 0 where G has no extent."""
    values, vectors = np.linalg.eigh(gram)
    # eigh is accurate to the largest eigenvalue times the rounding error
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    scale = np.sqrt(np.where(kept, values, 1))
    return (vectors * np.where(kept, 1 / scale, 0)) @ vectors.T, (vectors * np.where(kept, scale, 0)) @ vectors.T


def weighted(source: Matrix, target: Matrix, pairs: Rows, weights: Weights) -> Matrices:
    """The matrices of both sides that the words of a dictionary (p, 2) determine."""
    rows, others = pairs.T
    cross = products(source, rows, target, others)
    identity = np.eye(len(cross)), np.eye(len(cross))
    (white_x, color_x), (white_z, color_z) = (
        (roots(products(source, rows, source, rows)), roots(products(target, others, target, others)))
        if weights.whiten
        else (identity, identity)
    )
    left, correlations, right = np.linalg.svd(white_x @ cross @ white_z)
    one = white_x @ left * correlations**weights.source_reweight
    two = white_z @ right.T * correlations**weights.target_reweight
    if weights.whiten and weights.dewhiten:
        one, two = one @ left.T @ color_x @ left, two @ right @ color_z @ right.T
    last = weights.dimensions or len(cross)
    return Matrices(np.ascontiguousarray(one[:, :last], np.float32), np.ascontiguousarray(two[:, :last], np.float32))
