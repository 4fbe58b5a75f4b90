"""An encoder and a decoder that read and write in several languages."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from sentprobe.lab.networks.kernels import output_loss
from sentprobe.lab.networks.sequences import padding_mask
from sentprobe.lab.networks.xlm import XLM, EncoderMemory, Sizes
from sentprobe.lab.training.lm.model import Bias
from sentprobe.lab.training.mt.decode import translate, without_end
from sentprobe.lab.training.mt.noise import denoising_weight
from sentprobe.lab.training.mt.padding import pad
from sentprobe.lab.training.objective import Loss

BatchKind = Literal["pairs", "denoise", "back"]


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
    language: int
    """Of the target."""
    other: int
    """The language that it is translated from."""


class TranslationModel(nn.Module):
    """The encoder's weights have the names that `transformers` has for them in its XLM."""

    steps: Tensor

    def __init__(self, sizes: Sizes, schedule: tuple[tuple[int, float], ...] = ((0, 1.0),)) -> None:
        """``schedule`` is the weight of denoising by the number of steps."""
        super().__init__()
        self.transformer, self.decoder = XLM(sizes), XLM(sizes, decoder=True)
        self.pred_layer = nn.ModuleDict({"proj": Bias(sizes.tokens)})
        self.schedule = schedule
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))

    @property
    def encoder(self) -> XLM:
        """The part that reads."""
        return self.transformer

    @property
    def bias(self) -> Tensor:
        """Of the output layer, whose other weights are the decoder's vectors of tokens."""
        bias: Any = self.pred_layer["proj"].bias
        return bias  # type: ignore[no-any-return]

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
        memory = self.read(source, lengths, batch.language if kind == "denoise" else batch.other)
        inputs, targets = batch.target[:, :-1], batch.target[:, 1:]
        states = self.decoder(inputs, _languages(inputs, batch.language), causal=True, memory=memory)
        inside = ~padding_mask(batch.target_lengths - 1, inputs.shape[1])
        loss = output_loss(states[inside], targets[inside], self.decoder.embeddings.weight, self.bias)
        units = int(batch.target_lengths.sum()) - len(targets)
        return Loss(loss * weight, units, int(lengths.sum()) + int(batch.target_lengths.sum()))

    def _back(self, batch: TranslationBatch) -> tuple[Tensor, Tensor]:
        """What the model, as it is, makes of the targets in the other language: greedily, without gradient."""
        training = self.training
        self.eval()
        with torch.no_grad():
            translations = translate(self, batch.target, batch.target_lengths, batch.language, batch.other)
        self.train(training)
        ids, lengths = pad([without_end(output.tokens) for output in translations])
        return ids.to(batch.target.device), lengths.to(batch.target.device)


def _languages(ids: Tensor, language: int) -> Tensor:
    return torch.full((len(ids), 1), language, device=ids.device)
