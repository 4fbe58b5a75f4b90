"""Search for the text that a decoder makes of a sentence: greedily, token by token, or with a beam."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol

import torch
from torch import Tensor


class DecodedText(NamedTuple):
    """What was decoded from one sentence."""

    tokens: list[int]
    """With the end last, if it was reached."""
    score: float
    """The mean log-probability of the tokens."""


class DecoderSteps(Protocol):
    """A decoder in the course of a search: it reads one token of each row, and remembers what it has read."""

    def step(self, tokens: Tensor) -> Tensor:
        """The log-probabilities (rows, vocabulary) of the next token after tokens (rows,)."""

    def keep(self, rows: Tensor) -> None:
        """Go on with the sentences of these rows only; a row may be there several times."""

    def reorder(self, rows: Tensor) -> None:
        """Go on with these rows, as many as there are, each in the place of one of the same sentence."""


class Ends(NamedTuple):
    """The token before the first one of an output, and the one that ends it."""

    begin: int
    end: int


def search(begin: Callable[[], DecoderSteps], longest: Tensor, ends: Ends, beam: int) -> list[DecodedText]:
    """The best output for each sentence; ``longest`` (sentences,) are the tokens after which they are cut off.

    A beam of 2 or more never gives a worse score than greedy decoding, which is tried first.
    """
    greedy_outputs = list(greedy(begin(), longest, ends))
    if beam == 1:
        return greedy_outputs
    beam_outputs = beam_search(begin(), longest, ends, beam)
    return [max(pair, key=lambda out: out.score) for pair in zip(greedy_outputs, beam_outputs, strict=True)]


def greedy(steps: DecoderSteps, longest: Tensor, ends: Ends) -> Iterator[DecodedText]:
    """The most probable token at every step."""
    count, device = len(longest), longest.device
    alive = torch.arange(count, device=device)  # sentences whose output is not complete
    tokens = torch.full((count,), ends.begin, device=device)
    outputs = torch.full((count, _most(longest)), ends.end, device=device)
    scores = torch.zeros(count, device=device)
    lengths = torch.zeros(count, dtype=torch.long, device=device)
    for at in range(outputs.shape[1]):
        best, tokens = steps.step(tokens).max(1)
        outputs[alive, at] = tokens
        scores[alive] += best
        lengths[alive] += 1
        if bool((ended := (tokens == ends.end) | (longest[alive] <= at + 1)).any()):
            rows = (~ended).nonzero()[:, 0]
            if not len(rows):
                break
            alive, tokens = alive[rows], tokens[rows]
            steps.keep(rows)
    for row, score, length in zip(outputs.tolist(), scores.tolist(), lengths.tolist(), strict=True):
        yield DecodedText(row[:length], score / length)


def beam_search(steps: DecoderSteps, longest: Tensor, ends: Ends, beam: int) -> Iterator[DecodedText]:
    """The best outputs that are found if the ``beam`` best beginnings of each sentence are kept at every step."""
    count, device = len(longest), longest.device
    steps.keep(torch.arange(count, device=device).repeat_interleave(beam))
    first = torch.arange(count, device=device)[:, None] * beam  # the first place of each sentence
    tokens = torch.full((count * beam,), ends.begin, device=device)
    # at first all beginnings are equal: only one of them counts
    totals = torch.full((count, beam), float("-inf"), device=device)
    totals[:, 0] = 0
    lengths = torch.zeros((count, beam), dtype=torch.long, device=device)
    outputs = torch.full((count, beam, _most(longest)), ends.end, device=device)
    ended = torch.zeros((count, beam), dtype=torch.bool, device=device)
    for at in range(outputs.shape[2]):
        log_probabilities = steps.step(tokens)
        size = log_probabilities.shape[1]
        log_probabilities = log_probabilities.view(count, beam, size)
        # an output that has ended goes on as it is, in one way
        log_probabilities = log_probabilities.masked_fill(ended[:, :, None], float("-inf"))
        log_probabilities[:, :, ends.end] = log_probabilities[:, :, ends.end].masked_fill(ended, 0.0)
        grown = lengths + ~ended
        # by their means, since sums of log-probabilities prefer short outputs
        means = (totals[:, :, None] + log_probabilities) / grown[:, :, None]
        choices = means.view(count, -1).topk(beam).indices
        parents, tokens = choices // size, choices % size
        totals = totals.gather(1, parents) + log_probabilities.view(count, -1).gather(1, choices)
        lengths = grown.gather(1, parents)
        outputs = outputs.gather(1, parents[:, :, None].expand_as(outputs))
        outputs[:, :, at] = tokens
        ended = (tokens == ends.end) | (longest[:, None] <= lengths)
        if bool(ended.all()):
            break
        steps.reorder((first + parents).view(-1))
        tokens = tokens.view(-1)
    means = totals / lengths
    rows, best = torch.arange(count, device=device), means.argmax(1)
    best_outputs = (outputs[rows, best], means[rows, best], lengths[rows, best])
    for row, score, length in zip(*(part.tolist() for part in best_outputs), strict=True):
        yield DecodedText(row[:length], score)


def _most(longest: Tensor) -> int:
    return int(longest.max()) if len(longest) else 0
