"""What is handed in, as arrays that can be counted on; or an error that says what was met."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError, TooFewError, UsageError

FEWEST_DRAWS = 100
"""With fewer draws the ends of a 95 % interval are the extremes of two or three numbers."""


def numbers(values: npt.ArrayLike, name: str, *, dimensions: int = 1, minimum: int = 1) -> npt.NDArray[np.float64]:
    """Finite numbers (n), or (…, n), at least ``least`` of them along the last axis."""
    found = np.asarray(values)
    if found.dtype.kind not in "biuf":
        raise DataError(f"{name} must be numbers, got {found.dtype}.")
    found = found.astype(np.float64) + 0.0  # no -0.0, which would be another value than 0.0
    if found.ndim != dimensions:
        raise DataError(f"{name} must have {dimensions} dimension(s), got the shape {found.shape}.")
    if found.shape[-1] < minimum or found.size == 0:
        raise TooFewError(f"{name} must have at least {minimum} value(s), got the shape {found.shape}.")
    if not np.isfinite(found).all():
        raise DataError(f"{name} has {int((~np.isfinite(found)).sum())} values that are not finite numbers.")
    return found


def booleans(values: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
    """Whether each row is right, (n): booleans, or numbers that are 0 or 1."""
    found = numbers(values, name)
    if not np.isin(found, (0.0, 1.0)).all():
        raise DataError(f"{name} must say of each row whether it is right (0 or 1), got other numbers too.")
    return found.astype(np.bool_)


def classes(values: npt.ArrayLike, name: str, minimum: int) -> npt.NDArray[np.int64]:
    """The number of each row's class, (n): integers from ``least`` on."""
    found = np.asarray(values)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise DataError(f"{name} must be one integer per row, got {found.dtype} of the shape {found.shape}.")
    if not found.size:
        raise TooFewError(f"{name} must have at least one row, got none.")
    if found.min() < minimum:
        raise DataError(f"{name} must be classes from {minimum} on, got {found.min()}.")
    return found.astype(np.int64)


def check_same_shape(one: npt.NDArray[Any], one_name: str, two: npt.NDArray[Any], two_name: str) -> None:
    """Refuse arrays that do not go with each other."""
    if one.shape[-1] != two.shape[-1]:
        raise DataError(f"{one_name} has {one.shape[-1]} rows and {two_name} {two.shape[-1]}; expected as many.")


def share(value: float, name: str) -> float:
    """A number between 0 and 1, both out."""
    if not 0 < value < 1:
        raise UsageError(f"{name} must lie between 0 and 1, got {value}.")
    return float(value)


def checked_draws(draws: int) -> int:
    """How often to draw."""
    if draws < FEWEST_DRAWS:
        raise UsageError(f"draws must be at least {FEWEST_DRAWS}, got {draws}.")
    return draws
