"""Texts from a trained decoder: greedily, token by token, or by beam search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from sonde.errors import DataError, UsageError
from sonde.networks.folder import WEIGHTS, Checkpoint, TrainedFolder, open_folder
from sonde.networks.vocabulary import Vocabulary
from sonde.training.decoder import Decoder, EncoderDecoder, Memory, State, build_model
from sonde.training.targets import BEGIN, END, Targets, read_targets

BATCH = 128
"""Sentences that are decoded together."""


class Output(NamedTuple):
    """What was decoded from one sentence."""

    tokens: list[int]
    """With END last, if it was reached."""
    score: float
    """The mean log-probability of the tokens."""


@dataclass(frozen=True, eq=False)
class Generator:
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
        found = [""] * len(rows)
        with torch.inference_mode():
            for at in range(0, len(order), BATCH):
                some = order[at : at + BATCH]
                time = len(rows[some[-1]])
                ids = torch.tensor([rows[i] + [0] * (time - len(rows[i])) for i in some])
                outputs = decode(self.model, ids, torch.tensor([len(rows[i]) for i in some]), self.longest, beam)
                for i, text in zip(some, self.targets.decode([out.tokens for out in outputs]), strict=True):
                    found[i] = text
        return found


def load_generator(folder: TrainedFolder, checkpoint: Checkpoint | None = None) -> Generator:
    """The model of a checkpoint, by default the best one, with all that it needs to generate texts."""
    request, facts = folder.config.get("request", {}), folder.config.get("facts", {})
    if "decoder" not in request.get("objective_settings", {}):
        raise UsageError(
            f"{folder.path} was trained with {request.get('objective')}, which generates no texts; expected a folder "
            "of translate, autoencode, reconstruct, tree or next."
        )
    checkpoint = checkpoint or folder.best()
    targets = read_targets(folder.path)
    encoder = folder.encoder(None)
    model = build_model(encoder, len(targets), request["objective_settings"], 0)
    try:
        model.load_state_dict(folder.weights(checkpoint))
    except RuntimeError as e:
        raise DataError(f"{folder.path / checkpoint.name / WEIGHTS} is not of this network: {e}.") from None
    return Generator(model.eval(), folder.vocabulary, targets, int(facts["longest target"]))


def generate(folder: Path, texts: Sequence[str], beam: int = 1) -> list[str]:
    """What the best checkpoint of a trained folder makes of each text: a translation, a tree, the next sentence."""
    return load_generator(open_folder(folder))(texts, beam)


def decode(model: EncoderDecoder, ids: Tensor, lengths: Tensor, longest: int, beam: int = 1) -> list[Output]:
    """Decode sentences (sentences, time) of these lengths to at most ``longest`` tokens each, on the model's device.

    A beam of 2 or more never gives a worse score than greedy decoding, whose outputs it begins with.
    """
    device = next(model.parameters()).device
    memory = model.read(ids.to(device), lengths.to(device))
    found = list(greedy(model.decoder, memory, longest))
    if beam == 1:
        return found
    wide = beam_search(model.decoder, memory, longest, beam)
    return [max(pair, key=lambda out: out.score) for pair in zip(found, wide, strict=True)]


def greedy(decoder: Decoder, memory: Memory, longest: int) -> Iterator[Output]:
    """The most probable token at every step."""
    count = len(memory.vectors)
    device = memory.vectors.device
    alive = torch.arange(count, device=device)  # sentences whose output is not complete
    tokens = torch.full((count,), BEGIN, device=device)
    outputs = torch.full((count, longest), END, device=device)
    scores = torch.zeros(count, device=device)
    state: State | None = None
    for at in range(longest):
        found, state = decoder.step(tokens, memory, state)
        best, tokens = found.max(1)
        outputs[alive, at] = tokens
        scores[alive] += best
        if bool((ended := tokens == END).any()):
            keep = (~ended).nonzero()[:, 0]
            if not len(keep):
                break
            alive, tokens, memory = alive[keep], tokens[keep], memory.rows(keep)
            state = state[0][:, keep], state[1][:, keep]
    for row, score in zip(outputs.tolist(), scores.tolist(), strict=True):
        row = row[: row.index(END) + 1] if END in row else row
        yield Output(row, score / len(row))


def beam_search(decoder: Decoder, memory: Memory, longest: int, beam: int) -> Iterator[Output]:
    """The best outputs that are found if the ``beam`` best beginnings of each sentence are kept at every step."""
    count = len(memory.vectors)
    device = memory.vectors.device
    memory = memory.rows(torch.arange(count, device=device).repeat_interleave(beam))
    first = torch.arange(count, device=device)[:, None] * beam  # the first place of each sentence
    tokens = torch.full((count * beam,), BEGIN, device=device)
    # at first all beginnings are equal: only one of them counts
    totals = torch.full((count, beam), float("-inf"), device=device)
    totals[:, 0] = 0
    lengths = torch.zeros((count, beam), device=device)
    outputs = torch.full((count, beam, longest), END, device=device)
    ended = torch.zeros((count, beam), dtype=torch.bool, device=device)
    state: State | None = None
    for at in range(longest):
        found, state = decoder.step(tokens, memory, state)
        size = found.shape[1]
        found = found.view(count, beam, size)
        # an output that has ended goes on as it is, in one way
        found = found.masked_fill(ended[:, :, None], float("-inf"))
        found[:, :, END] = found[:, :, END].masked_fill(ended, 0.0)
        grown = lengths + ~ended
        means = (totals[:, :, None] + found) / grown[:, :, None]
        places = means.view(count, -1).topk(beam).indices
        parents, tokens = places // size, places % size
        totals = totals.gather(1, parents) + found.view(count, -1).gather(1, places)
        lengths = grown.gather(1, parents)
        outputs = outputs.gather(1, parents[:, :, None].expand_as(outputs))
        outputs[:, :, at] = tokens
        ended = tokens == END
        if bool(ended.all()):
            break
        flat = (first + parents).view(-1)
        state = state[0][:, flat], state[1][:, flat]
        tokens = tokens.view(-1)
    best = (totals / lengths).argmax(1)
    rows = torch.arange(count, device=device)
    for row, score in zip(outputs[rows, best].tolist(), (totals / lengths)[rows, best].tolist(), strict=True):
        yield Output(row[: row.index(END) + 1] if END in row else row, score)
