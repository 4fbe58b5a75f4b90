"""Cues that could tell a positive from a contrast without understanding either, and rows that are balanced over them.

A cue gives a text a number by its anchor: who takes the text with the higher one for the positive is right in some
share of the rows (ties count half). At 50 % the cue says nothing.

    overlap     words that the text shares with the anchor (the Dice coefficient of the two bags of words)
    length      the difference in words, negative
    edits       words that have to be inserted, left out or replaced to make one of the other, negative
    bigrams     the mean log probability of its words by those before them, counted in the corpus without the anchor
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sentprobe.data.contrast_set import ContrastRow

WORD = re.compile(r"\w+(?:['’-]\w+)*['’]?|[^\w\s]")
SMOOTHING = 5.0
"""How many occurrences of a word outweigh what is known of all words: the strength of the prior of bigrams."""


def words(text: str) -> list[str]:
    """The words and punctuation marks of a text, in lower case."""
    return WORD.findall(text.lower())


def overlap(anchor: str, text: str) -> float:
    """The Dice coefficient of two bags of words; punctuation is not counted.

    >>> overlap("Dogs bite men.", "Men bite dogs."), round(overlap("Dogs bite.", "Dogs do bite."), 2)
    (1.0, 0.8)
    """
    bags = [Counter(filter(_is_lexical, words(sentence))) for sentence in (anchor, text)]
    total = sum(bag.total() for bag in bags)
    return 2 * (bags[0] & bags[1]).total() / total if total else 1.0


def length(anchor: str, text: str) -> float:
    """The difference of the numbers of words, negative."""
    counts = [sum(map(_is_lexical, words(sentence))) for sentence in (anchor, text)]
    return -abs(float(counts[0] - counts[1]))


def edits(anchor: str, text: str) -> float:
    """The Levenshtein distance in words, negative.

    >>> edits("Dogs bite men.", "Men bite dogs."), edits("Dogs bite.", "Dogs do bite.")
    (-2.0, -1.0)
    """
    before, after = words(anchor), words(text)
    row = list(range(len(after) + 1))
    for i, a in enumerate(before, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(after, 1):
            diagonal, row[j] = row[j], min(diagonal + (a != b), row[j] + 1, row[j - 1] + 1)
    return -float(row[-1])


def _is_lexical(word: str) -> bool:
    return word[0].isalnum()


@dataclass(slots=True)
class BigramCounts:
    """How often words and pairs of neighbours occur in a corpus: those that the rows of a set have."""

    wanted: frozenset[str]
    """The words that are counted; a pair is counted if both are."""
    total: int = 0
    unigrams: Counter[str] = field(default_factory=Counter)
    bigrams: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def for_rows(cls, rows: Iterable[ContrastRow]) -> BigramCounts:
        """Counts of nothing yet, for these rows."""
        return cls(frozenset(w for row in rows for text in row[:3] for w in ("", *words(text))))

    def add(self, text: str) -> None:
        """Count one sentence."""
        sequence = ["", *words(text), ""]
        self.total += len(sequence) - 1
        self.unigrams.update(w for w in sequence[:-1] if w in self.wanted)
        self.bigrams.update((a, b) for a, b in pairwise(sequence) if a in self.wanted and b in self.wanted)

    def merge(self, other: BigramCounts) -> None:
        """Add the counts of another shard."""
        self.total += other.total
        self.unigrams.update(other.unigrams)
        self.bigrams.update(other.bigrams)

    def fluency(self, anchor: str, text: str) -> float:
        """The mean log probability of the words of a text, by counts from which the anchor is taken out."""
        sequence, of_anchor = ["", *words(text), ""], ["", *words(anchor), ""]
        anchor_words, anchor_pairs = Counter(of_anchor[:-1]), Counter(pairwise(of_anchor))
        total = self.total - len(of_anchor) + 1
        logs = []
        for a, b in pairwise(sequence):
            single = (max(0, self.unigrams[b] - anchor_words[b]) + 0.5) / (total + 0.5 * len(self.wanted))
            pair = max(0, self.bigrams[a, b] - anchor_pairs[a, b])
            logs.append(
                math.log((pair + SMOOTHING * single) / (max(0, self.unigrams[a] - anchor_words[a]) + SMOOTHING))
            )
        return sum(logs) / len(logs)


CUES: Mapping[str, Callable[[str, str], float]] = {"overlap": overlap, "length": length, "edits": edits}
"""The cues that need no corpus."""
CUE_NAMES = (*CUES, "bigrams")
Signs = tuple[int, int]
"""Which text is nearer by overlap and by length: 1 the positive, -1 the contrast, 0 neither."""


def signs(anchor: str, positive: str, contrast: str) -> Signs:
    """Which of two texts is nearer to the anchor by the cues over which rows are balanced."""
    return _nearer(overlap, anchor, positive, contrast), _nearer(length, anchor, positive, contrast)


def _nearer(cue: Callable[[str, str], float], anchor: str, positive: str, contrast: str) -> int:
    """1 if the positive has the higher value, -1 if the contrast has, 0 if they have the same."""
    values = cue(anchor, positive), cue(anchor, contrast)
    return 0 if math.isclose(*values) else 1 if values[0] > values[1] else -1


def success_shares(rows: Sequence[ContrastRow], counts: BigramCounts | None = None) -> dict[str, float]:
    """By cue, the share of rows in which it picks the positive; ties count half. 0.5 says nothing."""
    cues = dict(CUES)
    if counts is not None:
        cues["bigrams"] = counts.fluency
    return {name: round(_success_share(rows, cue), 4) for name, cue in cues.items()}


def _success_share(rows: Sequence[ContrastRow], cue: Callable[[str, str], float]) -> float:
    signs_of_rows = [_nearer(cue, row.anchor, row.positive, row.contrast) for row in rows]
    return (1 + sum(signs_of_rows) / len(rows)) / 2 if rows else 0.5


# Balance

LENGTH_COST = 0.5
"""Rows are balanced over length, too, if at least this share of those balanced over overlap remains."""


def balanced_sizes(available: Mapping[Signs, int]) -> dict[Signs, int]:
    """How many rows of each kind to take, so that overlap favours neither text, nor length if that costs little.

    >>> balanced_sizes({(0, 0): 5, (1, 0): 9, (-1, 0): 4})
    {(0, 0): 5, (1, 0): 4, (-1, 0): 4}
    >>> balanced_sizes({(1, 1): 9, (-1, 1): 4})  # length cannot be balanced
    {(1, 1): 4, (-1, 1): 4}
    """
    both = {cell: min(n, available.get((-cell[0], -cell[1]), 0)) for cell, n in available.items() if cell != (0, 0)}
    if (0, 0) in available:
        both = {(0, 0): available[0, 0], **both}
    by_side = {side: sum(n for cell, n in available.items() if cell[0] == side) for side in (-1, 1)}
    most = min(by_side.values())
    sizes: dict[Signs, int] = {}
    for cell, n in available.items():
        sizes[cell] = n if cell[0] == 0 else min(n, both[cell])
    for side in (-1, 1):
        free = most - sum(n for cell, n in sizes.items() if cell[0] == side)
        for cell in sorted(cell for cell in available if cell[0] == side):
            added = max(0, min(free, available[cell] - sizes[cell]))
            sizes[cell] += added
            free -= added
    return both if sum(both.values()) >= LENGTH_COST * sum(sizes.values()) else sizes
