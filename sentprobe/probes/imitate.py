"""How much of what a classifier adds can be computed from other vectors: least squares, stopped early on dev.

Conjugate gradients find the large directions first, so that the number of steps regularises as a penalty does; dev
vectors, without any label, tell where to stop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError
from sentprobe.probes.convex import Linear
from sentprobe.probes.erase import MAX_DIMENSIONS, Moments
from sentprobe.probes.features import Features, is_sparse

Doubles = npt.NDArray[np.float64]
Normal = Callable[[Doubles], Doubles]

MAX_STEPS, PATIENCE = 100, 10
"""Steps at most, and steps without a smaller error on dev after which the search ends."""
BLOCK_ROWS = 1024
"""Rows that are read at a time."""


def imitate(train: Features, targets: Doubles, dev: Features, dev_targets: Doubles) -> Linear:
    """The linear map of vectors (n, d) that is nearest to the targets (n, o), as weights (o, d) and biases (o,).

    Sparse vectors are used as they are, others standardised.
    """
    if len(train) != len(targets) or len(dev) != len(dev_targets) or targets.shape[1] != dev_targets.shape[1]:
        raise ShapeError(
            f"Expected as many targets as rows: {len(train)} and {len(dev)}, got {targets.shape} and "
            f"{dev_targets.shape}."
        )
    centre = targets.mean(axis=0)
    with single_threaded():
        mean, scale, normal, products = _system(train, targets - centre)
        read = _reader(dev, mean, scale)
        weights = _solve(normal, products, lambda w: float(np.square(dev_targets - centre - read(w)).sum()))
    weights = weights / scale[:, None]
    return Linear(weights.T.copy(), centre - mean @ weights)


def _solve(normal: Normal, products: Doubles, error: Callable[[Doubles], float]) -> Doubles:
    """Weights (d, o) by conjugate gradients, each column by itself, at the step with the lowest error."""
    weights = np.zeros_like(products)
    best, least, at = weights, error(weights), 0
    rest, direction = products, products
    sizes = np.square(rest).sum(axis=0)
    floor = np.finfo(np.float64).eps ** 2 * sizes
    for i in range(1, MAX_STEPS + 1):
        turned = normal(direction)
        curvature = np.einsum("ij,ij->j", direction, turned)
        left = (sizes > floor) & (curvature > 0)
        if not left.any():
            break
        step = np.where(left, sizes / np.where(left, curvature, 1.0), 0.0)
        weights = weights + step * direction
        rest = rest - step * turned
        before, sizes = sizes, np.square(rest).sum(axis=0)
        direction = rest + np.where(left, sizes / np.where(left, before, 1.0), 0.0) * direction
        if (now := error(weights)) < least:
            best, least, at = weights, now, i
        elif i - at >= PATIENCE:
            break
    return best


def _system(train: Features, targets: Doubles) -> tuple[Doubles, Doubles, Normal, Doubles]:
    """Means and scales (d,), the product with the covariances of scaled vectors, and those with targets (d, o)."""
    n, d = train.shape
    if any(map(is_sparse, train.tables)) or d > MAX_DIMENSIONS:
        rows = train.take_sparse()
        turned, mean = rows.T.tocsr(), np.asarray(rows.mean(axis=0), np.float64).ravel()

        def times(weights: Doubles) -> Doubles:
            read = rows @ weights - mean @ weights
            found: Doubles = (turned @ read - np.outer(mean, read.sum(axis=0))) / n
            return found

        return mean, np.ones(d), times, np.asarray(turned @ targets, np.float64) / n
    found = Moments.of(train)
    deviations = np.sqrt(np.maximum(np.diag(found.covariance), 0))
    deviations = np.where(deviations > 0, deviations, 1.0)
    correlations = found.covariance / np.outer(deviations, deviations)
    products = np.zeros((d, targets.shape[1]))
    for start, block in train.chunks(BLOCK_ROWS):
        products += (block - found.mean).T @ targets[start : start + len(block)]
    return found.mean, deviations, lambda weights: correlations @ weights, products / n / deviations[:, None]


def _reader(features: Features, mean: Doubles, scale: Doubles) -> Callable[[Doubles], Doubles]:
    """From weights (d, o) of scaled vectors to their products with rows, (m, o)."""
    rows: Any = features.take_sparse() if any(map(is_sparse, features.tables)) else features.take(slice(None))

    def read(weights: Doubles) -> Doubles:
        plain = weights / scale[:, None]
        return np.asarray(rows @ plain, np.float64) - mean @ plain

    return read
