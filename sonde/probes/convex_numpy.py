"""The arithmetic of logistic regression on a block of rows, and the same in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


class Engine(Protocol):
    """Where the arithmetic is done. Arrays of its own kind are Any."""

    @property
    def cells(self) -> int:
        """About how many numbers a block should have."""
        ...

    def hold(self, array: npt.NDArray[Any]) -> Any:
        """The array as one of its own."""
        ...

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        ...

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Summed over rows (m, d): losses (models,), gradients to weights (models * outputs, d) and to the bias.

        One output is the logit of label 1 against label 0; several are those of as many labels.
        """
        ...


@dataclass(frozen=True)
class Numpy:
    """numpy, on as many threads as its BLAS is told to take."""

    cells: int = 2**20

    def hold(self, array: npt.NDArray[Any]) -> Any:
        """The array itself."""
        return array

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        found: Floats = rows.T @ rows
        return found

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients; logits are (models * outputs, m), so that no sum is over a short last axis."""
        errors = weights @ rows.T
        errors += bias[:, None]
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
        return losses.sum(axis=1, dtype=np.float64), errors @ rows, errors.sum(axis=1, dtype=np.float64)
