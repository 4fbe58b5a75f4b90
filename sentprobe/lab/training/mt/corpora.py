"""What a translation model learns from, and what it is scored on: texts and pairs, as sentences of numbers, and noise.

Noise is what a denoising auto-encoder is to repair: words at most three positions off, some missing, some blanked. A
word moves with all its tokens, and is dropped or blanked as a whole; one that is blanked becomes as many masks as it
had tokens. As in the papers on unsupervised translation, the words of a sentence are sorted by their position plus a
random number from 0 to ``moves`` + 1, so that none is more than ``moves`` positions from its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.errors import UsageError
from sentprobe.lab.training.examples import ExampleNumbers, Sequences
from sentprobe.lab.training.lm.corpora import (
    NO_LIMIT,
    LanguageTexts,
    all_languages,
    by_languages,
    note_counts,
    nothing_left,
    text_keys,
)
from sentprobe.lab.training.lm.tokens import MASK, Tokens, WordMarks
from sentprobe.lab.training.mt.model import TranslationBatch, pad
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.sources import DEV, TRAIN, describe_sources

ENCODE = 2048
"""Texts that are split into tokens together."""

LanguagePair = tuple[str, str]
"""Two languages: from the first to the second."""


@dataclass(frozen=True, eq=False)
class TranslationData:
    """Texts and pairs."""

    texts: tuple[LanguageTexts, ...]
    """In one language each."""
    pairs: tuple[LanguageTexts, ...]
    scored: tuple[LanguageTexts, ...]
    """Pairs to score on, of languages of which there are no pairs to train on."""
    directions: tuple[LanguagePair, ...]
    """That are trained."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Every language once."""
        return all_languages((*self.texts, *self.pairs))

    @property
    def trained(self) -> tuple[LanguageTexts, ...]:
        """All that is trained on."""
        return (*self.texts, *self.pairs)


def find_translation_data(plan: TrainingPlan) -> TranslationData:
    """What a request names; UsageError if it does not fit together."""
    train, dev = by_languages(plan.request.train, "--train"), by_languages(plan.request.dev, "--dev")
    if monolingual_dev := [names[0] for names in dev if len(names) == 1]:
        raise UsageError(
            f"--dev {monolingual_dev[0]}=…: translation is scored on pairs; expected --dev en-fr=FILE,FILE."
        )
    trained = [_texts(plan, names, files, dev.pop(names, [])) for names, files in train.items()]
    texts = tuple(text for text in trained if len(text.languages) == 1)
    pairs = tuple(text for text in trained if len(text.languages) == 2)
    languages = all_languages(trained)
    scored = tuple(_texts(plan, names, files, [], scored=True) for names, files in dev.items())
    for text in scored:
        if unknown := [language for language in text.languages if language not in languages]:
            raise UsageError(f"--dev {text.name}: there is nothing to train on in {unknown[0]}.")
    if not scored and not any(text.has_dev for text in pairs):
        hint = " or hold out pairs with --held-out N" if pairs else " with pairs of sentences"
        raise UsageError(f"There is no dev data: name it with --dev en-fr=FILE,FILE{',' * bool(pairs)}{hint}.")
    if len(texts) == 1 and not pairs:
        raise UsageError(
            f"There is a text in {texts[0].name} only: add one in another language, or pairs with --pairs en-fr=A,B."
        )
    directions = _directions(str(plan.settings["directions"]), texts, pairs)
    trained_directions = ", ".join("-".join(direction) for direction in directions)
    for option, group in (("--pairs", pairs), ("--dev", scored)):
        for text in group:
            a, b = text.languages
            if not {(a, b), (b, a)} & set(directions):
                raise UsageError(
                    f"{option} {text.name}=…: what is trained is {trained_directions}; leave these pairs out."
                )
    return TranslationData(texts, pairs, scored, directions)


def _texts(
    plan: TrainingPlan, languages: tuple[str, ...], files: list[str], dev: list[str], *, scored: bool = False
) -> LanguageTexts:
    pairs = len(languages) > 1
    request = replace(
        plan.request,
        train=tuple(files),
        dev=tuple(dev),
        held_out=plan.request.held_out if pairs and not scored and not plan.request.dev else 0,
        max_length=plan.request.max_length if pairs else NO_LIMIT,
    )
    name = "-".join(languages) + "-scored" * scored
    return LanguageTexts(languages, TrainingPlan(request, plan.folder / name, frozenset() if scored else plan.withheld))


