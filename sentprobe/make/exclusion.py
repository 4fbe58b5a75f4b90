"""Sentences that no set may use: those of a list, and those that the sentences of the list were made from.

The rows of some tasks are changed sentences: two words exchanged (bigram shift), two clauses (coordination inversion),
one word replaced (odd man out). A list of such rows must exclude the originals too. An exchange leaves the letters
of a sentence as they are, and a replacement leaves all words but one, so that a sentence is excluded if, up to
case, digits, punctuation and spacing, it

- is in the list,
- has the same letters as one of the list, in any order, or
- differs from one of the list in one word that is not the first.

Lists may be of running text or of tokens (*don't* or *do n't*): comparisons by words are tried both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import near_duplicate_text

MIN_WORDS = 3
"""Letters and gaps are compared from this many words on: shorter texts are too easily alike, and no set has them."""
_BASE, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class ExcludedSentences:
    """The keys of excluded sentences, eight bytes each."""

    letter_keys: frozenset[int] = frozenset()
    gap_keys: frozenset[int] = frozenset()

    @classmethod
    def of(cls, sentences: StringsOrPaths | Iterable[str]) -> ExcludedSentences:
        """The keys of these sentences."""
        letter_keys: set[int] = set()
        gap_keys: set[int] = set()
        for text in as_strings(sentences, "a sentence"):
            if near_duplicate_text(text):
                letter_keys.add(_letters(text))
                gap_keys.update(_gap_keys(text.split()))
        return cls(frozenset(letter_keys), frozenset(gap_keys))

    def __bool__(self) -> bool:
        return bool(self.letter_keys)

    def has(self, text: str, tokens: Sequence[str]) -> bool:
        """Whether a sentence is excluded."""
        return (
            _letters(text) in self.letter_keys
            or not self.gap_keys.isdisjoint(_gap_keys(text.split()))
            or not self.gap_keys.isdisjoint(_gap_keys(tokens))
        )


def _letters(text: str) -> int:
    """The same number for texts of the same letters; of few words, for those in the same order."""
    words = near_duplicate_text(text).split()
    return hash_64("".join(words if len(words) < MIN_WORDS else sorted("".join(words))))


def _gap_keys(tokens: Sequence[str]) -> Iterator[int]:
    """One number for every word but the first: that of the sentence without that word.

    Sums of hashes times powers of a base, so that all of them together cost little more than one.
    """
    hashes = [h for token in tokens if (h := _word(token))]
    n = len(hashes)
    if n < MIN_WORDS:
        return
    power, terms = 1, []
    for h in hashes:
        terms.append(h * power & _MASK)
        power = power * _BASE & _MASK
    total = sum(terms)
    for i in range(1, n):
        yield (total - terms[i] + i * 0xD1B54A32D192ED03) & _MASK


@lru_cache(maxsize=1 << 16)
def _word(token: str) -> int:
    """A hash of a word, 0 if it has neither letters nor digits."""
    word = near_duplicate_text(token).replace(" ", "")
    return hash_64(word) | 1 if word else 0
