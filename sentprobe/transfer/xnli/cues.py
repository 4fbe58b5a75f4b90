"""Words that give labels away: the mutual information of a word in the hypothesis and a class."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sentprobe.transfer.xnli.pairs import LABELS, Pair


@dataclass(frozen=True)
class Cue:
    """A word that a class has more often than the others."""

    label: str
    word: str
    information: float
    """Bits: of whether the word occurs, about whether the pair is of the class."""
    share: float
    """Of the hypotheses with the word, those of the class."""
    count: int
    """Hypotheses with the word."""


def cue_words(
    pairs: Iterable[Pair], tokens: Callable[[str], Sequence[str]], most: int = 10, least: int = 5
) -> dict[str, list[Cue]]:
    """The words with the most information about each class, among those in ``least`` hypotheses or more."""
    sizes: Counter[str] = Counter()
    words: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        if pair.label not in LABELS:
            continue
        sizes[pair.label] += 1
        for word in {token.lower() for token in tokens(pair.hypothesis)}:
            words[word] += 1
            both[word, pair.label] += 1
    total = sizes.total()
    found: dict[str, list[Cue]] = {}
    for label in LABELS:
        cues = [
            Cue(
                label,
                word,
                mutual_information(both[word, label], count, sizes[label], total),
                both[word, label] / count,
                count,
            )
            for word, count in words.items()
            if count >= least and both[word, label] * total > count * sizes[label]
        ]
        found[label] = sorted(cues, key=lambda cue: (-cue.information, cue.word))[:most]
    return found


def mutual_information(both: int, one: int, other: int, total: int) -> float:
    """Bits of two events that occur ``one`` and ``other`` times out of ``total``, and ``both`` times together."""
    cells = ((both, one, other), (one - both, one, total - other), (other - both, total - one, other),
             (total - one - other + both, total - one, total - other))  # fmt: skip
    return sum(n / total * math.log2(n * total / (a * b)) for n, a, b in cells if n)
