"""Target forms that seem to be in several splits, where no column names them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from sentprobe.audit.check import AuditCheck, Code, Finding, pick_examples
from sentprobe.core.words import is_word
from sentprobe.corpus.folding import fold
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

OFTEN = 8
"""A word must be in this many sentences of the first split to be taken for a target."""
ONE_SIDED = 0.9
"""Share of those sentences that have the same label."""
TOO_OFTEN = 0.02
"""A word in a larger share of all sentences is a function word, which may predict the label legitimately."""
COVERED, RIGHT = 0.25, 0.6
"""Share of the later split's rows that have such a word; how well it predicts their labels, from majority to perfect.

Sets made from five treebanks, with targets kept apart, have at most 0.14 and 0.88; X-Probe's tense sets, which share
them, 0.40 to 0.44 and 0.85 to 0.91; its French subj_number, whose verbs agree with targets kept apart, 0.21 and 0.82.
"""
CHANCE = 0.01
"""The highest probability that a word has one label only because that label is frequent."""
MIN_COVERED_ROWS = 30
"""Rows of the later split that must have such a word."""

LIKELY_SHARED_TARGETS = Code(
    "likely-shared-targets",
    "several splits seem to have the same target forms",
    "The task requires target forms to be kept apart, but the set has no column with them, so they are estimated: "
    "words that are in at least eight sentences of the first split, in at most 2 % of them, and have the same label in "
    "at least 90 % of those. Some do so by chance, and then say nothing about another split. A warning if at least a "
    "quarter of the rows of a later split have such a word and 80 % of these have the label that it predicts (more "
    "where the classes are uneven): that is what shared targets look like (treebank sets with targets kept apart reach "
    "14 % of the rows). The count is the words that predict the right label there too; a few of them may be "
    "legitimate cues (yesterday, these).",
    "Split by target form, not by sentence, or name the column of targets with --target.",
)


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Words that predict one label, and do so in several splits, where there is no target column."""
    if not expectations.disjoint or any(key is not None for key in rows.keys) or len(rows.split_names) < 2:
        return
    bags = [{fold(t, expectations.language) for t in tokens if is_word(t) and len(t) > 1} for tokens in rows.tokens]
    first, *later = rows.split_names
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for split, label, words in zip(rows.splits, rows.label_names, bags, strict=True):
        if split == first:
            for word in words:
                seen[word][label] += 1
    counts_of, sided = rows.label_counts(first), dict[str, str]()
    for word, counts in seen.items():
        label, most = counts.most_common(1)[0]
        n, prior = counts.total(), counts_of[label] / rows.split_sizes[first]
        if OFTEN <= n <= TOO_OFTEN * rows.split_sizes[first] and most >= ONE_SIDED * n and prior**n < CHANCE:
            sided[word] = label
    for split in later:
        yield from _shared(rows, bags, sided, first, split)


def _shared(rows: Split, bags: list[set[str]], sided: dict[str, str], first: str, later: str) -> Iterator[Finding]:
    present: Counter[str] = Counter()
    rights: Counter[str] = Counter()
    covered = right = 0
    for split, label, words in zip(rows.splits, rows.label_names, bags, strict=True):
        if split == later and (cues := words & sided.keys()):
            hits = [word for word in cues if sided[word] == label]
            present.update(cues)
            rights.update(hits)
            covered += 1
            right += 2 * len(hits) > len(cues)
    counts = rows.label_counts(later)
    majority = max(counts.values()) / counts.total()
    if (
        covered < max(MIN_COVERED_ROWS, COVERED * rows.split_sizes[later])
        or right < (majority + RIGHT * (1 - majority)) * covered
    ):
        return
    shared = sorted(word for word in present if 2 * rights[word] > present[word])
    message = (
        f"{len(shared):,} words that have one label in {SPLIT_NAMES[first]} are in {SPLIT_NAMES[later]} too: they "
        f"predict the label of {right:,} of the {covered:,} rows that have one"
    )
    evidence = {
        "rows": covered,
        "share": round(covered / rows.split_sizes[later], 4),
        "right": round(right / covered, 4),
    }
    pair, examples = f"{first}/{later}", pick_examples(shared)
    yield LIKELY_SHARED_TARGETS.finding("warning", message, pair, len(shared), examples, evidence)


audit_check = AuditCheck(
    name="likely_targets",
    topic="targets",
    codes=(LIKELY_SHARED_TARGETS,),
    in_set=find,
    needs_classes=True,
    order=31,
)
