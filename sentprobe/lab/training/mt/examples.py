"""Sentences as numbers, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.corpora import Texts, nothing_left
from sentprobe.lab.training.lm.tokens import Tokens, WordMarks
from sentprobe.lab.training.mt.model import Batch
from sentprobe.lab.training.mt.noise import Noise, add_noise
from sentprobe.lab.training.mt.padding import pad

ENCODE = 2048
"""Texts that are split into tokens together."""
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences of one language."""

    tokens: Sequences
    """Without END."""
    language: int

    @property
    def lengths(self) -> Rows:
        """With END at both ends."""
        return self.tokens.lengths + 2

    def padded(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Some of them (rows, time), END at both ends, and their lengths."""
        return pad([self.tokens[row] for row in rows.tolist()])


@dataclass(frozen=True, eq=False)
class Direction:
    """Sentences and their translations."""

    source: Sentences
    target: Sentences

    @property
    def lengths(self) -> Rows:
        """The larger of both."""
        return np.maximum(self.source.lengths, self.target.lengths)

    def batch(self, rows: Rows) -> Batch:
        """Some of them."""
        source, target = self.source, self.target
        return Batch("pairs", *source.padded(rows), *target.padded(rows), target.language, source.language)


def back_batch(own: Sentences, other: int, rows: Rows) -> Batch:
    """Sentences to be decoded from what the model makes of them in another language."""
    return Batch("back", None, None, *own.padded(rows), own.language, other)


def noisy_batch(own: Sentences, other: int, marks: WordMarks, noise: Noise, rows: Rows) -> Batch:
    """Sentences to be decoded from themselves with noise."""
    source = pad([add_noise(own.tokens[row], marks, noise) for row in rows.tolist()])
    return Batch("denoise", *source, *own.padded(rows), own.language, other)


def read_sentences(
    texts: Texts, role: str, tokens: Tokens, numbers: Sequence[int], longest: int, but: frozenset[int] = frozenset()
) -> list[Sentences]:
    """The sentences of each language of some rows; rows with more tokens than the longest are left out and counted."""
    names = [str(place) for place in range(len(texts.languages))]
    long = 0
    with texts.plan.writer(role, names) as out:
        rows = texts.rows(role, but)
        while some := list(islice(rows, ENCODE)):
            for row in zip(*(tokens.encode(side) for side in zip(*some, strict=True)), strict=True):
                if max(map(len, row)) > longest:
                    long += 1
                else:
                    out.add(row)
        found = out.finish()
    counts = texts.plan.counts[role]
    if long:
        counts["too many tokens"], counts["used"] = long, counts["used"] - long
    if not counts["used"]:
        raise nothing_left(texts.name, role, counts)
    return [Sentences(found.sequences[name], number) for name, number in zip(names, numbers, strict=True)]
