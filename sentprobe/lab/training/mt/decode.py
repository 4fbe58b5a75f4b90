"""Decoding: sentences in, their translations out, with the keys and values of earlier tokens kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

from sentprobe.lab.networks.xlm import Cache, EncoderMemory
from sentprobe.lab.training.lm.tokens import BEGIN, END, MASK, PAD, UNKNOWN
from sentprobe.lab.training.search import Ends, DecodedText, search

if TYPE_CHECKING:
    from sentprobe.lab.training.mt.model import TranslationModel

ENDS = Ends(END, END)
NEVER = [BEGIN, PAD, UNKNOWN, MASK]
"""Tokens that are in no text."""
RATIO, MORE = 1.5, 10
"""An output is cut off after this many times the tokens of its source, and a few more."""


@dataclass(eq=False)
class TransformerSteps:
    """A decoder in the course of a search."""

    model: TranslationModel
    memory: EncoderMemory
    language: int
    cache: Cache = field(default_factory=Cache)

    def step(self, tokens: Tensor) -> Tensor:
        """The log-probabilities (rows, vocabulary) of the next token after tokens (rows,)."""
        decoder = self.model.decoder
        languages = torch.full((len(tokens), 1), self.language, device=tokens.device)
        states = decoder(tokens[:, None], languages, memory=self.memory, cache=self.cache)
        scores = functional.linear(states[:, 0], decoder.embeddings.weight, self.model.bias)
        scores[:, NEVER] = -torch.inf
        return torch.log_softmax(scores, 1)

    def keep(self, rows: Tensor) -> None:
        """Go on with the sentences of these rows only."""
        lengths = self.memory.lengths
        self.memory = EncoderMemory(self.memory.states[rows], None if lengths is None else lengths[rows])
        self.cache.choose(rows)

    def reorder(self, rows: Tensor) -> None:
        """Go on with these rows, each in the place of one of the same sentence, which was read alike."""
        for part, (key, value) in self.cache.past.items():
            self.cache.past[part] = key[rows], value[rows]


def translate(
    model: TranslationModel, ids: Tensor, lengths: Tensor, language: int, target: int, beam: int = 1
) -> list[DecodedText]:
    """Translate sentences (sentences, time) with END at both ends from one language to another, by their numbers.

    Outputs are never longer than what the encoder reads, with its ends: back-translation gives them to it.
    """
    memory = model.read(ids, lengths, language)
    longest = (lengths * RATIO + MORE).long().clamp(max=model.encoder.sizes.positions - 2)
    return search(lambda: TransformerSteps(model, memory, target), longest, ENDS, beam)


def without_end(tokens: list[int]) -> list[int]:
    """The tokens of an output but for the END that ends it."""
    return tokens[:-1] if tokens[-1:] == [END] else tokens
