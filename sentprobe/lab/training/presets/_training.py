"""Ways of training that several papers share.

They say everything about the learning rate, since objectives have defaults of their own, and nothing about when to
stop: where a paper does not print it, it is the objective that decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CONSTANT: Mapping[str, Any] = {"decay": 1.0, "shrink": 1.0, "min_lr": 0.0, "clip": 5.0, "clip_lr": False}

ADAM: Mapping[str, Any] = {**_CONSTANT, "optimiser": "adam", "lr": 1e-3}
"""Adam with its default learning rate."""

ADAGRAD: Mapping[str, Any] = {**_CONSTANT, "optimiser": "adagrad", "lr": 0.01}

MOMENTUM: Mapping[str, Any] = {
    **_CONSTANT,
    "optimiser": "sgd",
    "lr": 0.1,
    "momentum": 0.9,
    "shrink": 5.0,
    "min_lr": 1e-5,
}
"""SGD with momentum; the rates are InferSent's, with the usual momentum, since no paper here prints them."""

INFERSENT: Mapping[str, Any] = {
    "optimiser": "sgd",
    "lr": 0.1,
    "decay": 0.99,
    "shrink": 5.0,
    "min_lr": 1e-5,
    "clip": 5.0,
    "clip_lr": True,
    "batch": 64,
    "epochs": 20,
}
"""SGD as in InferSent: the rate falls by 1 % per epoch, and to a fifth after an epoch that is not better on dev."""
