"""Sentences as numbers, and batches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.corpora import LanguageTexts, nothing_left
from sentprobe.lab.training.lm.tokens import Tokens, WordMarks
from sentprobe.lab.training.mt.model import TranslationBatch
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

    def batch(self, rows: Rows) -> TranslationBatch:
        """Some of them."""
        source, target = self.source, self.target
        return TranslationBatch("pairs", *source.padded(rows), *target.padded(rows), target.language, source.language)


def back_batch(sentences: Sentences, source_language: int, rows: Rows) -> TranslationBatch:
    """Sentences to be decoded from what the model makes of them in another language."""
    return TranslationBatch("back", None, None, *sentences.padded(rows), sentences.language, source_language)


def noisy_batch(sentences: Sentences, source_language: int, marks: WordMarks, noise: Noise, rows: Rows) -> TranslationBatch:
    """Sentences to be decoded from themselves with noise."""
    source = pad([add_noise(sentences.tokens[row], marks, noise) for row in rows.tolist()])
    return TranslationBatch("denoise", *source, *sentences.padded(rows), sentences.language, source_language)


def read_sentences(
    texts: LanguageTexts, role: str, tokens: Tokens, numbers: Sequence[int], longest: int, dev_keys: frozenset[int] = frozenset()
) -> list[Sentences]:
    """The sentences of each language of some rows; rows with more tokens than the longest are left out and counted."""
    names = [str(column) for column in range(len(texts.languages))]
    long = 0
    with texts.plan.writer(role, names) as out:
        rows = texts.rows(role, dev_keys)
        while batch := list(islice(rows, ENCODE)):
            for row in zip(*(tokens.encode(side) for side in zip(*batch, strict=True)), strict=True):
                if max(map(len, row)) > longest:
                    long += 1
                else:
                    out.add(row)
        examples = out.finish()
    counts = texts.plan.counts[role]
    if long:
        counts["too many tokens"], counts["used"] = long, counts["used"] - long
    if not counts["used"]:
        raise nothing_left(texts.name, role, counts)
    return [Sentences(examples.sequences[name], number) for name, number in zip(names, numbers, strict=True)]
