"""Pairs with labels from the files of XNLI, with every column that they have; and what its authors measured on them.

Gold labels by vote, mean token counts, words that give labels away, and agreement with a second annotation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from sentprobe.core.arguments import check_options
from sentprobe.core.reader import read_tsv, wrong_width
from sentprobe.errors import CorpusError, DataError
from sentprobe.stats.intervals import wilson

LABELS = ("entailment", "neutral", "contradiction")
NO_GOLD = "-"
COLUMNS = ("sentence1", "sentence2", "gold_label")
VOTES = tuple(f"label{i}" for i in range(1, 6))
CONSENSUS = 3
"""Votes for a gold label."""


@dataclass(frozen=True, slots=True)
class NliPair:
    """A row of a file."""

    premise: str
    hypothesis: str
    label: str
    language: str
    """Empty where the file does not say."""
    votes: tuple[str, ...]
    """Of the author and the annotators, as far as they are there."""


def read_pairs(path: str, language: str = "") -> list[NliPair]:
    """The pairs of ``xnli.dev.tsv`` with its header, or of a file with two sentences and a label per line."""
    pairs = list(_pairs(path, language))
    if not pairs:
        raise DataError(f"{path} has no pairs{' in ' + language if language else ''}.")
    return pairs


def _pairs(path: str, language: str) -> Iterator[NliPair]:
    names: Sequence[str] = COLUMNS
    for number, cells in read_tsv(path):
        if number == 1 and set(COLUMNS) <= set(cells):
            names = cells
            continue
        if len(cells) < len(names):
            raise wrong_width(path, number, cells, f"{len(names)}: {', '.join(names)}")
        row = dict(zip(names, cells, strict=False))
        row_language = row.get("language", "")
        if language and row_language not in ("", language):
            continue
        if row["gold_label"] not in (*LABELS, NO_GOLD):
            expected = f"one of {', '.join(LABELS)}, or {NO_GOLD}"
            raise CorpusError(path, number, f"the label {row['gold_label'][:20]!r}", expected)
        votes = tuple(row[name] for name in VOTES if row.get(name))
        if unknown_votes := [vote for vote in votes if vote not in LABELS]:
            raise CorpusError(path, number, f"the vote {unknown_votes[0][:20]!r}", f"one of {', '.join(LABELS)}")
        yield NliPair(row["sentence1"], row["sentence2"], row["gold_label"], row_language, votes)


# Votes


def gold_label(votes: Sequence[str], consensus: int = CONSENSUS) -> str:
    """The label that at least this many have chosen, or ``-``.

    Examples
    --------
    >>> gold_label(["neutral", "neutral", "entailment", "neutral", "contradiction"])
    'neutral'
    >>> gold_label(["neutral", "neutral", "entailment", "entailment", "contradiction"])
    '-'
    """
    if not votes:
        return NO_GOLD
    (label, count), *_ = Counter(votes).most_common()
    return label if count >= consensus else NO_GOLD


@dataclass(frozen=True)
class VoteReport:
    """How the votes of a file agree, and whether its gold labels are theirs."""

    pairs: int
    voted: int
    """Pairs with votes."""
    consensus: int
    """Pairs with a gold label by vote."""
    unanimous: int
    author_kept: int
    """Pairs whose gold label is the first vote, the author's."""
    different: tuple[int, ...]
    """Numbers, from 1, of pairs whose gold label in the file is another one."""


def count_votes(pairs: Iterable[NliPair]) -> VoteReport:
    """Vote on every pair."""
    all_pairs = list(pairs)
    voted = [(i, pair, gold_label(pair.votes)) for i, pair in enumerate(all_pairs, 1) if pair.votes]
    return VoteReport(
        pairs=len(all_pairs),
        voted=len(voted),
        consensus=sum(gold != NO_GOLD for _, _, gold in voted),
        unanimous=sum(len(set(pair.votes)) == 1 for _, pair, _ in voted),
        author_kept=sum(gold == pair.votes[0] for _, pair, gold in voted),
        different=tuple(i for i, pair, gold in voted if gold != pair.label),
    )


# Lengths


@dataclass(frozen=True)
class Lengths:
    """Mean tokens of one language."""

    language: str
    pairs: int
    premise: float
    hypothesis: float


def mean_lengths(pairs: Iterable[NliPair], tokens: Callable[[str, str], Sequence[str]]) -> list[Lengths]:
    """The means by language; ``tokens`` is called with a text and its language."""
    groups: dict[str, list[NliPair]] = {}
    for pair in pairs:
        groups.setdefault(pair.language, []).append(pair)
    return [
        Lengths(
            language,
            len(group),
            sum(len(tokens(pair.premise, language)) for pair in group) / len(group),
            sum(len(tokens(pair.hypothesis, language)) for pair in group) / len(group),
        )
        for language, group in groups.items()
    ]


# Words that give labels away


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
    pairs: Iterable[NliPair], tokens: Callable[[str], Sequence[str]], most: int = 10, least: int = 5
) -> dict[str, list[Cue]]:
    """The words with the most information about each class, among those in ``least`` hypotheses or more."""
    check_options(1, top=most, least=least)
    sizes: Counter[str] = Counter()
    words: Counter[str] = Counter()
    counts_by_label: Counter[tuple[str, str]] = Counter()
    for pair in pairs:
        if pair.label not in LABELS:
            continue
        sizes[pair.label] += 1
        for word in {token.lower() for token in tokens(pair.hypothesis)}:
            words[word] += 1
            counts_by_label[word, pair.label] += 1
    total = sizes.total()
    by_label: dict[str, list[Cue]] = {}
    for label in LABELS:
        cues = [
            Cue(
                label,
                word,
                mutual_information(counts_by_label[word, label], count, sizes[label], total),
                counts_by_label[word, label] / count,
                count,
            )
            for word, count in words.items()
            if count >= least and counts_by_label[word, label] * total > count * sizes[label]
        ]
        by_label[label] = sorted(cues, key=lambda cue: (-cue.information, cue.word))[:most]
    return by_label


def mutual_information(both: int, first: int, second: int, total: int) -> float:
    """Bits of two events that occur ``one`` and ``other`` times out of ``total``, and ``both`` times together."""
    cells = (
        (both, first, second),
        (first - both, first, total - second),
        (second - both, total - first, second),
        (total - first - second + both, total - first, total - second),
    )
    return sum(n / total * math.log2(n * total / (a * b)) for n, a, b in cells if n)


# Two annotations


@dataclass(frozen=True)
class LabelAgreement:
    """Two annotations of the same pairs."""

    n: int
    same: int
    low: float
    high: float
    """The interval of the share that is the same: Wilson's."""
    kappa: float
    """Cohen's."""

    @property
    def share(self) -> float:
        """Of pairs with the same label."""
        return self.same / self.n


def label_agreement(gold: Sequence[str], annotated: Sequence[str]) -> LabelAgreement:
    """Compare the labels of a second annotation with gold labels, pair by pair."""
    if len(gold) != len(annotated):
        raise DataError(f"There are {len(gold):,} gold labels and {len(annotated):,} others; expected one per pair.")
    if not gold:
        raise DataError("There are no labels to compare.")
    n, same = len(gold), sum(a == b for a, b in zip(gold, annotated, strict=True))
    gold_counts, annotated_counts = Counter(gold), Counter(annotated)
    chance = sum(gold_counts[label] * annotated_counts[label] for label in gold_counts) / n**2
    # of one label only, both agree throughout
    kappa = (same / n - chance) / (1 - chance) if chance < 1 else 1.0
    return LabelAgreement(n, same, *wilson(same, n), kappa)
