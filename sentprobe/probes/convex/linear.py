"""A trained linear classifier: its scores, and how it is saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentprobe.core.threads import single_threaded
from sentprobe.probes.convex.engine import Array, Doubles, Floats, Numpy
from sentprobe.probes.convex.engine_sparse import sparse_blocks
from sentprobe.probes.features import Features, is_sparse
from sentprobe.probes.model import Arrays, check_arrays


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
    found: Array
    if features.sparse:
        turned = np.ascontiguousarray(weights.T)
        for start, block in sparse_blocks(features, len(bias)):
            found = (block @ turned + bias).T.reshape(len(models), -1, block.shape[0])
            yield slice(start, start + block.shape[0]), found
        return
    single = Numpy().logits
    for start, rows in read_blocks(features, block_rows(Numpy.cells, *weights.shape)):
        found = weights @ rows.T.astype(np.float64) + bias[:, None] if exact else single(rows, weights, bias)
        yield slice(start, start + len(rows)), found.reshape(len(models), -1, len(rows))


def log_probabilities(model: Linear, features: Features) -> Floats:
    """What ``Linear.scores`` returns, (n, classes)."""
    found = np.empty((len(features), len(model.bias)), np.float32)
    for part, (logs,) in logits([model], features):
        logs -= logs.max(axis=0)
        logs -= np.log(np.exp(logs).sum(axis=0))
        found[part] = logs.T
    return found


def block_rows(cells: int, *widths: int) -> int:
    """The number of rows in a block of about ``cells`` numbers."""
    return max(64, min(cells // 1024, cells // max(widths)))


def read_blocks(features: Features, size: int) -> Iterator[tuple[int, Floats]]:
    """(first row, rows): without a copy where the rows are contiguous in one table."""
    table, places = features.tables[0], features.places[0]
    first = int(places[0])
    plain = len(features.tables) == 1 and not is_sparse(table)
    plain = plain and table.dtype == np.float32 and table.flags.c_contiguous
    if not (plain and first >= 0 and np.array_equal(places, np.arange(first, first + len(places)))):
        yield from features.chunks(size)
        return
    rows: Floats = np.asarray(table)[first : first + len(places)]
    for start in range(0, len(rows), size):
        yield start, rows[start : start + size]


def _single(array: Doubles) -> Array:
    """As float32, unless that overflows."""
    with np.errstate(over="ignore"):
        found = array.astype(np.float32, copy=False)
    return found if np.isfinite(found).all() else array
