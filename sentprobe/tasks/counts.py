"""What the first pass over a corpus counts, and the target forms chosen by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sentprobe.core.hashing import hash_64
from sentprobe.core.words import is_word
from sentprobe.corpus.folding import fold, uncapitalised
from sentprobe.corpus.syntax import is_unspaced
from sentprobe.tasks.policy import Policy


@dataclass(slots=True)
class Counts:
    """What the first pass counts. Counts of shards add up to those of the corpus."""

    sentences: int = 0
    tokens: int = 0
    columns: Counter[str] = field(default_factory=Counter)
    words: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(form, part of speech, features) of every word but the first of its sentence."""
    first_words: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The same for the first words, whose capital letter carries no information."""
    bigrams: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Adjacent folded forms; sentence edges are empty strings. Complete for every word that ``keeps`` accepts."""
    level: int = 0
    """How often the bigrams have been thinned out."""
    most_bigrams: int = 500_000
    """More bigrams than this are thinned out."""
    tallies: dict[str, Counter[Any]] = field(default_factory=dict)
    """What each task's own ``count`` yields, by task name."""
    failed: dict[str, str] = field(default_factory=dict)
    """Tasks whose own ``count`` failed, and how."""
    language: str | None = None
    """The language of the corpus, if it is known; forms are folded as it requires."""
    folded: dict[tuple[str, ...], Counter[str]] = field(default_factory=dict, compare=False, repr=False)
    """Cached results of ``forms``; several tasks need the same."""
    folded_words: list[tuple[str, str, int]] = field(default_factory=list, compare=False, repr=False)
    """(folded form, part of speech, count) of ``words`` and ``first_words``, cached as well."""

    def add(self, other: Counts) -> None:
        """Add another shard's counts to these."""
        self.sentences += other.sentences
        self.tokens += other.tokens
        self.level = max(self.level, other.level)
        self.language = self.language or other.language
        for mine, theirs in (
            (self.columns, other.columns),
            (self.words, other.words),
            (self.first_words, other.first_words),
            (self.bigrams, other.bigrams),
        ):
            mine.update(theirs)  # type: ignore[arg-type]
        if not self.level and len(self.bigrams) > self.most_bigrams:
            self.level = 1
        self._thin()
        for name, tally in other.tallies.items():
            self.tallies.setdefault(name, Counter()).update(tally)
        for name, reason in other.failed.items():
            self.failed[name] = min(reason, self.failed.get(name, reason))

    def keeps(self, word: str) -> bool:
        """Whether every bigram of a word has been counted: half of the words drop out each time bigrams are thinned."""
        return not self.level or hash_64(word) % (1 << self.level) == 0

    def add_bigrams(self, words: Sequence[str]) -> None:
        """Count the bigrams of one sentence, edges included."""
        pairs = pairwise(words)
        if self.level:
            complete = {w for w in words if self.keeps(w)}
            pairs = (pair for pair in pairs if pair[0] in complete or pair[1] in complete)  # type: ignore[assignment]
        self.bigrams.update(pairs)
        if len(self.bigrams) > self.most_bigrams:
            self.level += 1
            self._thin()

    def _thin(self) -> None:
        """Drop words, by a hash of each, until the bigrams of the others are few enough.

        Which words remain depends only on the corpus, not on the order: a table once too large stays too large.
        """
        while self.level:
            complete = {w for pair in self.bigrams for w in pair if self.keeps(w)}
            self.bigrams = Counter({p: n for p, n in self.bigrams.items() if p[0] in complete or p[1] in complete})
            if len(self.bigrams) <= self.most_bigrams:
                break
            self.level += 1

    def fold(self, form: str) -> str:
        """A form as a key, as the corpus's language requires."""
        return fold(form, self.language)

    def forms(self, *pos: str) -> Counter[str]:
        """Occurrences of every folded form, of these parts of speech only if any are given. Do not modify it."""
        if pos in self.folded:
            return self.folded[pos]
        if not self.folded_words:
            tables = (self.words, self.first_words)
            self.folded_words = [(self.fold(form), tag, n) for table in tables for (form, tag, _), n in table.items()]
        out = self.folded[pos] = Counter()
        for word, tag, n in self.folded_words:
            if not pos or tag in pos:
                out[word] += n
        return out

    def capitalised(self) -> tuple[frozenset[str], frozenset[str]]:
        """Forms, and parts of speech, that have a capital inside sentences more often than not: *I*, names."""
        inside: Counter[str] = Counter()
        by_tag: Counter[tuple[str, bool]] = Counter()
        for (form, tag, _), n in self.words.items():
            inside[form] += n
            by_tag[tag, form[:1].isupper()] += n
        forms = (f for f, n in inside.items() if f[:1].isupper() and n > inside[uncapitalised(f, self.language)])
        upper = (tag for tag, capital in by_tag if capital and by_tag[tag, True] > by_tag[tag, False])
        return frozenset(forms), frozenset(upper) | {"PROPN"}

    def drop_tables(self) -> None:
        """Free the tables of words and bigrams, once all plans have been made."""
        for table in (self.words, self.first_words, self.bigrams, self.folded, self.folded_words):
            table.clear()


OUTSIDE_BAND = "form outside the frequency band"
"""Why a task leaves out a sentence whose target form is not among ``target_forms``."""


def target_forms(counts: Counts, policy: Policy, *pos: str) -> frozenset[str]:
    """The folded forms of these parts of speech, two letters or more, neither too rare nor too frequent to be a target.

    A band is scaled from ``band_tokens`` words to this corpus, but its lower end is never below 2 occurrences and it is
    never narrower than the ratio of its ends, or a small treebank would have no targets at all.
    """
    seen = counts.forms(*pos)
    low, high = 1.0, float("inf")
    if policy.band is not None:
        scale = counts.tokens / policy.band_tokens
        low = max(2.0, policy.band[0] * scale)
        high = max(policy.band[1] * scale, low * policy.band[1] / policy.band[0])
    if policy.trim is not None:
        rarest, share = policy.trim
        low = max(low, rarest)
        if top := int(len(seen) * share):
            high = min(high, sorted(seen.values(), reverse=True)[top - 1] - 1)
    return frozenset(form for form, n in seen.items() if low <= n <= high and is_target(form))


def is_target(form: str) -> bool:
    """Whether a form is a word of two letters or more, or of one sign in a script without spaces."""
    return is_word(form) and (len(form) > 1 or is_unspaced(form))


def most_frequent(tally: Mapping[str, int], policy: Policy) -> frozenset[str]:
    """The labels that a list of ``policy.classes`` keeps besides OTHER: the most frequent, none below ``min_class``."""
    ranked = sorted(tally, key=lambda label: (-tally[label], label))
    most = None if policy.classes is None else policy.classes - 1
    return frozenset(label for label in ranked[:most] if tally[label] >= policy.min_class)
