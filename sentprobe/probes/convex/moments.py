"""Means and deviations of the dimensions, by which rows are standardised."""

from __future__ import annotations

import numpy as np

from sentprobe.errors import DataError
from sentprobe.probes.convex.engine import Doubles, Floats
from sentprobe.probes.convex.engine_sparse import sparse_sums
from sentprobe.probes.convex.linear import read_blocks
from sentprobe.probes.features import Features

FAR, EXTREME = 50.0, 1e15
"""Deviations between a mean and 0, and sizes of a deviation, beyond which float32 loses too much: such rows are
standardised as they are read."""


def is_far(mean: Doubles, scale: Doubles) -> bool:
    """Whether rows with these means and deviations are to be standardised as they are read."""
    return bool((np.abs(mean) > FAR * scale).any() or (np.abs(np.log(scale)) > np.log(EXTREME)).any())


def standardised(rows: Floats, mean: Doubles, scale: Doubles) -> Floats:
    """Rows (m, d) with mean 0 and deviation 1, computed in float64."""
    found: Floats = ((rows - mean) / scale).astype(np.float32)
    return found


def moments(features: Features, size: int) -> tuple[Doubles, Doubles]:
    """Mean and standard deviation of each dimension, (d,) each; 1 for a deviation of 0."""
    n, d = features.shape
    sums, squares, near = np.zeros(d), np.zeros(d), np.zeros(d, np.float32)
    with np.errstate(invalid="ignore"):  # reported below
        if features.sparse:
            near, sums, squares = sparse_sums(features)
        for start, rows in () if features.sparse else read_blocks(features, size):
            if start == 0:  # sums are about the mean of the first block; in float32, or constants would not become 0
                near = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
            rest = np.subtract(rows, near, dtype=np.float64)
            sums += rest.sum(axis=0)
            squares += np.einsum("ij,ij->j", rest, rest)
    if not np.isfinite(squares).all():
        bad = np.count_nonzero(~np.isfinite(squares))
        raise DataError(f"{bad} of {d} dimensions of the training vectors have values that are not finite.")
    scale = np.sqrt(np.maximum(squares / n - (sums / n) ** 2, 0))
    return near + sums / n, np.where(scale > 0, scale, 1.0)