def _directions(
    requested: str, texts: tuple[LanguageTexts, ...], pairs: tuple[LanguageTexts, ...]
) -> tuple[LanguagePair, ...]:
    """The directions that are trained; back-translation needs both of two languages."""
    of_pairs = [(text.languages[0], text.languages[1]) for text in pairs]
    names = [text.name for text in texts]
    language_pairs = of_pairs or [(a, b) for number, a in enumerate(names) for b in names[number + 1 :]]
    possible = [direction for a, b in language_pairs for direction in ((a, b), (b, a))]
    if requested == "both":
        directions = possible
    else:
        directions = [(a, b) for a, _, b in (name.partition("-") for name in requested.split(","))]
        if bad := [direction for direction in directions if direction not in possible]:
            have = ", ".join("-".join(direction) for direction in possible)
            raise UsageError(
                f"directions={requested}: there is nothing to learn {'-'.join(bad[0])} from; expected {have}."
            )
    for text in texts:
        around = [direction for direction in directions if text.name in direction]
        if not around:
            raise UsageError(f"--text {text.name}=…: there are no pairs in {text.name} to learn its translation from.")
        if missing := [(b, a) for a, b in around if (b, a) not in directions]:
            raise UsageError(
                f"--text {text.name}=…: back-translation needs both directions, and directions={requested} does not "
                f"have {'-'.join(missing[0])}. Leave one of them out."
            )
    return tuple(dict.fromkeys(directions))


def dev_text_keys(data: TranslationData) -> frozenset[int]:
    """The near-duplicate keys of all dev texts, whatever their language: none of them is trained on."""
    scored = [(pairs, DEV) for pairs in data.pairs if pairs.has_dev] + [(pairs, TRAIN) for pairs in data.scored]
    return text_keys(scored)


def note_translation_data(plan: TrainingPlan, data: TranslationData) -> None:
    """Note in the plan what became of all rows, and what files were read."""
    note_counts(plan, data.trained)
    total: Counter[str] = Counter(plan.counts.get(DEV, {}))
    for text in data.scored:
        plan.counts[f"{DEV} {text.name}"] = text.plan.counts[TRAIN]
        plan.further_data[f"{DEV} {text.name}"] = describe_sources(text.plan.files(TRAIN))
        total += text.plan.counts[TRAIN]
    plan.counts[DEV] = total


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences of one language."""

    tokens: Sequences
    """Without END."""
    language: int

    @property
    def lengths(self) -> ExampleNumbers:
        """With END at both ends."""
        return self.tokens.lengths + 2

    def padded(self, rows: ExampleNumbers) -> tuple[Tensor, Tensor]:
        """Some of them (rows, time), END at both ends, and their lengths."""
        return pad([self.tokens[row] for row in rows.tolist()])


@dataclass(frozen=True, eq=False)
class Direction:
    """Sentences and their translations."""

    source: Sentences
    target: Sentences

    @property
    def lengths(self) -> ExampleNumbers:
        """The larger of both."""
        return np.maximum(self.source.lengths, self.target.lengths)

    def batch(self, rows: ExampleNumbers) -> TranslationBatch:
        """Some of them."""
        source, target = self.source, self.target
        return TranslationBatch("pairs", *source.padded(rows), *target.padded(rows), target.language, source.language)


def read_sentences(
    texts: LanguageTexts,
    role: str,
    tokens: Tokens,
    numbers: Sequence[int],
    longest: int,
    excluded: frozenset[int] = frozenset(),
) -> list[Sentences]:
    """The sentences of each language of some rows; rows with more tokens than the longest are left out and counted."""
    names = [str(column) for column in range(len(texts.languages))]
    long = 0
    with texts.plan.writer(role, names) as out:
        rows = texts.rows(role, excluded)
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


def back_batch(sentences: Sentences, source_language: int, rows: ExampleNumbers) -> TranslationBatch:
    """Sentences to be decoded from what the model makes of them in another language."""
    return TranslationBatch("back", None, None, *sentences.padded(rows), sentences.language, source_language)


def noisy_batch(
    sentences: Sentences, source_language: int, marks: WordMarks, noise: Noise, rows: ExampleNumbers
) -> TranslationBatch:
    """Sentences to be decoded from themselves with noise."""
    source = pad([add_noise(sentences.tokens[row], marks, noise) for row in rows.tolist()])
    return TranslationBatch("denoise", *source, *sentences.padded(rows), sentences.language, source_language)


@dataclass(frozen=True)
class Noise:
    """How much of it."""

    moves: int = 3
    """Positions that a word moves at most."""
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
