"""Arguments as checked arrays; or an error that says what was expected and what was given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError, TooFewError, UsageError

FEWEST_DRAWS = 100
"""With fewer draws, the ends of an interval depend on two or three draws."""


def numbers(values: npt.ArrayLike, name: str, *, dimensions: int = 1, minimum: int = 1) -> npt.NDArray[np.float64]:
    """Finite numbers (n), or (…, n), at least ``minimum`` of them along the last axis."""
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} must be numbers, got {array.dtype}.")
    array = array.astype(np.float64) + 0.0  # -0.0 becomes 0.0, so that they are one value
    if array.ndim != dimensions:
        raise DataError(f"{name} must have {dimensions} dimension(s), got the shape {array.shape}.")
    if array.shape[-1] < minimum or array.size == 0:
        raise TooFewError(f"{name} must have at least {minimum} value(s), got the shape {array.shape}.")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has {int((~np.isfinite(array)).sum())} values that are not finite numbers.")
    return array


def booleans(values: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
    """Whether each row is right, (n): booleans, or numbers that are 0 or 1."""
    array = numbers(values, name)
    if not np.isin(array, (0.0, 1.0)).all():
        raise DataError(f"{name} must be 0 or 1 for each row (whether it is correct), got other numbers too.")
    return array.astype(np.bool_)


def classes(values: npt.ArrayLike, name: str, minimum: int) -> npt.NDArray[np.int64]:
    """The class of each row, (n): integers from ``minimum`` on."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise DataError(f"{name} must be one integer per row, got {array.dtype} of shape {array.shape}.")
    if not array.size:
        raise TooFewError(f"{name} must have at least one row, got none.")
    if array.min() < minimum:
        raise DataError(f"{name} must be classes of at least {minimum}, got {array.min()}.")
    return array.astype(np.int64)


def check_same_shape(first: npt.NDArray[Any], first_name: str, second: npt.NDArray[Any], second_name: str) -> None:
    """Refuse arrays that differ in their number of rows."""
    if first.shape[-1] != second.shape[-1]:
        rows = f"{first_name} has {first.shape[-1]} rows and {second_name} {second.shape[-1]}"
        raise DataError(f"{rows}; expected the same.")


def share(value: float, name: str) -> float:
    """A number between 0 and 1, exclusive."""
    if not 0 < value < 1:
        raise UsageError(f"{name} must be between 0 and 1, got {value}.")
    return float(value)


def checked_draws(draws: int) -> int:
    """A number of draws that is not too small."""
    if draws < FEWEST_DRAWS:
        raise UsageError(f"draws must be at least {FEWEST_DRAWS}, got {draws}.")
    return draws
