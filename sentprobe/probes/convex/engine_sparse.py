"""The arithmetic of logistic regression on sparse rows, such as bags of words: only what is not 0 is read.

Means and deviations are folded into the weights, so rows stay sparse and the optimum is that of standardised ones. No
correlations are used: those of words are weak, and their matrix (d, d) would take longer than all reads together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sentprobe.probes.convex.engine import Doubles, Floats, multinomial
from sentprobe.probes.features import Features

if TYPE_CHECKING:
    from scipy import sparse

Ints = npt.NDArray[np.int64]


BLOCK_ROWS, BLOCK_LOGITS = 2**13, 2**22
"""The largest number of rows and of logits in a block: float32 sums are over few enough rows to stay exact enough."""


@dataclass(frozen=True)
class Sparse:
    """scipy's sparse arrays in numpy. Its rows and labels are lists of blocks, so that gradients are turned once."""

    cells: int = BLOCK_LOGITS

    def hold(self, array: npt.NDArray[Any]) -> Any:
        """The array itself, but weights (outputs, d) as (d, outputs), since scipy multiplies by whole rows."""
        return np.ascontiguousarray(array.T) if array.ndim == 2 else array

    def products(self, rows: Sequence[sparse.csr_array]) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        found: Floats = sum(block.T @ block for block in rows).toarray()
        return found

    def gradients(
        self, rows: Sequence[sparse.csr_array], labels: Sequence[Ints], weights: Floats, bias: Floats, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients, as those of dense rows; weights are (d, models * outputs)."""
        losses, slope, bias_slope = np.zeros(models), np.zeros_like(weights), np.zeros(len(bias))
        for block, some in zip(rows, labels, strict=True):
            errors = block @ weights
            errors += bias
            losses += (_binary if len(bias) == models else multinomial)(errors, some, models)
            slope += block.T @ errors
            bias_slope += errors.sum(axis=0, dtype=np.float64)
        return losses, slope.T, bias_slope


def _binary(logits: Floats, labels: Ints, models: int) -> Doubles:
    """Losses (models,) of logits (m, models) of label 1, which become their derivatives."""
    signs = np.where(labels == 1, np.float32(1), np.float32(-1))[:, None]
    logits *= signs
    small = np.exp(-np.abs(logits))
    losses = np.log1p(small) - np.minimum(logits, 0)
    logits[:] = np.where(logits > 0, small, np.float32(1)) / (1 + small) * -signs
    found: Doubles = losses.sum(axis=0, dtype=np.float64)
    return found


def sparse_blocks(features: Features, outputs: int) -> Iterator[tuple[int, sparse.csr_array]]:
    """(first row, rows) from top to bottom, as many at a time as suit so many outputs."""
    size = max(64, min(BLOCK_ROWS, BLOCK_LOGITS // outputs))
    for start in range(0, len(features), size):
        yield start, features.take_sparse(slice(start, start + size))


def sparse_sums(features: Features) -> tuple[Floats, Doubles, Doubles]:
    """A number near the mean of each dimension, and sums of differences from it and of their squares; (d,) each."""
    n, d = features.shape
    rows = features.take_sparse()
    # in float32, or the differences of constants would not be 0
    near = (np.bincount(rows.indices, rows.data, d) / n).astype(np.float32)
    zeros = np.asarray(n - np.bincount(rows.indices, minlength=d), np.float64)
    rest = np.subtract(rows.data, near[rows.indices], dtype=np.float64)
    sums = np.bincount(rows.indices, rest, d) - zeros * near
    squares = np.bincount(rows.indices, rest * rest, d) + zeros * near * near
    return near, sums, squares
