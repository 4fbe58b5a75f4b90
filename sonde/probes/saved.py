"""Trained classifiers as plain arrays, and back: what a run keeps of its probes.

Weights are kept as float32, and a run scores what it keeps. A linear probe's biases stay float64, and take up what
rounding its weights would shift at ``centre``: vectors far from 0 cost no precision then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError
from sonde.probes.convex import Linear
from sonde.probes.fit import Model
from sonde.probes.network import Network, Scale
from sonde.probes.probe import Activation

Arrays = Mapping[str, npt.NDArray[Any]]

MAX_SAVED_BYTES = 1 << 24
"""Bytes of weights up to which a run keeps a probe: those of 1000 words, the most classes a task of the papers has, on
4096 dimensions. Beyond, a run of many layers would be mostly weights."""


def shape(model: Model) -> tuple[int, int]:
    """The classes that a classifier knows, and the dimensions that it reads."""
    if isinstance(model, Linear):
        classes, dimensions = model.weights.shape
        return classes, dimensions
    if isinstance(model, Network):
        return len(model.weights[-1]), model.weights[0].shape[1]
    raise _stranger(model)


def to_arrays(model: Model, centre: npt.NDArray[Any] | None = None) -> dict[str, npt.NDArray[Any]]:
    """A classifier as arrays by name. ``centre`` (d,) is a point amid the vectors it was trained on."""
    if isinstance(model, Linear):
        weights = _single(model.weights)
        lost = model.weights - weights
        shift = 0.0 if centre is None else lost @ np.asarray(centre, np.float64)
        return {"weights": weights, "bias": model.bias + shift}
    if isinstance(model, Network):
        found: dict[str, npt.NDArray[Any]] = {f"layer{i}": each for i, each in enumerate(model.weights)}
        found["activation"] = np.array(model.activation)
        if model.scale is not None:
            found |= {"mean": model.scale.mean, "factor": model.scale.factor}
        return found
    raise _stranger(model)


def from_arrays(arrays: Arrays) -> Model:
    """The classifier again."""
    return _linear(arrays) if "weights" in arrays else _network(arrays)


def _linear(arrays: Arrays) -> Linear:
    _check("bias" in arrays, arrays)
    weights, bias = (np.asarray(arrays[name], np.float64) for name in ("weights", "bias"))
    _check(weights.ndim == 2 and bias.shape == weights.shape[:1], arrays)
    return Linear(weights, bias)


def _network(arrays: Arrays) -> Network:
    names = [f"layer{i}" for i in range(sum(name.startswith("layer") for name in arrays))]
    _check(len(names) in (2, 4) and {*names, "activation"} <= arrays.keys(), arrays)
    layers = tuple(np.ascontiguousarray(arrays[name], np.float32) for name in names)
    pairs = zip(layers[::2], layers[1::2], strict=True)
    _check(all(weights.ndim == 2 and bias.shape == weights.shape[:1] for weights, bias in pairs), arrays)
    _check(len(layers) == 2 or layers[2].shape[1] == len(layers[0]), arrays)
    said = str(arrays["activation"])
    _check(said in get_args(Activation), arrays)
    activation: Activation = "relu" if said == "relu" else "sigmoid"
    if "mean" not in arrays:
        return Network(layers, activation)
    _check("factor" in arrays and arrays["mean"].shape == arrays["factor"].shape == layers[0].shape[1:], arrays)
    scale = Scale(np.asarray(arrays["mean"], np.float32), np.asarray(arrays["factor"], np.float32))
    return Network(layers, activation, scale)


def _stranger(model: object) -> TypeError:
    return TypeError(f"expected a classifier that `fit` gives, got {type(model).__name__}")


def _check(sound: bool, arrays: Arrays) -> None:
    if not sound:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        raise DataError(f"These are not the arrays of a probe: met {shapes}; expected what `to_arrays` gives.")


def _single(array: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """As float32, if that can hold it."""
    with np.errstate(over="ignore"):
        found = array.astype(np.float32)
    return found if np.isfinite(found).all() else array
