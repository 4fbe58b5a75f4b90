"""What encodes with a trained network, whatever library computes: arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

BACKENDS = ("torch", "numpy")
"""The libraries that can compute a network; numpy only some of them, see ``numpy_forms``."""


class Forward(Protocol):
    """A network with its weights. Batches are numbers of words (sentences, time), padded at the end, and lengths."""

    @property
    def size(self) -> int:
        """Dimensions of a sentence vector."""
        ...

    @property
    def pools_max(self) -> bool:
        """Whether the vector is the maximum over time of the states of the last layer, dimension by dimension."""
        ...

    def inputs(self, ids: Ints, /) -> Floats:
        """The vectors (sentences, time, width) of the words."""
        ...

    def vectors(self, ids: Ints, lengths: Ints, /) -> Floats:
        """The vectors (sentences, size) of sentences."""
        ...

    def pooled(self, ids: Ints, lengths: Ints, layers: Sequence[int], pool: str, /) -> Floats:
        """The mean, max or last state of layers, 0 for the word vectors: (layers, sentences, width)."""
        ...

    def shares(self, ids: Ints, lengths: Ints, layer: int, /) -> Floats:
        """(sentences, time): the share of dimensions of a layer whose maximum over time is at a word."""
        ...

    def widths(self) -> list[int]:
        """The dimensions of the states of each layer, first those of the word vectors."""
        ...
