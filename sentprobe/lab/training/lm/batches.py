"""Batches of a language model: windows of a text, or pairs of sentences, and which of their tokens are to be predicted.

As in XLM, these are a fixed share of the tokens of the batch, rare ones more often than frequent ones; 80 % of them
become MASK, 10 % a random token, and 10 % stay. The first token of a sequence, padding and special tokens are never
chosen. On dev all tokens are alike, and those that are chosen always become MASK: what is scored is the text as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.lab.training.examples import ExampleNumbers, Sequences
from sentprobe.lab.training.lm.tokens import END, MASK, PAD, SPECIAL

MASKED, RANDOM = 0.8, 0.1
"""Shares of the chosen tokens; the others stay."""


class MaskedTokens(NamedTuple):
    """A batch with some tokens to be predicted."""

    ids: Tensor
    """(sentences, time)."""
    token_indices: Tensor
    """(predicted,), the numbers of these tokens among all tokens of the batch, ascending."""
    targets: Tensor
    """(predicted,), what they were."""


def choice_weights(counts: NDArray[np.int64], exponent: float) -> Tensor:
    """The weight of each token (tokens,), from how often it occurs: the count to the power of minus the exponent."""
    weights = np.maximum(counts, 1).astype(np.float64) ** -exponent
    weights[: len(SPECIAL)] = 0
    return torch.from_numpy(weights)


def mask_tokens(
    ids: Tensor, lengths: Tensor | None, weights: Tensor, share: float, *, always: bool = False
) -> MaskedTokens:
    """Choose a share of the tokens, by weight and without replacement, with torch's random numbers.

    With ``always``, all of them become MASK.
    """
    sentences, time = ids.shape
    chances = weights[ids].log()
    chances[:, 0] = -math.inf
    total = sentences * time
    if lengths is not None:
        chances.masked_fill_(torch.arange(time) >= lengths[:, None], -math.inf)
        total = int(lengths.sum())
    count = min(math.ceil(share * total), int(chances.isfinite().sum()))
    # mask_out of XLM draws with np.random.choice and its p; the largest of log-weights with Gumbel noise are the same
    # sample without replacement (Kool, van Hoof and Welling 2019), on tensors, and nothing underflows
    noisy = (chances - torch.empty_like(chances).exponential_().log()).masked_fill(chances.isinf(), -math.inf)
    indices = noisy.flatten().topk(count).indices.sort().values
    targets = ids.flatten()[indices]
    if always:
        return MaskedTokens(ids.flatten().index_fill(0, indices, MASK).view_as(ids), indices, targets)
    draw = torch.rand(count)
    random_tokens = torch.randint(len(SPECIAL), len(weights), (count,))
    replacements = torch.where(draw < MASKED, MASK, torch.where(draw < MASKED + RANDOM, random_tokens, targets))
    return MaskedTokens(ids.flatten().index_copy(0, indices, replacements).view_as(ids), indices, targets)


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
    token_indices: Tensor | None
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
    def lengths(self) -> ExampleNumbers:
        """Of all windows, the same for each: the last one begins within the one before it."""
        return np.full(max(1, -(-(len(self.tokens) - 1) // self.length)), self._width, np.int64)

    def masked(self, rows: ExampleNumbers, mask: Mask) -> LanguageModelBatch:
        """Windows with tokens to predict from those on both sides."""
        return self.masked_at(self._starts(rows), self._width, mask)

    def causal(self, rows: ExampleNumbers) -> LanguageModelBatch:
        """Windows, each token to be predicted from those before it."""
        return self.causal_at(self._starts(rows), self._width)

    def all(self, batch: int) -> Iterator[tuple[ExampleNumbers, int]]:
        """Where windows begin that cover every token once, in batches of equal length; the last one may be shorter."""
        total = len(self.tokens) - 1
        starts = np.arange(0, total - total % self.length, self.length)
        for at in range(0, len(starts), batch):
            yield starts[at : at + batch], self.length
        if remainder := total % self.length:
            yield np.array([total - remainder]), remainder

    def masked_at(self, starts: ExampleNumbers, length: int, mask: Mask) -> LanguageModelBatch:
        """A batch of ``all``, with tokens to predict from both sides."""
        masked = mask(self._cut(starts, length), None)
        return LanguageModelBatch(
            masked.ids, self._languages(len(starts)), None, None, masked.token_indices, masked.targets
        )

    def causal_at(self, starts: ExampleNumbers, length: int) -> LanguageModelBatch:
        """A batch of ``all``, each token to be predicted from those before it."""
        tokens = self._cut(starts, length + 1)
        languages = self._languages(len(starts))
        return LanguageModelBatch(tokens[:, :-1], languages, None, None, None, tokens[:, 1:].flatten(), causal=True)

    @property
    def _width(self) -> int:
        return min(self.length, len(self.tokens) - 1)

    def _starts(self, rows: ExampleNumbers) -> ExampleNumbers:
        return np.minimum(rows * self.length, max(0, len(self.tokens) - 1 - self.length))

    def _cut(self, starts: ExampleNumbers, length: int) -> Tensor:
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
    def lengths(self) -> ExampleNumbers:
        """Tokens of each pair."""
        return self.first.lengths + self.second.lengths + 4

    def masked(self, rows: ExampleNumbers, mask: Mask) -> LanguageModelBatch:
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
        return LanguageModelBatch(masked.ids, *layout, masked.token_indices, masked.targets)


def masker(weights: Tensor, share: float, *, always: bool = False) -> Mask:
    """Chooses tokens with these weights; with ``always``, all of them become MASK."""
    return lambda ids, lengths: mask_tokens(ids, lengths, weights, share, always=always)
