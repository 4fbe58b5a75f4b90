"""The texts of a language model as numbers: codes for all languages, and the tokens of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from sentprobe.errors import DataError
from sentprobe.lab.training.examples import Examples
from sentprobe.lab.training.lm.batches import TranslationPairs, Windows
from sentprobe.lab.training.lm.corpora import LanguageTexts
from sentprobe.lab.training.lm.tokens import END, Tokens, learn_tokens, sample_texts, smoothed
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.reading import DEV, TRAIN

ENCODE = 2048
"""Texts that are split into tokens together."""


@dataclass(frozen=True, eq=False)
class LanguageExamples:
    """The examples of one language, or of one pair of languages."""

    name: str
    train: Windows | TranslationPairs
    dev: Windows | TranslationPairs | None
    sentences: int
    """Of training."""
    dev_words: int
    """Words of the dev text, as they are between spaces, and one more for the end of each sentence: what its tokens
    after the first spell, whatever the codes."""


def learn_codes(plan: TrainingPlan, texts: list[LanguageTexts], held: frozenset[int]) -> Tokens:
    """Codes of sentences that are sampled from all languages."""
    rows = {text.name: sum(1 for _ in text.rows(TRAIN, held)) for text in texts}
    if small := [name for name, count in rows.items() if count < 2]:
        raise DataError(
            f"{small[0]} has {rows[small[0]]} sentence{'s' * (rows[small[0]] != 1)} to train on; expected a text of "
            "many lines, one sentence in each."
        )
    sides = [(text, column) for text in texts for column in range(len(text.languages))]
    counts: Counter[str] = Counter()
    for text, column in sides:
        counts[text.languages[column]] += rows[text.name]
    chances = smoothed(counts, float(plan.settings["code_alpha"]))

    def side(text: LanguageTexts, column: int) -> tuple[Iterator[str], float]:
        language = text.languages[column]
        return (row[column] for row in text.rows(TRAIN, held)), chances[language] * counts.total() / counts[language]

    sampled = sample_texts([side(*side_key) for side_key in sides], plan.request.options.seed)
    return learn_tokens(sampled, int(plan.settings["codes"]))


def read_part(plan: TrainingPlan, texts: LanguageTexts, tokens: Tokens, held: frozenset[int], languages: tuple[str, ...]) -> LanguageExamples:
    """Write the tokens of a text, or of pairs, to files; languages are numbered as they are listed."""
    length = int(plan.settings["length"])
    numbers = tuple(map(languages.index, texts.languages))

    def examples(role: str) -> tuple[Windows | TranslationPairs, int, int]:
        but = held if role == TRAIN else frozenset()
        examples, words = _write(plan, texts, role, tokens, but, length)
        if len(numbers) == 1:
            return Windows(examples.sequences["text"].values, numbers[0], length), len(examples) - 1, words
        columns = examples.sequences
        return TranslationPairs(columns["source"], columns["target"], (numbers[0], numbers[1])), len(examples), words

    train, sentences, _ = examples(TRAIN)
    dev, _, words = examples(DEV) if texts.has_dev else (None, 0, 0)
    return LanguageExamples(texts.name, train, dev, sentences, words)


def _write(
    plan: TrainingPlan, texts: LanguageTexts, role: str, tokens: Tokens, but: frozenset[int], length: int
) -> tuple[Examples, int]:
    """The tokens of all rows, and, of a text, how many words and ends of sentences these are."""
    monolingual = len(texts.languages) == 1
    words = long = 0
    with texts.plan.writer(role, ("text",) if monolingual else ("source", "target")) as out:
        if monolingual:
            out.add(([END],))
        rows = texts.rows(role, but)
        while batch := list(islice(rows, ENCODE)):
            for index, row in enumerate(zip(*(tokens.encode(side) for side in zip(*batch, strict=True)), strict=True)):
                if monolingual:
                    out.add(([*row[0], END],))
                    words += len(batch[index][0].split()) + 1  # its end is predicted, too
                elif max(map(len, row)) > length:
                    long += 1
                else:
                    out.add(row)
        if long:
            counts = texts.plan.counts[role]
            counts["too many tokens"], counts["used"] = long, counts["used"] - long
        return out.finish(), words


def token_counts(part: LanguageExamples, tokens: int) -> NDArray[np.int64]:
    """How often each token occurs in training (tokens,)."""
    train = part.train
    sides = [train.tokens] if isinstance(train, Windows) else [train.first.values, train.second.values]
    return sum((np.bincount(values, minlength=tokens) for values in sides), np.zeros(tokens, np.int64))


def longest_sentence(part: LanguageExamples) -> int:
    """Positions that are needed."""
    pairs = [examples for examples in (part.train, part.dev) if isinstance(examples, TranslationPairs)]
    return max((int(side.lengths.max(initial=0)) + 2 for examples in pairs for side in (examples.first, examples.second)), default=0)
