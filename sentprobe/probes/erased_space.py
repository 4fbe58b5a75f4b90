"""The map from standardised vectors to erased vectors that are standardised again, applied to weights instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sentprobe.probes.convex.engine import Doubles, Floats
from sentprobe.probes.convex.search import End, Search
from sentprobe.probes.erase import Eraser
from sentprobe.probes.standardised_rows import Rows

CONSTANT_TOLERANCE = 1e-6
"""The share of its deviation, or if that was 0 of the largest one, below which an erased dimension is constant."""


@dataclass(frozen=True, eq=False)
class ErasedSpace:
    """From standardised vectors to erased ones that are standardised again: diag(kept) - left @ right."""

    kept: Doubles
    """(d,)."""
    left: Doubles
    """(d, rank)."""
    right: Doubles
    """(rank, d)."""
    scale: Doubles
    """Deviations (d,) of the erased vectors; 0 where they are constant."""

    @classmethod
    def of(cls, rows: Rows, eraser: Eraser) -> ErasedSpace:
        """With the eraser's map I - left @ right, covariances Σ become Σ - left R - (left R)ᵀ + left R rightᵀ leftᵀ.

        R is right @ Σ. The eraser's mean does not matter, as the bias is free.
        """
        products = eraser.right @ rows.moments.covariance
        variances = np.diag(rows.moments.covariance) - 2 * np.einsum("ir,ri->i", eraser.left, products)
        variances += np.einsum("ir,rs,is->i", eraser.left, products @ eraser.right.T, eraser.left, optimize=True)
        deviations, before = (np.sqrt(np.maximum(each, 0)) for each in (variances, np.diag(rows.moments.covariance)))
        there = deviations > CONSTANT_TOLERANCE * np.where(before > 0, before, before.max())
        inverse = np.where(there, 1 / np.where(there, deviations, 1.0), 0.0)
        return cls(rows.scale * inverse, eraser.left * inverse[:, None], eraser.right * rows.scale, deviations * there)

    def plain(self, point: Doubles) -> Doubles:
        """Weights of erased vectors and biases (outputs, d + 1), as weights of the original vectors."""
        weights = point[:, :-1]
        return np.column_stack([weights * self.kept - (weights @ self.left) @ self.right, point[:, -1]])

    def gradients(self, plain: Doubles) -> Doubles:
        """The gradient (outputs, d + 1) of weights of erased vectors, from that of weights of the original ones."""
        gradients = plain[:, :-1]
        return np.column_stack([gradients * self.kept - (gradients @ self.right.T) @ self.left.T, plain[:, -1]])

    def correlations(self, plain: Floats) -> Floats:
        """Those of the erased dimensions (d, d), from those of the original ones."""
        kept, left, right = (each.astype(np.float32) for each in (self.kept, self.left, self.right))
        half = kept[:, None] * plain - left @ (right @ plain)
        return (half * kept - (half @ right.T) @ left.T).astype(np.float32, copy=False)

    def through(self, search: Search) -> Search:
        """A search over weights of erased vectors that requests points as weights of the original ones."""
        try:
            point = next(search)
            while True:
                loss, gradients = yield self.plain(point)
                point = search.send((loss, self.gradients(gradients)))
        except StopIteration as end:
            found: End = end.value
            return found
