"""The forms of words that a corpus attests: which rules may take from it, and which words keep a capital."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sentprobe.corpus.syntax import features, tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Counts

INFLECTED = frozenset({"ADJ", "AUX", "DET", "NOUN", "NUM", "PRON", "PROPN", "VERB"})
IGNORED_FEATURES = frozenset({"Abbr", "Degree", "Emph", "ExtPos", "Style", "Typo", "Variant"})
"""Features that do not have to agree when another form of a word is looked up."""
Key = tuple[str, str, str, str]
"""A lemma, its part of speech, features and form."""


def attested(s: Sentence) -> Iterator[Key]:
    """What the first pass over a corpus counts: the forms of every word but the first, whose capital says nothing."""
    if s.lemmas is None or s.feats is None:
        return
    for i, tag in enumerate(tags(s)):
        if i and tag in INFLECTED and "Typo=" not in s.feats[i]:
            yield s.lemmas[i], tag, s.feats[i], s.forms[i]


@dataclass(frozen=True, slots=True)
class AttestedForms:
    """The forms of a corpus by lemma and part of speech, each with its features and how often it occurs."""

    entries: Mapping[tuple[str, str], tuple[tuple[str, str, int], ...]] = field(default_factory=dict)
    """(features, form, occurrences), the most frequent first."""
    capital_forms: frozenset[str] = frozenset()
    """Forms that have a capital inside sentences more often than not: *I*, names."""
    capital_tags: frozenset[str] = frozenset({"PROPN"})
    """Parts of speech that do, such as German nouns."""

    @classmethod
    def of(cls, counts: Counts, tally: Counter[Any]) -> AttestedForms:
        """The forms of a corpus, from what was counted."""
        entries: dict[tuple[str, str], list[tuple[str, str, int]]] = {}
        for (lemma, tag, feats, form), n in tally.items():
            entries.setdefault((lemma, tag), []).append((feats, form, n))
        ranked = {key: tuple(sorted(values, key=lambda v: (-v[2], v))) for key, values in sorted(entries.items())}
        return cls(ranked, *counts.capitalised())

    def keeps_capital(self, s: Sentence, i: int) -> bool:
        """Whether a word has its capital wherever it is: a name, *I*, an acronym, a German noun."""
        form = s.forms[i]
        letters = "".join(filter(str.isalpha, form[1:]))
        if tags(s)[i] in self.capital_tags or form in self.capital_forms:
            return True
        return bool(letters) and not letters.islower()

    def inflected(self, s: Sentence, i: int, **changes: str | None) -> str | None:
        """The form of word i with some features changed, all others the same; None if the corpus does not attest it.

        A feature that is to be None is one that the form must not have.
        """
        assert s.lemmas is not None
        assert s.feats is not None
        changed: dict[str, str | None] = {**_relevant(s.feats[i]), **changes}
        return self.form(s.lemmas[i], tags(s)[i], {name: value for name, value in changed.items() if value is not None})

    def form(self, lemma: str, tag: str, wanted: Mapping[str, str]) -> str | None:
        """The most frequent form of a lemma that has exactly these features."""
        for feats, form, _ in self.entries.get((lemma, tag), ()):
            if _relevant(feats) == wanted:
                return form
        return None

    def any_form(self, lemma: str, tag: str, **wanted: str) -> str | None:
        """The most frequent form of a lemma that has these features, and perhaps others."""
        for feats, form, _ in self.entries.get((lemma, tag), ()):
            if wanted.items() <= features(feats).items():
                return form
        return None


def _relevant(feats: str) -> dict[str, str]:
    return {name: value for name, value in features(feats).items() if name not in IGNORED_FEATURES}
