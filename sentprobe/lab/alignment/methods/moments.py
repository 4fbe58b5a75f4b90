"""Moment matching: the orthogonal matrix W that minimises ‖(XW)ᵀ(XW) − YᵀY‖, a baseline that fails on real languages.

The minimum takes the eigenvectors of XᵀX to those of YᵀY in the order of their eigenvalues, whatever their signs. Signs
are those that make third moments E[zᵢ zⱼ²] agree, z being the coordinates along the eigenvectors; where these say too
little, those with the higher criterion, one sign after another.

A rotated copy of a space is found, with noise as well, as long as eigenvalues are further apart than the noise moves
them. The spectra of two languages are alike, but eigenvectors of the same rank are not translations of each other: one
that is missing or has another rank puts all that follow out of step. The papers report it as unsuccessful.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting
from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.maps import BLOCK
from sentprobe.lab.alignment.method import Matrices, Method, Problem
from sentprobe.lab.alignment.space import Matrix

SETTINGS = {
    "agreement": Setting(
        0.3, "cosine of the third moments of two eigenvectors below which the criterion decides", low=0, high=1
    ),
    "words": Setting(2000, "most frequent words of either side over which the criterion decides", low=2),
}


class Moments(NamedTuple):
    """Second and third moments of a space."""

    vectors: NDArray[np.float64]
    """(d, d): eigenvectors of the second moments in columns, those of the largest eigenvalues first."""
    third: NDArray[np.float64]
    """(d, d): E[zᵢ zⱼ²] of the coordinates along the eigenvectors, scaled to variance one. Row i changes its sign with
    eigenvector i, and with no other."""


def moments(rows: Matrix) -> Moments:
    """The moments of rows (n, d)."""
    blocks = [slice(at, at + BLOCK) for at in range(0, len(rows), BLOCK)]
    second = np.zeros((rows.shape[1], rows.shape[1]))
    for block in blocks:
        doubles = rows[block].astype(np.float64)
        second += doubles.T @ doubles
    values, vectors = np.linalg.eigh(second / len(rows))
    values, vectors = values[::-1], vectors[:, ::-1]
    has_variance = values > 1e-6 * max(values[0], 0)  # directions without variance stay zero
    scaled = np.where(has_variance, vectors / np.sqrt(np.where(has_variance, values, 1)), 0)
    third = np.zeros_like(second)
    for block in blocks:
        z = rows[block] @ scaled
        third += z.T @ z**2
    return Moments(vectors, third / len(rows))


def agreements(source: Moments, target: Moments) -> NDArray[np.float64]:
    """The cosine (d,) of the third moments of eigenvectors of the same rank: −1 if one of them is reversed."""
    norms = np.linalg.norm(source.third, axis=1) * np.linalg.norm(target.third, axis=1)
    products: NDArray[np.float64] = (source.third * target.third).sum(1)
    return products / np.where(norms > 0, norms, np.inf)


def solve(problem: Problem) -> Matrices:
    """Two eigendecompositions and a sign for each pair of eigenvectors."""
    settings = problem.settings
    source_moments, target_moments = moments(problem.source), moments(problem.target)
    cosines = agreements(source_moments, target_moments)
    signs = np.where(cosines < 0, -1.0, 1.0)
    undecided = np.flatnonzero(abs(cosines) < float(settings["agreement"]))
    words = int(settings["words"])
    source, target = problem.source[:words], problem.target[:words]

    def matrix() -> Matrices:
        return Matrices(np.ascontiguousarray((source_moments.vectors * signs) @ target_moments.vectors.T, np.float32))

    best = criterion(source, target, matrix()) if len(undecided) else 0.0
    for at in undecided:
        signs[at] *= -1
        value = criterion(source, target, matrix())
        best, signs[at] = (value, signs[at]) if value > best else (best, -signs[at])
    matrices = matrix()
    facts = {"agreement": float(abs(cosines).mean()), "undecided": float(len(undecided))}
    problem.report("round", 1, matrices, {"criterion": problem.criterion(matrices), **facts})
    return matrices


alignment_method = Method(
    "moments",
    "eigenvectors of both second moments by rank: a baseline that fails on real languages",
    solve,
    dictionary="unused",
    settings=SETTINGS,
    steps=("center",),
    order=50,
)
