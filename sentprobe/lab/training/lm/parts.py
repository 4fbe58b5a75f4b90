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
from sentprobe.lab.training.lm.batches import Pairs, Windows
from sentprobe.lab.training.lm.corpora import Texts
from sentprobe.lab.training.lm.tokens import END, Tokens, learn_tokens, sample_texts, smoothed
from sentprobe.lab.training.plan import Plan
from sentprobe.lab.training.reading import DEV, TRAIN

ENCODE = 2048
"""Texts that are split into tokens together."""


@dataclass(frozen=True, eq=False)
class Part:
    """The examples of one language, or of one pair of languages."""

    name: str
    train: Windows | Pairs
    dev: Windows | Pairs | None
    sentences: int
    """Of training."""
    dev_words: int
    """Words of the dev text, as they are between spaces, and one more for the end of each sentence: what its tokens
    after the first spell, whatever the codes."""


def learn_codes(plan: Plan, texts: list[Texts], held: frozenset[int]) -> Tokens:
    """Codes of sentences that are sampled from all languages."""
    rows = {one.name: sum(1 for _ in one.rows(TRAIN, held)) for one in texts}
    if small := [name for name, count in rows.items() if count < 2]:
        raise DataError(
            f"{small[0]} has {rows[small[0]]} sentence{'s' * (rows[small[0]] != 1)} to train on; expected a text of "
            "many lines, one sentence in each."
        )
    sides = [(one, place) for one in texts for place in range(len(one.languages))]
    counts: Counter[str] = Counter()
    for one, place in sides:
        counts[one.languages[place]] += rows[one.name]
    chances = smoothed(counts, float(plan.settings["code_alpha"]))

    def side(one: Texts, place: int) -> tuple[Iterator[str], float]:
        language = one.languages[place]
        return (row[place] for row in one.rows(TRAIN, held)), chances[language] * counts.total() / counts[language]

    sampled = sample_texts([side(*each) for each in sides], plan.request.options.seed)
    return learn_tokens(sampled, int(plan.settings["codes"]))


def read_part(plan: Plan, texts: Texts, tokens: Tokens, held: frozenset[int], languages: tuple[str, ...]) -> Part:
    """Write the tokens of a text, or of pairs, to files; languages are numbered as they are listed."""
    length = int(plan.settings["length"])
    numbers = tuple(map(languages.index, texts.languages))

    def examples(role: str) -> tuple[Windows | Pairs, int, int]:
        but = held if role == TRAIN else frozenset()
        found, words = _write(plan, texts, role, tokens, but, length)
        if len(numbers) == 1:
            return Windows(found.sequences["text"].values, numbers[0], length), len(found) - 1, words
        columns = found.sequences
        return Pairs(columns["source"], columns["target"], (numbers[0], numbers[1])), len(found), words

    train, sentences, _ = examples(TRAIN)
    dev, _, words = examples(DEV) if texts.has_dev else (None, 0, 0)
    return Part(texts.name, train, dev, sentences, words)


def _write(
    plan: Plan, texts: Texts, role: str, tokens: Tokens, but: frozenset[int], length: int
) -> tuple[Examples, int]:
    """The tokens of all rows, and, of a text, how many words and ends of sentences these are."""
    one = len(texts.languages) == 1
    words = long = 0
    with texts.plan.writer(role, ("text",) if one else ("source", "target")) as out:
        if one:
            out.add(([END],))
        rows = texts.rows(role, but)
        while some := list(islice(rows, ENCODE)):
            for place, row in enumerate(zip(*(tokens.encode(side) for side in zip(*some, strict=True)), strict=True)):
                if one:
                    out.add(([*row[0], END],))
                    words += len(some[place][0].split()) + 1  # its end is predicted, too
                elif max(map(len, row)) > length:
                    long += 1
                else:
                    out.add(row)
        if long:
            counts = texts.plan.counts[role]
            counts["too many tokens"], counts["used"] = long, counts["used"] - long
        return out.finish(), words


def token_counts(part: Part, tokens: int) -> NDArray[np.int64]:
    """How often each token occurs in training (tokens,)."""
    train = part.train
    every = [train.tokens] if isinstance(train, Windows) else [train.first.values, train.second.values]
    return sum((np.bincount(values, minlength=tokens) for values in every), np.zeros(tokens, np.int64))


def longest_sentence(part: Part) -> int:
    """Positions that are needed."""
    every = [one for one in (part.train, part.dev) if isinstance(one, Pairs)]
    return max((int(side.lengths.max(initial=0)) + 2 for one in every for side in (one.first, one.second)), default=0)
