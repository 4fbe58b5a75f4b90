"""The arithmetic of logistic regression on a block of rows: what an engine does, and the one in numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]


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

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients; logits are (models * outputs, m), so that no sum runs over a short last axis."""
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
