"""What SentEval's clients import from ``senteval.utils``; the name is SentEval's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sentprobe.errors import NotInstalled, UsageError

__all__ = ["cosine", "create_dictionary", "dotdict", "get_optimizer"]

TORCH_OPTIMISERS = {
    "adadelta": "Adadelta",
    "adagrad": "Adagrad",
    "adam": "Adam",
    "adamax": "Adamax",
    "asgd": "ASGD",
    "rmsprop": "RMSprop",
    "rprop": "Rprop",
    "sgd": "SGD",
}
"""The names of the optimisers, and torch's classes for them."""
_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")


class dotdict(dict[str, Any]):  # noqa: N801 - SentEval's name
    """A dictionary whose items are also attributes; one that is missing is None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        del self[name]


def cosine(u: Any, v: Any) -> Any:
    """The cosine of two vectors (d,); NaN if one is zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))


def create_dictionary(sentences: Iterable[Sequence[Any]]) -> tuple[list[Any], dict[Any, int]]:
    """The words of some sentences, the most frequent first, after the marks ``<s>``, ``</s>`` and ``<p>``."""
    counts: dict[Any, int] = {}
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
    marks = ("<s>", "</s>", "<p>")
    ranked = sorted((word for word in counts if word not in marks), key=lambda word: -counts[word])
    words = [*marks, *ranked]
    return words, {word: i for i, word in enumerate(words)}


def parse_optimiser(text: str) -> tuple[str, dict[str, float]]:
    """Parse ``name[,key=number]*``, such as ``sgd,lr=0.1``, into the name and the numbers, which are plain decimals."""
    name, *options = text.split(",")
    if name not in TORCH_OPTIMISERS:
        raise UsageError(f"There is no optimiser {name!r} (optim={text!r}); expected {', '.join(TORCH_OPTIMISERS)}.")
    numbers = {}
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not _DECIMAL.fullmatch(value):
            raise AssertionError(
                f"optim={text!r} has {option!r}; expected key=number without an exponent, as in sgd,lr=0.1."
            )
        numbers[key] = float(value)
    if name == "sgd" and "lr" not in numbers:
        raise AssertionError(f"optim={text!r}: sgd needs a learning rate, as in sgd,lr=0.1.")
    return name, numbers


def get_optimizer(s: str) -> tuple[Any, dict[str, float]]:
    """torch's class of an optimiser that is written ``name[,key=number]*``, and the numbers."""
    name, options = parse_optimiser(s)
    try:
        from torch import optim
    except ImportError as why:
        raise NotInstalled(
            f"The optimiser {s!r} needs torch, which cannot be imported ({why}): pip install torch, or use one of "
            "adam, adagrad, rmsprop and sgd, with no other option than lr."
        ) from why
    optimiser = getattr(optim, TORCH_OPTIMISERS[name])
    available = list(inspect.signature(optimiser.__init__).parameters)[2:]  # without self and params
    if unknown := [key for key in options if key not in available]:
        raise UsageError(
            f"optim={s!r} has {', '.join(unknown)}, which torch's {name} does not have; expected some of {available}."
        )
    return optimiser, options
