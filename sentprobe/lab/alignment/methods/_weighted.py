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


def products(first: Matrix, first_rows: Rows, second: Matrix, second_rows: Rows) -> Square:
    """one[rows]ᵀ two[others], (d, d) in double precision, without copies of all these rows."""
    total = np.zeros((first.shape[1], second.shape[1]))
    for at in range(0, len(first_rows), BLOCK):
        block = first[first_rows[at : at + BLOCK]].astype(np.float64)
        total += block.T @ second[second_rows[at : at + BLOCK]].astype(np.float64)
    return total


def rotation(source: Matrix, target: Matrix, pairs: Rows) -> Matrix:
    """The orthogonal matrix (d, d) that takes the source words of pairs nearest to their translations."""
    u, _, vt = np.linalg.svd(products(source, pairs[:, 0], target, pairs[:, 1]))
    return np.asarray(u @ vt, np.float32)


def roots(gram: Square) -> tuple[Square, Square]:
    """G^(−1/2) and G^(1/2) of a symmetric matrix without negative eigenvalues; 0 where G has no extent."""
    values, vectors = np.linalg.eigh(gram)
    # eigh is accurate to the largest eigenvalue times the rounding error
    has_extent = values > values[-1] * len(values) * np.finfo(np.float64).eps
    scale = np.sqrt(np.where(has_extent, values, 1))
    inverse_root = (vectors * np.where(has_extent, 1 / scale, 0)) @ vectors.T
    return inverse_root, (vectors * np.where(has_extent, scale, 0)) @ vectors.T


def weighted(source: Matrix, target: Matrix, pairs: Rows, weights: Weights) -> Matrices:
    """The matrices of both sides that the words of a dictionary (p, 2) determine."""
    source_rows, target_rows = pairs.T
    cross = products(source, source_rows, target, target_rows)
    source_whitening = source_colouring = target_whitening = target_colouring = np.eye(len(cross))
    if weights.whiten:
        source_whitening, source_colouring = roots(products(source, source_rows, source, source_rows))
        target_whitening, target_colouring = roots(products(target, target_rows, target, target_rows))
    u, correlations, vt = np.linalg.svd(source_whitening @ cross @ target_whitening)
    source_matrix = source_whitening @ u * correlations**weights.source_reweight
    target_matrix = target_whitening @ vt.T * correlations**weights.target_reweight
    if weights.whiten and weights.dewhiten:
        # each side by its own colouring, in the rotated basis: ``--src_dewhiten src --trg_dewhiten trg`` of vecmap
        source_matrix = source_matrix @ u.T @ source_colouring @ u
        target_matrix = target_matrix @ vt @ target_colouring @ vt.T
    width = weights.dimensions or len(cross)
    return Matrices(
        np.ascontiguousarray(source_matrix[:, :width], np.float32),
        np.ascontiguousarray(target_matrix[:, :width], np.float32),
    )
