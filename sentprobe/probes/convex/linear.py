"""A trained linear classifier: its scores, and how it is saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.probes.convex.engine import Numpy
from sentprobe.probes.convex.rows import block_rows, read_blocks, sparse_blocks
from sentprobe.probes.features import Array, Doubles, Features, Floats
from sentprobe.probes.kind import Arrays, check_arrays


@dataclass(frozen=True, eq=False)
class Linear:
    """Logits that are linear in the vectors as they are."""

    weights: Doubles
    """(classes, d)."""
    bias: Doubles
    """(classes,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """Classes and dimensions."""
        classes, dimensions = self.weights.shape
        return classes, dimensions

    def scores(self, features: Features) -> Floats:
        """Log-probabilities of the classes, (n, classes)."""
        with single_threaded():
            return log_probabilities(self, features)

    def to_arrays(self, centre: Array | None = None) -> dict[str, Array]:
        """Weights as float32, and biases as float64 that absorb what rounding the weights would shift at ``centre``.

        Vectors far from 0 then cost no precision.
        """
        weights = _single(self.weights)
        shift = 0.0 if centre is None else (self.weights - weights) @ np.asarray(centre, np.float64)
        return {"weights": weights, "bias": self.bias + shift}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Linear:
        """The classifier that was saved."""
        check_arrays({"weights", "bias"} <= arrays.keys(), arrays)
        weights, bias = (np.asarray(arrays[name], np.float64) for name in ("weights", "bias"))
        check_arrays(weights.ndim == 2 and bias.shape == weights.shape[:1], arrays)
        return cls(weights, bias)


def logits(models: Sequence[Linear], features: Features, *, exact: bool = True) -> Iterator[tuple[slice, Array]]:
    """Block after block of rows, with their logits (models, classes, m); all models share each read.

    Exact ones are float64, others float32.
    """
    dtype: type[Any] = np.float64 if exact else np.float32
    weights = np.concatenate([m.weights for m in models], dtype=dtype)
    bias = np.concatenate([m.bias for m in models], dtype=dtype)
    block_logits: Array
    if features.sparse:
        transposed = np.ascontiguousarray(weights.T)
        for start, block in sparse_blocks(features, len(bias)):
            block_logits = (block @ transposed + bias).T.reshape(len(models), -1, block.shape[0])
            yield slice(start, start + block.shape[0]), block_logits
        return
    float32_logits = Numpy().logits
    for start, rows in read_blocks(features, block_rows(Numpy.cells, *weights.shape)):
        block_logits = (
            weights @ rows.T.astype(np.float64) + bias[:, None] if exact else float32_logits(rows, weights, bias)
        )
        yield slice(start, start + len(rows)), block_logits.reshape(len(models), -1, len(rows))


def log_probabilities(model: Linear, features: Features) -> Floats:
    """What ``Linear.scores`` returns, (n, classes)."""
    scores = np.empty((len(features), len(model.bias)), np.float32)
    for part, (block_logits,) in logits([model], features):
        block_logits -= block_logits.max(axis=0)
        block_logits -= np.log(np.exp(block_logits).sum(axis=0))
        scores[part] = block_logits.T
    return scores


def _single(array: Doubles) -> Array:
    """As float32, unless that overflows."""
    with np.errstate(over="ignore"):
        rounded = array.astype(np.float32, copy=False)
    return rounded if np.isfinite(rounded).all() else array
