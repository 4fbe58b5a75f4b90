"""The arithmetic of logistic regression on a block of rows: what an engine does, and the one in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

SMALL_PRODUCT, SMALL_RESULT, MIN_ROWS, FAST_COLUMNS = 10**6, 1200, 32, 4
"""Multiplications up to which OpenBLAS has kernels for small products, two to five times as fast for few columns; the
values up to which it uses them for a product with transposed rows; the rows from which that is worth the calls; and the
columns below which they are no faster."""
MANY_OUTPUTS = 256
"""Outputs of a model from which they are many."""


class Engine(Protocol):
    """What does the arithmetic. Arrays of its own kind are Any."""

    @property
    def cells(self) -> int:
        """The approximate number of values in a block."""
        ...

    def hold(self, array: npt.NDArray[Any]) -> Any:
        """The array as this engine computes with it."""
        ...

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        ...

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Summed over rows (m, d): losses (models,), gradients of weights (models * outputs, d) and of the bias.

        A single output is the logit of label 1 against label 0; otherwise there is one per label.
        """
        ...


@dataclass(frozen=True)
class Numpy:
    """numpy, on as many threads as its BLAS is set to use."""

    cells: int = 2**20

    def hold(self, array: npt.NDArray[Any]) -> Any:
        """The array itself."""
        return array

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        found: Floats = rows.T @ rows
        return found

    def logits(self, rows: Any, weights: Any, bias: Any) -> Floats:
        """Of rows (m, d) by weights (outputs, d): (outputs, m)."""
        found = _times(weights, rows)
        found += bias[:, None]
        return found

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients; logits are (models * outputs, m), so that no sum runs over a short last axis.

        With many outputs that axis is long, and the logits stay as the product gives them, (m, models * outputs).
        """
        if len(weights) >= MANY_OUTPUTS * models:
            errors = rows @ weights.T
            errors += bias
            summed = multinomial(errors, labels, models)
            return summed, errors.T @ rows, errors.sum(axis=0, dtype=np.float64)
        errors = self.logits(rows, weights, bias)
        if len(weights) == models:
            signs = np.where(labels == 1, np.float32(1), np.float32(-1))
            errors *= signs
            small = np.exp(-np.abs(errors))
            losses = np.log1p(small) - np.minimum(errors, 0)
            errors = np.where(errors > 0, small, np.float32(1)) / (1 + small) * -signs
        else:
            shares, at = errors.reshape(models, -1, len(labels)), np.arange(len(labels))
            shares -= shares.max(axis=1, keepdims=True)
            losses = -shares[:, labels, at]
            np.exp(shares, out=shares)
            sums = shares.sum(axis=1)
            losses += np.log(sums)
            shares /= sums[:, None]
            shares[:, labels, at] -= 1
        return losses.sum(axis=1, dtype=np.float64), _sum_times(errors, rows), errors.sum(axis=1, dtype=np.float64)


def multinomial(logits: Floats, labels: npt.NDArray[np.int64], models: int) -> Doubles:
    """Losses (models,) of logits (m, models * classes), which become their derivatives."""
    shares, at = logits.reshape(len(labels), models, -1), np.arange(len(labels))
    shares -= shares.max(axis=2, keepdims=True)
    losses = -shares[at, :, labels]
    np.exp(shares, out=shares)
    sums = shares.sum(axis=2)
    losses += np.log(sums)
    shares /= sums[:, :, None]
    shares[at, :, labels] -= 1
    found: Doubles = losses.sum(axis=0, dtype=np.float64)
    return found


def _times(weights: Floats, rows: Floats) -> Floats:
    """The product (outputs, m) of weights (outputs, d) and rows (m, d)."""
    if 1 < len(weights) < FAST_COLUMNS:
        padded = np.zeros((FAST_COLUMNS, rows.shape[1]), np.float32)
        padded[: len(weights)] = weights
        return _times(padded, rows)[: len(weights)]
    size = min(_few_rows(weights, rows), SMALL_RESULT // len(weights))
    if len(weights) == 1 or size < MIN_ROWS:
        return np.ascontiguousarray((rows @ weights.T).T)
    found = np.empty((len(weights), len(rows)), np.float32)
    for start in range(0, len(rows), size):
        found[:, start : start + size] = weights @ rows[start : start + size].T
    return found


def _sum_times(errors: Floats, rows: Floats) -> Floats:
    """The product (outputs, d) of errors (outputs, m) and rows (m, d)."""
    size = _few_rows(errors, rows)
    if len(errors) == 1 or not MIN_ROWS <= size < len(rows):
        return errors @ rows
    found = np.zeros((len(errors), rows.shape[1]), np.float32)
    for start in range(0, len(rows), size):
        found += errors[:, start : start + size] @ rows[start : start + size]
    return found


def _few_rows(columns: Floats, rows: Floats) -> int:
    """How many rows at a time make small products."""
    return SMALL_PRODUCT // (len(columns) * int(rows.shape[1]))
