"""Released recurrent encoders: the tokens of a text, the vectors of tokens, and a network over these."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity
from sentprobe.networks.batches import batches_by_length
from sentprobe.networks.forward import Floats, Ints

Tokens = Callable[[str], list[str]]
Lookup = Callable[[Sequence[str]], Floats]
"""From distinct tokens to their vectors (n, width)."""


@dataclass(frozen=True, eq=False, repr=False)
class MaxOverStates:
    """The maximum over the states of a network that has read the tokens of a text; zeros for a text without any."""

    identity: Identity
    network: Any
    """A ``ReleasedLstm``, whose module imports torch."""
    tokens: Tokens
    lookup: Lookup
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    """What stands before and after the tokens of every text."""
    batch_size: int = 1024

    def __repr__(self) -> str:
        return short_repr(self, f"{self.identity.scheme}:{self.identity.name}", f"{self.network.size} dimensions")

    def __call__(self, texts: Sequence[str], /) -> Floats:
        """Vectors (n, size)."""
        return encode_tokens(self._rows(texts), self.lookup, self.network.vectors, self.network.size)

    def words(self, words: Sequence[str], /) -> Floats:
        """The mean of the input vectors of each word's tokens (n, width); zeros for a word without any."""
        return mean_inputs([self.tokens(word) for word in as_texts(words)], self.lookup, self.network.width)

    def selection(self, texts: Sequence[str], /) -> list[list[tuple[str, float]]]:
        """The tokens of each text, and the share of dimensions whose maximum each of them gives."""
        rows = self._rows(texts)
        found: list[list[tuple[str, float]]] = [[] for _ in rows]
        for places, inputs, lengths in batched_inputs(rows, self.lookup):
            for i, shares in zip(places, self.network.shares(inputs, lengths).tolist(), strict=True):
                found[i] = list(zip(rows[i], shares[: len(rows[i])], strict=True))
        return found

    def _rows(self, texts: Sequence[str]) -> list[list[str]]:
        return [[*self.begin, *self.tokens(text), *self.end] for text in as_texts(texts)]


def encode_tokens(
    rows: Sequence[Sequence[str]], lookup: Lookup, network: Callable[[Floats, Ints], Floats], size: int
) -> Floats:
    """Vectors (n, size) of lists of tokens; zeros for an empty one."""
    made = np.zeros((len(rows), size), np.float32)
    for places, inputs, lengths in batched_inputs(rows, lookup):
        made[places] = network(inputs, lengths)
    return made


def batched_inputs(rows: Sequence[Sequence[str]], lookup: Lookup) -> Iterator[tuple[list[int], Floats, Ints]]:
    """Places, inputs (sentences, time, width) and lengths of the lists that are not empty, in batches."""
    table, ids = _numbered(rows, lookup)
    filled = [i for i, row in enumerate(rows) if row]
    for batch in batches_by_length([len(rows[i]) for i in filled]):
        places = [filled[i] for i in batch]
        lengths = np.array([len(rows[i]) for i in places], np.int64)
        inputs = np.zeros((len(places), int(lengths[-1]), table.shape[1]), np.float32)
        for line, i in zip(inputs, places, strict=True):
            line[: len(rows[i])] = table[ids[i]]
        yield places, inputs, lengths


def mean_inputs(rows: Sequence[Sequence[str]], lookup: Lookup, width: int) -> Floats:
    """The means (n, width) of the vectors of lists of tokens; zeros for an empty one."""
    table, ids = _numbered(rows, lookup)
    made = np.zeros((len(rows), width), np.float32)
    for line, own in zip(made, ids, strict=True):
        if len(own):
            line[:] = table[own].mean(0, dtype=np.float64)
    return made


def _numbered(rows: Sequence[Sequence[str]], lookup: Lookup) -> tuple[Floats, list[NDArray[np.int64]]]:
    """The vectors of the distinct tokens, and the tokens of each list as numbers of these."""
    known: dict[str, int] = {}
    ids = [np.array([known.setdefault(token, len(known)) for token in row], np.int64) for row in rows]
    return lookup(list(known)), ids
