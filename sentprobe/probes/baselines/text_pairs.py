"""Baselines of pairs of sentences: how similar two texts are, without an encoder.

    chance     a coin: every pair is as similar as any other
    length     minus the difference of their numbers of words
    overlap    shared words over all words (Jaccard), a word counting as often as it occurs
    tf-idf     the cosine of counts of words, weighted by inverse document frequency over all texts of the set

Words are lower-cased, and punctuation is left out; in scripts without spaces, every character is one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sentprobe.core.words import lowercase_tokens
from sentprobe.corpus.syntax import is_unspaced

Floats = npt.NDArray[np.float64]
Counts = Sequence[Counter[str]]
TFIDF_DIGITS = 12


class TextSimilarities:
    """The words of the texts of a set, to be compared pair by pair."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        self.counts: Counts = [Counter(words) for words in words_of(list(self.number))]
        frequencies = Counter(word for counts in self.counts for word in counts)
        n = len(self.counts)
        # smoothed as scikit-learn's TfidfVectorizer does by default
        self.idf = {word: math.log((1 + n) / (1 + count)) + 1 for word, count in frequencies.items()}
        self.norms = [
            math.sqrt(sum((count * self.idf[word]) ** 2 for word, count in counts.items())) for counts in self.counts
        ]

    def similar(self, name: str, first: Sequence[str], second: Sequence[str]) -> Floats:
        """How similar each text is to the one beside it, (n,), by one of ``PAIR_BASELINES``."""
        compare = {"chance": _equally, "length": self._length, "overlap": self._overlap, "tf-idf": self._tfidf}[name]
        pairs = ((self.number[a], self.number[b]) for a, b in zip(first, second, strict=True))
        return np.array([compare(a, b) for a, b in pairs])

    def _length(self, first: int, second: int) -> float:
        return -abs(self.counts[first].total() - self.counts[second].total())

    def _overlap(self, first: int, second: int) -> float:
        together = (self.counts[first] | self.counts[second]).total()
        return (self.counts[first] & self.counts[second]).total() / together if together else 0.0

    def _tfidf(self, first: int, second: int) -> float:
        shared = self.counts[first].keys() & self.counts[second].keys()
        norm = self.norms[first] * self.norms[second]
        dot = math.fsum(self.counts[first][word] * self.counts[second][word] * self.idf[word] ** 2 for word in shared)
        # the same counts are equally near, in whatever order they are added
        return round(dot / norm, TFIDF_DIGITS) if norm else 0.0


def _equally(first: int, second: int) -> float:
    return 0.0


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """The lower-cased words of each text, without punctuation."""
    return [
        [
            piece
            for token in tokens
            if any(map(str.isalnum, token))
            for piece in (token if is_unspaced(token) else [token])
        ]
        for tokens in lowercase_tokens(texts)
    ]
