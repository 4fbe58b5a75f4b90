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
from sentprobe.lab.training.lm.masking import MaskedTokens, mask_tokens
from sentprobe.lab.training.lm.tokens import END, PAD

Rows = NDArray[np.int64]


class LanguageModelBatch(NamedTuple):
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


Mask = Callable[[Tensor, Tensor | None], MaskedTokens]


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

    def masked(self, rows: Rows, mask: Mask) -> LanguageModelBatch:
        """Windows with tokens to predict from those on both sides."""
        return self.masked_at(self._starts(rows), self._width, mask)

    def causal(self, rows: Rows) -> LanguageModelBatch:
        """Windows, each token to be predicted from those before it."""
        return self.causal_at(self._starts(rows), self._width)

    def all(self, batch: int) -> Iterator[tuple[Rows, int]]:
        """Where windows begin that cover every token once, in batches of equal length; the last one may be shorter."""
        total = len(self.tokens) - 1
        starts = np.arange(0, total - total % self.length, self.length)
        for at in range(0, len(starts), batch):
            yield starts[at : at + batch], self.length
        if remainder := total % self.length:
            yield np.array([total - remainder]), remainder

    def masked_at(self, starts: Rows, length: int, mask: Mask) -> LanguageModelBatch:
        """A batch of ``all``, with tokens to predict from both sides."""
        masked = mask(self._cut(starts, length), None)
        return LanguageModelBatch(masked.ids, self._languages(len(starts)), None, None, masked.places, masked.targets)

    def causal_at(self, starts: Rows, length: int) -> LanguageModelBatch:
        """A batch of ``all``, each token to be predicted from those before it."""
        tokens = self._cut(starts, length + 1)
        languages = self._languages(len(starts))
        return LanguageModelBatch(tokens[:, :-1], languages, None, None, None, tokens[:, 1:].flatten(), causal=True)

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
class TranslationPairs:
    """Sentences and their translations: ``</s> one </s> </s> its translation </s>``, positions from 0 in each."""

    first: Sequences
    second: Sequences
    languages: tuple[int, int]

    @property
    def lengths(self) -> Rows:
        """Tokens of each pair."""
        return self.first.lengths + self.second.lengths + 4

    def masked(self, rows: Rows, mask: Mask) -> LanguageModelBatch:
        """Pairs with tokens to predict on both sides."""
        texts = [(self.first[number], self.second[number]) for number in rows.tolist()]
        lengths = np.array([len(first) + len(second) + 4 for first, second in texts])
        shape = len(texts), int(lengths.max(initial=1))
        ids = np.full(shape, PAD, np.int64)
        positions, languages = np.zeros(shape, np.int64), np.full(shape, self.languages[0])
        for row, (first, second) in enumerate(texts):
            middle, end = len(first) + 2, len(first) + len(second) + 4
            ids[row, [0, middle - 1, middle, end - 1]] = END
            ids[row, 1 : middle - 1], ids[row, middle + 1 : end - 1] = first, second
            positions[row, :middle], positions[row, middle:end] = np.arange(middle), np.arange(end - middle)
            languages[row, middle:end] = self.languages[1]
        sizes = None if (lengths == shape[1]).all() else torch.from_numpy(lengths)
        masked = mask(torch.from_numpy(ids), sizes)
        layout = torch.from_numpy(languages), torch.from_numpy(positions), sizes
        return LanguageModelBatch(masked.ids, *layout, masked.places, masked.targets)


def masker(weights: Tensor, share: float, *, always: bool = False) -> Mask:
    """Chooses tokens with these weights; with ``always``, all of them become MASK."""
    return lambda ids, lengths: mask_tokens(ids, lengths, weights, share, always=always)
