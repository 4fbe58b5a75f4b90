"""Batches of a language model: windows of a text in one language, or pairs of sentences in two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.masking import Masked, mask_tokens
from sentprobe.lab.training.lm.tokens import END, PAD

Rows = NDArray[np.int64]


class Batch(NamedTuple):
    """What a language model reads, and what it is to predict."""

    ids: Tensor
    """(sentences, time)."""
    languages: Tensor
    """The number of the language of each token, or of each sentence: broadcasts to the shape of ids."""
    positions: Tensor | None
    """(sentences, time); None: from 0."""
    lengths: Tensor | None
    """(sentences,); None: there is no padding."""
    places: Tensor | None
    """The tokens, among all of the batch, whose states predict a target; None: all of them."""
    targets: Tensor
    """(predicted,)."""
    causal: bool = False


Mask = Callable[[Tensor, Tensor | None], Masked]


@dataclass(frozen=True, eq=False)
class Windows:
    """A text in one language as windows of equal length, cut without regard to sentences.

    The first token of the text is END, and so is the last one of every sentence.
    """

    tokens: NDArray[np.int32]
    language: int
    length: int

    @property
    def lengths(self) -> Rows:
        """Of all windows, the same for each: the last one begins within the one before it."""
        return np.full(max(1, -(-(len(self.tokens) - 1) // self.length)), self._width, np.int64)

    def masked(self, rows: Rows, mask: Mask) -> Batch:
        """Windows with tokens to predict from those on both sides."""
        return self.masked_at(self._starts(rows), self._width, mask)

    def causal(self, rows: Rows) -> Batch:
        """Windows, each token to be predicted from those before it."""
        return self.causal_at(self._starts(rows), self._width)

    def all(self, batch: int) -> Iterator[tuple[Rows, int]]:
        """Where windows begin that cover every token once, in batches of equal length; the last one may be shorter."""
        total = len(self.tokens) - 1
        starts = np.arange(0, total - total % self.length, self.length)
        for at in range(0, len(starts), batch):
            yield starts[at : at + batch], self.length
        if rest := total % self.length:
            yield np.array([total - rest]), rest

    def masked_at(self, starts: Rows, length: int, mask: Mask) -> Batch:
        """A batch of ``all``, with tokens to predict from both sides."""
        found = mask(self._cut(starts, length), None)
        return Batch(found.ids, self._languages(len(starts)), None, None, found.places, found.targets)

    def causal_at(self, starts: Rows, length: int) -> Batch:
        """A batch of ``all``, each token to be predicted from those before it."""
        found = self._cut(starts, length + 1)
        languages = self._languages(len(starts))
        return Batch(found[:, :-1], languages, None, None, None, found[:, 1:].flatten(), causal=True)

    @property
    def _width(self) -> int:
        return min(self.length, len(self.tokens) - 1)

    def _starts(self, rows: Rows) -> Rows:
        return np.minimum(rows * self.length, max(0, len(self.tokens) - 1 - self.length))

    def _cut(self, starts: Rows, length: int) -> Tensor:
        return torch.from_numpy(self.tokens[starts[:, None] + np.arange(length)].astype(np.int64))

    def _languages(self, count: int) -> Tensor:
        return torch.full((count, 1), self.language)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sentences and their translations: ``</s> one </s> </s> its translation </s>``, positions from 0 in each."""

    first: Sequences
    second: Sequences
    languages: tuple[int, int]

    @property
    def lengths(self) -> Rows:
        """Tokens of each pair."""
        return self.first.lengths + self.second.lengths + 4

    def masked(self, rows: Rows, mask: Mask) -> Batch:
        """Pairs with tokens to predict on both sides."""
        texts = [(self.first[row], self.second[row]) for row in rows.tolist()]
        lengths = np.array([len(one) + len(two) + 4 for one, two in texts])
        shape = len(texts), int(lengths.max(initial=1))
        ids = np.full(shape, PAD, np.int64)
        positions, languages = np.zeros(shape, np.int64), np.full(shape, self.languages[0])
        for place, (one, two) in enumerate(texts):
            middle, end = len(one) + 2, len(one) + len(two) + 4
            ids[place, [0, middle - 1, middle, end - 1]] = END
            ids[place, 1 : middle - 1], ids[place, middle + 1 : end - 1] = one, two
            positions[place, :middle], positions[place, middle:end] = np.arange(middle), np.arange(end - middle)
            languages[place, middle:end] = self.languages[1]
        sizes = None if (lengths == shape[1]).all() else torch.from_numpy(lengths)
        found = mask(torch.from_numpy(ids), sizes)
        more = torch.from_numpy(languages), torch.from_numpy(positions), sizes
        return Batch(found.ids, *more, found.places, found.targets)


def masker(weights: Tensor, share: float, *, always: bool = False) -> Mask:
    """Chooses tokens with these weights; with ``always``, all of them become MASK."""
    return lambda ids, lengths: mask_tokens(ids, lengths, weights, share, always=always)
