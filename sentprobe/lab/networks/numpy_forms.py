"""The architectures that numpy can compute: how vectors are made of word vectors, and the shapes of their weights.

Each has the weights of the torch module of the same name in ``architectures/``, and gives the same vectors but for
rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sentprobe.lab.networks import numpy_sequences as over
from sentprobe.lab.networks.forward import Floats, Ints
from sentprobe.lab.networks.numpy_recurrent import GATES, Recurrent

Shapes = dict[str, tuple[int, ...]]
Body = Callable[[Floats, Ints], tuple[Floats, list[Floats]]]
"""From word vectors (sentences, time, width) and lengths to vectors (sentences, size) and the states of each layer."""


class NumpyForm(NamedTuple):
    """How numpy computes one architecture."""

    shapes: Callable[[int, Mapping[str, Any]], Shapes]
    """The shapes of the weights, from the width of the word vectors and the settings."""
    build: Callable[[Mapping[str, Floats], Mapping[str, Any]], Body]
    """The network, from its weights and the settings."""
    pools_max: bool = False
    range_of: Callable[[int, Mapping[str, Any]], float] = lambda width, settings: width**-0.5
    """Untrained weights are drawn uniformly from minus this number to this number, as torch draws them."""


# ---------------------------------------------------------------- bags of words


def _bag(pool: Callable[[Floats, Ints], Floats], weights: Mapping[str, Floats], settings: Mapping[str, Any]) -> Body:
    return lambda inputs, lengths: (pool(inputs, lengths), [inputs])


def _weighted(weights: Mapping[str, Floats], settings: Mapping[str, Any]) -> Body:
    weight, bias = weights["weight.weight"], weights["weight.bias"]

    def body(inputs: Floats, lengths: Ints) -> tuple[Floats, list[Floats]]:
        return over.mean_over_time(inputs * over.sigmoid(inputs @ weight.T + bias), lengths), [inputs]

    return body


# ---------------------------------------------------------------- recurrent networks


def _recurrent_shapes(cell: str, ahead: bool, back: bool, width: int, settings: Mapping[str, Any]) -> Shapes:
    hidden, layers, gates = int(settings["hidden"]), int(settings["layers"]), GATES[cell]
    found: Shapes = {}
    for way in ["forwards"] * ahead + ["backwards"] * back:
        for depth in range(layers):
            start = f"recurrent.{way}.{depth}."
            inner = width if depth == 0 else hidden * (ahead + back)
            found[start + "weight_ih_l0"] = (gates * hidden, inner)
            found[start + "weight_hh_l0"] = (gates * hidden, hidden)
            found[start + "bias_ih_l0"] = found[start + "bias_hh_l0"] = (gates * hidden,)
    return found


def _recurrent(
    cell: str, ahead: bool, back: bool, pool: str, weights: Mapping[str, Floats], settings: Mapping[str, Any]
) -> Body:
    own = {name.removeprefix("recurrent."): value for name, value in weights.items()}
    stack = Recurrent(cell, own, int(settings["layers"]), ahead=ahead, back=back)
    pools = {"max": over.max_over_time, "mean": over.mean_over_time, "last": stack.final}

    def body(inputs: Floats, lengths: Ints) -> tuple[Floats, list[Floats]]:
        layers = stack(inputs, lengths)
        return pools[pool](layers[-1], lengths), layers

    return body


def _recurrent_form(cell: str, pool: str, *, ahead: bool = True, back: bool = True) -> NumpyForm:
    return NumpyForm(
        partial(_recurrent_shapes, cell, ahead, back),
        partial(_recurrent, cell, ahead, back, pool),
        pool == "max",
        lambda width, settings: int(settings["hidden"]) ** -0.5,
    )


FORMS = {
    "bow-mean": NumpyForm(lambda *_: {}, partial(_bag, over.mean_over_time)),
    "bow-max": NumpyForm(lambda *_: {}, partial(_bag, over.max_over_time), pools_max=True),
    "bow-sum": NumpyForm(lambda *_: {}, partial(_bag, over.sum_over_time)),
    "bow-weighted": NumpyForm(lambda width, _: {"weight.weight": (1, width), "weight.bias": (1,)}, _weighted),
    "lstm": _recurrent_form("lstm", "last", back=False),
    "gru": _recurrent_form("gru", "last", back=False),
    "lstm-reversed": _recurrent_form("lstm", "last", ahead=False),
    "bigru-last": _recurrent_form("gru", "last"),
    "bilstm-last": _recurrent_form("lstm", "last"),
    "bilstm-mean": _recurrent_form("lstm", "mean"),
    "bilstm-max": _recurrent_form("lstm", "max"),
}
"""By the name of the architecture."""
WEIGHT_DTYPES = (np.dtype(np.float32), np.dtype(np.float16))
"""What weights may be stored as; they are computed with as float32."""
