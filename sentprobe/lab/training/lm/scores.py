"""The perplexity of a language model on dev."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch

from sentprobe.lab.training.lm.batches import LanguageModelBatch, Mask, Windows
from sentprobe.lab.training.lm.model import LanguageModel
from sentprobe.lab.training.lm.parts import LanguageExamples
from sentprobe.lab.training.step import to_device

PERPLEXITY = "perplexity"
WINDOWS, PAIRS = 16, 64
"""In a batch."""


def scores(model: LanguageModel, parts: Sequence[LanguageExamples], mask: Mask | None, seed: int) -> dict[str, float]:
    """The mean of the perplexities on dev, and each of them; of a causal model also per word of the text as it is.

    A perplexity per token is of the tokens that are predicted, and one per word of words and ends of sentences, all of
    which a causal model predicts.
    """
    device = next(model.parameters()).device
    perplexities: dict[str, float] = {}
    per_word: dict[str, float] = {}
    for part in parts:
        total, units = 0.0, 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # the same tokens are masked each time
            for batch in _dev_batches(part, mask):
                loss = model(to_device(batch, device))
                total, units = total + float(loss.total), units + loss.units
        perplexities[part.name] = _exp(total / max(1, units))
        if mask is None:
            per_word[part.name] = _exp(total / max(1, part.dev_words))
    mean = sum(perplexities.values()) / len(perplexities)
    part_scores = {f"{PERPLEXITY} {name}": value for name, value in perplexities.items()} if len(perplexities) > 1 else {}
    word_scores = {f"{PERPLEXITY} per word {name}": value for name, value in per_word.items()}
    return {PERPLEXITY: mean, **part_scores, **word_scores}


def _dev_batches(part: LanguageExamples, mask: Mask | None) -> Iterator[LanguageModelBatch]:
    dev = part.dev
    if isinstance(dev, Windows):
        for starts, length in dev.all(WINDOWS):
            yield dev.masked_at(starts, length, mask) if mask else dev.causal_at(starts, length)
    elif dev is not None and mask is not None:
        order = np.argsort(dev.lengths, kind="stable")
        yield from (dev.masked(order[at : at + PAIRS], mask) for at in range(0, len(order), PAIRS))


def _exp(mean: float) -> float:
    return math.exp(mean) if mean < math.log(1e300) else math.inf
