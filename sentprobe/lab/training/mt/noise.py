"""What a denoising auto-encoder is to repair: words at most three places off, some missing, some blanked.

A word moves with all its tokens, and is dropped or blanked as a whole; one that is blanked becomes as many masks as it
had tokens. As in the papers on unsupervised translation, the words of a sentence are sorted by their place plus a
random number from 0 to ``moves`` + 1, so that none is more than ``moves`` places from its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.lab.training.lm.tokens import MASK, WordMarks


@dataclass(frozen=True)
class Noise:
    """How much of it."""

    moves: int = 3
    """Places that a word moves at most."""
    drop: float = 0.1
    """The share of words that are left out."""
    blank: float = 0.1
    """The share of words that are replaced by masks."""


def add_noise(sentence: NDArray[np.int32], marks: WordMarks, noise: Noise) -> NDArray[np.int32]:
    """The tokens of a sentence, without its ends, with noise from torch's random numbers; at least one word is left."""
    begins = marks.begins(sentence)
    words = np.cumsum(begins) - 1
    count = int(begins.sum())
    moved, dropped, blanked = torch.rand(3, count, dtype=torch.float64).numpy()
    word_order = np.argsort(np.arange(count) + moved * (noise.moves + 1), kind="stable")
    positions = np.empty(count, np.int64)
    positions[word_order] = np.arange(count)
    remains = dropped >= noise.drop
    if count:
        remains[dropped.argmax()] = True
    blanked_tokens = np.where((blanked < noise.blank)[words], MASK, sentence)
    order = np.argsort(positions[words], kind="stable")
    noisy: NDArray[np.int32] = blanked_tokens[order][remains[words][order]].astype(np.int32)
    return noisy


def denoising_weight(schedule: tuple[tuple[int, float], ...], step: int) -> float:
    """The weight of denoising after a number of steps: linear between the points of the schedule."""
    at, weights = zip(*schedule, strict=True)
    return float(np.interp(step, at, weights))
