"""p-values of many tests, adjusted for their number."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError

Floats = npt.NDArray[np.float64]


def holm(p_values: npt.ArrayLike) -> Floats:
    """Holm's step-down adjustment (m): controls the family-wise error rate. For a few planned comparisons."""
    p, order = _sorted(p_values)
    adjusted = np.maximum.accumulate(p * np.arange(len(p), 0, -1))
    return _back(adjusted, order)


def bonferroni(p_values: npt.ArrayLike) -> Floats:
    """Bonferroni's adjustment (m): the same guarantee as Holm's, which is never less powerful."""
    p, order = _sorted(p_values)
    return _back(p * len(p), order)


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """Benjamini and Hochberg's step-up adjustment (m): controls the false discovery rate.

    For grids of encoders, tasks and layers.
    """
    p, order = _sorted(p_values)
    adjusted = np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    return _back(adjusted, order)


def _sorted(p_values: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.int64]]:
    p = np.asarray(p_values, np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():  # false for NaN
        raise DataError(f"p-values must be numbers between 0 and 1 in one dimension, got {p_values!r}.")
    order = np.argsort(p, kind="stable")
    return p[order], order


def _back(adjusted: Floats, order: npt.NDArray[np.int64]) -> Floats:
    in_order = np.empty(len(order))
    in_order[order] = adjusted.clip(max=1.0)
    return in_order
