"""A decoder that is fed the sentence vector at every step: its model, and the texts that it generates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.architecture import Encoded
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.networks.folder import WEIGHTS, Checkpoint, TrainedFolder, open_folder
from sentprobe.lab.networks.kernels import output_loss
from sentprobe.lab.networks.sequences import padding_mask
from sentprobe.lab.networks.vocabulary import Vocabulary
from sentprobe.lab.training.objective import Loss
from sentprobe.lab.training.search import DecodedText, Ends, search
from sentprobe.lab.training.targets import BEGIN, END, Targets, read_targets

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
ENDS = Ends(BEGIN, END)
BATCH = 128
"""Sentences that are decoded together."""


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

    def forward(
        self, tokens: Tensor, memory: SentenceMemory, state: LstmState | None = None
    ) -> tuple[Tensor, LstmState]:
        """Features (sentences, time, units) before the output layer, and the state after them.

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
        raise UsageError(
            "attention=yes: the encoder has no states of words to attend to; choose another --architecture."
        )
    return int(layers[-1].shape[2])


@dataclass(frozen=True, eq=False)
class TextGenerator:
    """A trained encoder with its decoder, and the words of both sides."""

    model: EncoderDecoder
    vocabulary: Vocabulary
    targets: Targets
    longest: int
    """Tokens after which an output is cut off: those of the longest target in training."""

    def __call__(self, texts: Sequence[str], beam: int = 1) -> list[str]:
        """What the decoder makes of each text, with a beam of this width; 1 is greedy."""
        if beam < 1:
            raise UsageError(f"beam={beam}: expected 1 or more.")
        rows = [self.vocabulary.ids(text) for text in texts]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        outputs = [""] * len(rows)
        with torch.inference_mode():
            for at in range(0, len(order), BATCH):
                batch = order[at : at + BATCH]
                time = len(rows[batch[-1]])
                ids = torch.tensor([rows[i] + [0] * (time - len(rows[i])) for i in batch])
                decoded = decode(self.model, ids, torch.tensor([len(rows[i]) for i in batch]), self.longest, beam)
                for i, text in zip(batch, self.targets.decode([out.tokens for out in decoded]), strict=True):
                    outputs[i] = text
        return outputs


def load_generator(folder: TrainedFolder, checkpoint: Checkpoint | None = None) -> TextGenerator:
    """The model of a checkpoint, by default the best one, with all that it needs to generate texts."""
    request, facts = folder.config.get("request", {}), folder.config.get("facts", {})
    if "decoder" not in request.get("objective_settings", {}):
        raise UsageError(
            f"{folder.path} was trained with {request.get('objective')}, which generates no texts; expected a folder "
            "of mt, translate, autoencode, reconstruct, tree or next."
        )
    checkpoint = checkpoint or folder.best()
    targets = read_targets(folder.job)
    encoder = folder.encoder(None)
    model = build_model(encoder, len(targets), request["objective_settings"], 0)
    try:
        model.load_state_dict(folder.weights(checkpoint))
    except RuntimeError as e:
        raise DataError(f"{folder.path / checkpoint.name / WEIGHTS} is not of this network: {e}.") from None
    return TextGenerator(model.eval(), folder.vocabulary, targets, int(facts["longest target"]))


def generate(folder: Path, texts: Sequence[str], beam: int = 1) -> list[str]:
    """What the best checkpoint of a trained folder makes of each text: a translation, a tree, the next sentence."""
    return load_generator(open_folder(folder))(texts, beam)


def decode(model: EncoderDecoder, ids: Tensor, lengths: Tensor, longest: int, beam: int = 1) -> list[DecodedText]:
    """Decode sentences (sentences, time) of these lengths to at most ``longest`` tokens each, on the model's device."""
    device = next(model.parameters()).device
    memory = model.read(ids.to(device), lengths.to(device))
    limits = torch.full((len(ids),), longest, device=device)
    return search(lambda: LstmSteps(model.decoder, memory), limits, ENDS, beam)


@dataclass(eq=False)
class LstmSteps:
    """A decoder in the course of a search."""

    decoder: Decoder
    memory: SentenceMemory
    state: LstmState | None = None

    def step(self, tokens: Tensor) -> Tensor:
        """The log-probabilities (rows, vocabulary) of the next token after tokens (rows,)."""
        log_probabilities, self.state = self.decoder.step(tokens, self.memory, self.state)
        return log_probabilities

    def keep(self, rows: Tensor) -> None:
        """Go on with the sentences of these rows only."""
        self.memory = self.memory.rows(rows)
        self.reorder(rows)

    def reorder(self, rows: Tensor) -> None:
        """Go on with these rows, each in the place of one of the same sentence."""
        if self.state is not None:
            self.state = self.state[0][:, rows], self.state[1][:, rows]
