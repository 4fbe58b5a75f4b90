"""A trained network: its scores, and how it is saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.probes.features import Array, Features, Floats
from sentprobe.probes.kind import Arrays, check_arrays
from sentprobe.probes.network import steps_numpy
from sentprobe.probes.probe import Activation

CHUNK = 512
"""Rows that are scored at a time."""


class Scale(NamedTuple):
    """What is subtracted from each dimension, and what it is then multiplied by."""

    mean: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class Network:
    """A trained classifier: the weights of its layers, (out, in) and (out) in turn."""

    weights: tuple[Floats, ...]
    activation: Activation
    scale: Scale | None = None

    def scores(self, features: Features) -> Floats:
        """Log-probabilities of the classes, (n, classes)."""
        scores = np.empty((len(features), len(self.weights[-1])), np.float32)
        weights = [array[None] for array in self.weights]
        with single_threaded():
            for start, xs in features.chunks(CHUNK):
                logits = steps_numpy.forward(weights, self.activation, standardised(xs, self.scale))[0]
                scores[start : start + len(xs)] = log_softmax(logits)
        return scores

    @property
    def shape(self) -> tuple[int, int]:
        """Classes and dimensions."""
        return len(self.weights[-1]), self.weights[0].shape[1]

    def to_arrays(self, centre: Array | None = None) -> dict[str, Array]:  # noqa: ARG002  float32 as they are
        """The layers, the activation and, if vectors are standardised, how."""
        arrays: dict[str, Array] = {f"layer{i}": array for i, array in enumerate(self.weights)}
        arrays["activation"] = np.array(self.activation)
        if self.scale is not None:
            arrays |= {"mean": self.scale.mean, "factor": self.scale.factor}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Network:
        """The classifier that was saved."""
        names = [f"layer{i}" for i in range(sum(name.startswith("layer") for name in arrays))]
        check_arrays(len(names) in (2, 4) and {*names, "activation"} <= arrays.keys(), arrays)
        layers = tuple(np.ascontiguousarray(arrays[name], np.float32) for name in names)
        pairs = zip(layers[::2], layers[1::2], strict=True)
        check_arrays(all(weights.ndim == 2 and bias.shape == weights.shape[:1] for weights, bias in pairs), arrays)
        check_arrays(len(layers) == 2 or layers[2].shape[1] == len(layers[0]), arrays)
        saved = str(arrays["activation"])
        check_arrays(saved in get_args(Activation), arrays)
        activation: Activation = "relu" if saved == "relu" else "sigmoid"
        if "mean" not in arrays:
            return cls(layers, activation)
        width = layers[0].shape[1:]
        check_arrays("factor" in arrays and arrays["mean"].shape == arrays["factor"].shape == width, arrays)
        scale = Scale(np.asarray(arrays["mean"], np.float32), np.asarray(arrays["factor"], np.float32))
        return cls(layers, activation, scale)


def log_softmax(logits: Floats) -> Floats:
    """Log-probabilities from logits (…, classes)."""
    logits = logits - logits.max(axis=-1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return logits


def scale_of(train: Features) -> Scale:
    """To mean 0 and deviation 1; a dimension that is constant up to rounding keeps its deviation."""
    mean, variance = np.zeros(train.shape[1]), np.zeros(train.shape[1])
    for _, xs in train.chunks(CHUNK):
        mean += xs.sum(axis=0, dtype=np.float64) / len(train)
    for _, xs in train.chunks(CHUNK):
        variance += np.square(xs - mean).sum(axis=0) / len(train)
    deviation = np.sqrt(variance)
    factor = 1 / np.where(deviation > 1e-6 * np.abs(mean), deviation, 1)
    return Scale(mean.astype(np.float32), factor.astype(np.float32))


def standardised(xs: Floats, scale: Scale | None) -> Floats:
    """Rows (n, d), standardised in place."""
    if scale is not None:
        xs -= scale.mean
        xs *= scale.factor
    return xs
