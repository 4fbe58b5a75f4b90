"""Texts from a trained decoder: greedily, token by token, or by beam search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.folder import WEIGHTS, Checkpoint, TrainedFolder, open_folder
from sentprobe.lab.networks.vocabulary import Vocabulary
from sentprobe.lab.training.decoder import Decoder, EncoderDecoder, SentenceMemory, LstmState, build_model
from sentprobe.lab.training.search import Ends, DecodedText, search
from sentprobe.lab.training.targets import BEGIN, END, Targets, read_targets

ENDS = Ends(BEGIN, END)
BATCH = 128
"""Sentences that are decoded together."""


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
