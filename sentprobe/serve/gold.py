"""Gold labels of a sentence, where its words alone determine them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sentprobe.core.formatting import count_of
from sentprobe.corpus.folding import fold
from sentprobe.tasks import Example


@dataclass(frozen=True)
class GoldLabels:
    """The gold labels, none if they are unknown; and a text to show."""

    labels: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class GoldRule:
    """How to get the gold labels of a sentence, for one set."""

    task: str
    labels: Sequence[str]
    bins: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """The shortest and the longest test row of each label, in tokens (sentence_length)."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What labels mean, in words, where the task knows it."""

    def of(self, tokens: Sequence[str]) -> GoldLabels:
        """The gold labels of a sentence with these tokens."""
        if self.task == "sentence_length":
            labels = tuple(label for label, (low, high) in self.bins.items() if low <= len(tokens) <= high)
            counted = count_of(len(tokens), "token")
            return GoldLabels(labels, counted if labels else f"{counted}: in none of the bins")
        if self.task == "word_content":
            words = set(map(fold, tokens))
            labels = tuple(label for label in self.labels if fold(label) in words)
            return GoldLabels(labels, ", ".join(labels) or f"none of the {len(self.labels)} words")
        return GoldLabels((), "unknown")

    def label_text(self, label: str) -> str:
        """A label as it is shown: in words if the task has them; for a length bin, its ends."""
        if label not in self.bins:
            return self.names.get(label, label)
        low, high = self.bins[label]
        return f"{low}–{high} tokens" if low < high else count_of(low, "token")


def length_bins(rows: Sequence[Example]) -> dict[str, tuple[int, int]]:
    """The shortest and the longest row of each label, whatever the bins are called.

    A length goes to the label that most rows of that length have: released sets have stray rows.
    """
    seen: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for row in rows:
        seen[len(row.tokens)][row.label] += 1
    lengths: defaultdict[str, list[int]] = defaultdict(list)
    for n, counts in seen.items():
        lengths[counts.most_common(1)[0][0]].append(n)
    bins = {label: (min(ns), max(ns)) for label, ns in lengths.items()}
    return dict(sorted(bins.items(), key=lambda pair: pair[1]))
