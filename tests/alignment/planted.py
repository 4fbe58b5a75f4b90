"""Spaces of which one is the other: rotated, with noise, and with its words in another order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sonde.alignment.space import Matrix


class Planted(NamedTuple):
    source: Matrix
    target: Matrix
    rotation: Matrix
    gold: NDArray[np.int64]
    """(n,): the target row of each source row."""

    def precision(self, matrix: Matrix) -> float:
        """P@1 by cosine."""
        mapped, target = (
            rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (self.source @ matrix, self.target)
        )
        return float(np.mean(np.argmax(mapped @ target.T, axis=1) == self.gold))


def plant(words: int, dim: int, noise: float = 0.05, seed: int = 0) -> Planted:
    """Word-like vectors: skewed clusters, a spectrum that falls, heavy tails."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, dim + 1) ** -0.5
    centres = rng.standard_gamma(1.0, (20, dim)) - 1
    source = (centres[rng.integers(20, size=words)] + 0.7 * rng.standard_t(5, (words, dim))) * spectrum
    turn, rotation = (np.linalg.qr(rng.standard_normal((dim, dim)))[0] for _ in range(2))
    source = source @ turn
    gold = rng.permutation(words)
    target = np.empty_like(source)
    target[gold] = (source + noise * source.std() * rng.standard_normal(source.shape)) @ rotation
    return Planted(source.astype(np.float32), target.astype(np.float32), rotation.astype(np.float32), gold)
