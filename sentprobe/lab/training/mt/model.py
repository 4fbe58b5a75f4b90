"""An encoder and a decoder that read and write in several languages: batches, losses, and translating with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from sentprobe.lab.networks.kernels import output_loss
from sentprobe.lab.networks.sequences import padding_mask
from sentprobe.lab.networks.xlm import XLM, Cache, EncoderMemory, Sizes
from sentprobe.lab.training.lm.model import Bias, TokenPredictor
from sentprobe.lab.training.lm.tokens import BEGIN, END, MASK, PAD, UNKNOWN
from sentprobe.lab.training.objective import Loss
from sentprobe.lab.training.search import DecodedText, Ends, search

BatchKind = Literal["pairs", "denoise", "back"]
ENDS = Ends(END, END)
NEVER = [BEGIN, PAD, UNKNOWN, MASK]
"""Tokens that are in no text."""
RATIO, MORE = 1.5, 10
"""An output is cut off after this many times the tokens of its source, and a few more: as in XLM's evaluator."""


class TranslationBatch(NamedTuple):
    """Sentences in one language, and what they are to be decoded from."""

    kind: BatchKind
    """With ``back``, the source is what the model makes of the target, in the other language."""
    source: Tensor | None
    """(sentences, time), END at both ends, padded."""
    source_lengths: Tensor | None
    target: Tensor
    """(sentences, time), END at both ends, padded."""
    target_lengths: Tensor
    target_language: int
    source_language: int
    """What it is translated from."""


class TranslationModel(TokenPredictor):
    """The encoder's weights have the names that `transformers` has for them in its XLM."""

    steps: Tensor

    def __init__(self, sizes: Sizes, schedule: tuple[tuple[int, float], ...] = ((0, 1.0),)) -> None:
        """``schedule`` is the weight of denoising by the number of steps."""
        super().__init__()
        self.transformer, self.decoder = XLM(sizes), XLM(sizes, decoder=True)
        self.pred_layer = nn.ModuleDict({"proj": Bias(sizes.tokens)})
        self.schedule = schedule
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    def read(self, ids: Tensor, lengths: Tensor, language: int) -> EncoderMemory:
        """Encode sentences (sentences, time) in one language."""
        sizes = None if bool((lengths == ids.shape[1]).all()) else lengths
        return EncoderMemory(self.transformer(ids, _languages(ids, language), None, sizes), sizes)

    def forward(self, batch: TranslationBatch) -> Loss:
        """The cross-entropy of the target tokens, each after those before it; in training, a call is a step."""
        kind, weight = batch.kind, 1.0
        if kind == "denoise":
            weight = denoising_weight(self.schedule, int(self.steps))
            if not weight:  # when denoising has ended, its steps are back-translation
                kind, weight = "back", 1.0
        if self.training:
            self.steps += 1
        source, lengths = batch.source, batch.source_lengths
        if kind == "back":
            source, lengths = self._back(batch)
        assert source is not None
        assert lengths is not None
        memory = self.read(source, lengths, batch.target_language if kind == "denoise" else batch.source_language)
        inputs, targets = batch.target[:, :-1], batch.target[:, 1:]
        states = self.decoder(inputs, _languages(inputs, batch.target_language), causal=True, memory=memory)
        inside = ~padding_mask(batch.target_lengths - 1, inputs.shape[1])
        loss = output_loss(states[inside], targets[inside], self.decoder.embeddings.weight, self.bias)
        units = int(batch.target_lengths.sum()) - len(targets)
        return Loss(loss * weight, units, int(lengths.sum()) + int(batch.target_lengths.sum()))

    def _back(self, batch: TranslationBatch) -> tuple[Tensor, Tensor]:
        """What the model, as it is, makes of the targets in the other language: greedily, without gradient."""
        training = self.training
        self.eval()
        with torch.no_grad():
            translations = translate(
                self, batch.target, batch.target_lengths, batch.target_language, batch.source_language
            )
        self.train(training)
        ids, lengths = pad([without_end(output.tokens) for output in translations])
        return ids.to(batch.target.device), lengths.to(batch.target.device)


def denoising_weight(schedule: tuple[tuple[int, float], ...], step: int) -> float:
    """The weight of denoising after a number of steps: linear between the points of the schedule."""
    at, weights = zip(*schedule, strict=True)
    return float(np.interp(step, at, weights))


def _languages(ids: Tensor, language: int) -> Tensor:
    return torch.full((len(ids), 1), language, device=ids.device)


def pad(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> tuple[Tensor, Tensor]:
    """Sentences (rows, time), END at both ends, padded, and their lengths."""
    lengths = np.array([len(row) + 2 for row in rows], np.int64)
    padded = np.full((len(rows), int(lengths.max(initial=2))), PAD, np.int64)
    for i, row in enumerate(rows):
        padded[i, [0, len(row) + 1]] = END
        padded[i, 1 : len(row) + 1] = row
    return torch.from_numpy(padded), torch.from_numpy(lengths)


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
