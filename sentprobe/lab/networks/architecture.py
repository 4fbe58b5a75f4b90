"""Architectures, from the word vectors of a sentence to one vector, and the configuration of a network of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from sentprobe.core.arguments import Setting, Settings, Value
from sentprobe.core.plugins import part_repr

if TYPE_CHECKING:
    from torch import Tensor


class Encoded(NamedTuple):
    """What a body makes of a batch of sentences."""

    vectors: Tensor
    """(sentences, size): one per sentence, the same whatever else is in the batch."""
    layers: tuple[Tensor, ...]
    """The states (sentences, time, width) of each layer, lowest first; undefined after the end of a sentence."""


class Body(Protocol):
    """A torch module: an architecture in some size."""

    size: int
    """Dimensions of a sentence vector."""
    pools_max: bool
    """Whether the vector is the maximum over time of the states of the last layer, dimension by dimension."""

    def __call__(self, inputs: Tensor, lengths: Tensor, /) -> Encoded:
        """Encode a batch: inputs (sentences, time, width), padded at the end; lengths (sentences,), 1 or more."""
        ...


@dataclass(frozen=True)
class Architecture:
    """A kind of network, with its sizes as settings.

    Parameters
    ----------
    name
        What users type: ``bilstm-max``.
    summary
        One line.
    build
        From the width of the word vectors and the settings to a torch module with random weights.
    settings
        Its sizes, by name, with their defaults.
    order
        Its place in lists.
    reads_ids
        Whether the body is called with the numbers of the words (sentences, time) as well, after the lengths.
    word_deviation
        The standard deviation of learned word vectors of this width before training. Where positions are added to them,
        they must not drown these.

    Examples
    --------
    >>> from sentprobe.lab.networks import ARCHITECTURES
    >>> ARCHITECTURES.get("bilstm-max")
    Architecture('bilstm-max')
    >>> sorted(ARCHITECTURES.get("bilstm-max").settings)
    ['dropout', 'hidden', 'layers']
    """

    name: str
    summary: str
    build: Callable[[int, Settings], Body]
    settings: Mapping[str, Setting] = field(default_factory=dict)
    order: int = 0
    reads_ids: bool = False
    word_deviation: Callable[[int], float] = lambda width: 1.0

    __repr__ = part_repr


@dataclass(frozen=True)
class NetworkConfig:
    """Architecture, sizes, and how texts are read."""

    architecture: str
    settings: dict[str, Value]
    words: int
    """Words in the vocabulary, without the unknown word."""
    width: int
    """Dimensions of the word vectors."""
    projection: int = 0
    """Dimensions to which word vectors are projected; 0 for none."""
    frozen: bool = True
    """Whether word vectors are given and fixed; otherwise they are weights."""
    tokenise: str = "simple"
    case: Literal["fallback", "lower", "as-is"] = "fallback"
    unknown: Literal["drop", "keep"] = "drop"
    seed: int = 1111
    """Of the initial weights."""
