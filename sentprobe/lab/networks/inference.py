"""Encoding with a trained network, whatever library computes: arrays in, arrays out, in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

BACKENDS = ("torch", "numpy")
"""The libraries that can compute a network; numpy only some architectures, see ``inference_numpy``."""
BATCH_WORDS = 2048
"""Words, with padding, that are encoded together: more of them leave the cache of a processor."""
MIN_BATCH, MAX_PADDED = 32, 4 / 3
"""After this many sentences, a batch ends at one that is longer than the first by this factor."""


class Inference(Protocol):
    """A network with its weights. Batches are word ids (sentences, time), padded at the end, and lengths."""

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


def batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The indices of sentences of similar length, shortest first; the last of a batch is its longest."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    start = 0
    while start < len(order):
        end = start + 1
        longest = MAX_PADDED * lengths[order[start]]
        while end < len(order) and (end + 1 - start) * (length := lengths[order[end]]) <= BATCH_WORDS:
            if length > longest and end - start >= MIN_BATCH:
                break
            end += 1
        yield order[start:end]
        start = end
