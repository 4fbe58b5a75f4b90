"""A decoder that is fed the sentence vector at every step, and an encoder with such a decoder."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import UsageError
from sentprobe.lab.networks.architecture import Encoded
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.networks.kernels import output_loss
from sentprobe.lab.networks.sequences import padding_mask
from sentprobe.lab.training.objective import Loss
from sentprobe.lab.training.targets import BEGIN

SETTINGS = {
    "decoder": Setting(512, "units per layer of the decoder"),
    "decoder_layers": Setting(2, "layers of the decoder"),
    "decoder_dropout": Setting(
        0.0, "dropout on inputs, between layers and on outputs of the decoder", low=0, high=0.99
    ),
    "target_width": Setting(512, "dimensions of the embeddings of target tokens"),
    "vector": Setting("every-step", "where the decoder is given the sentence vector", ("every-step", "start")),
    "attention": Setting(False, "whether the decoder also attends to the states of the encoder"),
}

LstmState = tuple[Tensor, Tensor]
"""Of an LSTM, (layers, sentences, units) each."""


class DecoderBatch(NamedTuple):
    """Sentences, and what to decode from them."""

    source: Tensor
    """(sentences, time)."""
    source_lengths: Tensor
    target: Tensor
    """(sentences, time), with END last."""
    target_lengths: Tensor


class SentenceMemory(NamedTuple):
    """What the decoder knows about each sentence."""

    vectors: Tensor
    """(sentences, size)."""
    states: Tensor | None = None
    """(sentences, time, width), zeros after the end; only for attention."""
    padding: Tensor | None = None
    """(sentences, time): true after the end."""

    def rows(self, which: Tensor) -> SentenceMemory:
        """The memory of some of the sentences."""
        return SentenceMemory(*(None if part is None else part[which] for part in self))  # type: ignore[arg-type]


class Attention(nn.Module):
    """What is added to each state of a decoder: the states of the encoder, weighted by their fit (Luong's general)."""

    def __init__(self, units: int, width: int) -> None:
        super().__init__()
        self.query = nn.Linear(units, width, bias=False)
        self.combine = nn.Linear(units + width, units, bias=False)

    def weights(self, states: Tensor, memory: SentenceMemory) -> Tensor:
        """(sentences, target time, source time): sums to 1 over the words of the source."""
        assert memory.states is not None
        assert memory.padding is not None
        fit = self.query(states) @ memory.states.transpose(1, 2)
        weights: Tensor = fit.masked_fill(memory.padding[:, None], float("-inf")).softmax(2)
        return weights

    def forward(self, states: Tensor, memory: SentenceMemory) -> Tensor:
        """From states (sentences, time, units) to as many of the same shape."""
        assert memory.states is not None
        context = self.weights(states, memory) @ memory.states
        return torch.tanh(self.combine(torch.cat((states, context), 2)))


class Decoder(nn.Module):
    """An LSTM whose input at every step is the sentence vector with the embedding of the previous target token.

    Its first state is zero: the vector, or with attention the encoder's states, is all that it knows of the sentence.
    With ``vector=start`` it is the other way round: the first state is the vector, and inputs are embeddings only.
    """

    def __init__(self, size: int, width: int, vocabulary: int, settings: Settings) -> None:
        """``size`` is that of sentence vectors, ``width`` that of the encoder's states if there is attention, or 0."""
        super().__init__()
        units, layers = int(settings["decoder"]) or size, int(settings["decoder_layers"])
        dropout, embedded = float(settings["decoder_dropout"]), int(settings["target_width"]) or size
        self.starts = settings.get("vector") == "start"
        self.start = nn.Linear(size, units) if self.starts and units != size else nn.Identity()
        self.embedding = nn.Embedding(vocabulary, embedded)
        inputs = embedded if self.starts else embedded + size
        self.lstm = nn.LSTM(inputs, units, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
        self.attention = Attention(units, width) if width else None
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(units, vocabulary)

    def forward(self, tokens: Tensor, memory: SentenceMemory, state: LstmState | None = None) -> tuple[Tensor, LstmState]:
        """Features (sentences, time, units) before the output layer, and the state to go on from.

        ``tokens`` (sentences, time) are the inputs of all steps, so that training needs no loop over time.
        """
        inputs = self.dropout(self.embedding(tokens))
        if not self.starts:
            inputs = torch.cat((inputs, memory.vectors[:, None].expand(-1, tokens.shape[1], -1)), 2)
        elif state is None:
            first = self.start(memory.vectors).expand(self.lstm.num_layers, -1, -1).contiguous()
            state = first, torch.zeros_like(first)
        states, state = self.lstm(inputs, state)
        if self.attention is not None:
            states = self.attention(states, memory)
        return self.dropout(states), state

    def step(self, tokens: Tensor, memory: SentenceMemory, state: LstmState | None) -> tuple[Tensor, LstmState]:
        """The log-probabilities (sentences, vocabulary) of the next token after tokens (sentences,)."""
        features, state = self(tokens[:, None], memory, state)
        return torch.log_softmax(self.output(features[:, 0]), 1), state


class EncoderDecoder(nn.Module):
    """An encoder, and a decoder that it is trained with."""

    def __init__(self, encoder: SentenceEncoder, vocabulary: int, settings: Settings) -> None:
        super().__init__()
        self.encoder = encoder
        width = _states_width(encoder) if settings["attention"] else 0
        self.decoder = Decoder(encoder.size, width, vocabulary, settings)

    def read(self, ids: Tensor, lengths: Tensor) -> SentenceMemory:
        """Encode sentences (sentences, time)."""
        encoded: Encoded = self.encoder(ids, lengths)
        if self.decoder.attention is None:
            return SentenceMemory(encoded.vectors)
        states = encoded.layers[-1]
        padding = padding_mask(lengths, states.shape[1])
        return SentenceMemory(encoded.vectors, states.masked_fill(padding[:, :, None], 0), padding)

    def forward(self, batch: DecoderBatch) -> Loss:
        """The cross-entropy of the target tokens, each after those before it; padding is left out."""
        target, lengths = batch.target, batch.target_lengths
        inputs = torch.cat((torch.full_like(target[:, :1], BEGIN), target[:, :-1]), 1)
        features, _ = self.decoder(inputs, self.read(batch.source, batch.source_lengths))
        inside = ~padding_mask(lengths, target.shape[1])
        output = self.decoder.output
        loss = output_loss(features[inside], target[inside], output.weight, output.bias)
        tokens = int(lengths.sum())
        return Loss(loss, tokens, int(batch.source_lengths.sum()) + tokens)


def build_model(encoder: SentenceEncoder, vocabulary: int, settings: Settings, seed: int) -> EncoderDecoder:
    """A model whose decoder has random weights: the same for the same seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return EncoderDecoder(encoder, vocabulary, settings)


def _states_width(encoder: SentenceEncoder) -> int:
    """The width of the states of the encoder's last layer."""
    training = encoder.training
    with torch.no_grad():
        layers = encoder.eval()(torch.zeros((1, 1), dtype=torch.long), torch.ones(1, dtype=torch.long)).layers
    encoder.train(training)
    if not layers:
        raise UsageError("attention=yes: the encoder has no states of words to attend to; choose another --encoder.")
    return int(layers[-1].shape[2])
