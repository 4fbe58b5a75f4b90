"""Target forms that stand in several splits, so that a probe can know them by heart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from sonde.audit.finding import Code, Finding, some
from sonde.audit.rows import Rows
from sonde.data.expected import Expectations
from sonde.task import fold

OFTEN = 8
"""A word must stand in this many sentences of the first split to be taken for a target."""
ONE_SIDED = 0.9
"""Share of those sentences that have the same label."""
TOO_OFTEN = 0.02
"""A word in a larger share of all sentences is a function word, which may tell the label honestly."""
COVERED, RIGHT = 0.25, 0.6
"""Share of the later split's rows that hold such a word; how far their labels are told, from the majority to all.

Sets made from five treebanks, with targets kept apart, have at most 0.14 and 0.88; X-Probe's tense sets, which share
them, 0.40 to 0.44 and 0.85 to 0.91; its French subj_number, whose verbs agree with targets kept apart, 0.21 and 0.82.
"""
CHANCE = 0.01
"""How probable it may be that a word stands beside one label only because that label is frequent."""
MIN_COVERED_ROWS = 30
"""Rows of the later split that must hold such a word."""

CODES = (
    Code(
        "shared-targets",
        "target forms stand in several splits",
        "The set has a column with the target of each row (the verb whose tense is asked for, the noun whose number "
        "is) and the task wants each form in one split only; these forms stand in several. Always an error: a probe "
        "that knows the forms by heart needs no grammar.",
        "Deal out forms, not sentences, when splitting.",
    ),
    Code(
        "likely-shared-targets",
        "target forms seem to stand in several splits",
        "The task wants target forms kept apart, but the set has no column with them, so they are estimated: words "
        "that stand in at least eight sentences of the first split, in at most 2 % of them, and go with the same label "
        "in at least 90 % of those. Some do so by chance, and then tell nothing about another split. A warning if at "
        "least a quarter of the rows of a later split hold such a word and 80 % of these have the label that it tells "
        "(more where the classes are uneven): "
        "that is what shared targets look like (treebank sets with targets kept apart reach 14 % of the rows). The "
        "count is the words that go with their label there too; a few of them may be honest cues (yesterday, these).",
        "Deal out target forms, not sentences, when splitting, or give the column of targets with --target.",
    ),
)
ADVICE = {code.name: code.advice for code in CODES}


def targets(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """Forms of the target column that stand in several splits, where they should not."""
    if not expectations.disjoint:
        return
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for split, key in zip(rows.split, rows.key, strict=True):
        if key is not None:
            homes[key].add(split)
    shared = [key for key, splits in homes.items() if len(splits) > 1]
    if shared:
        affected = sum(key is not None and len(homes[key]) > 1 for key in rows.key)
        message = f"{len(shared):,} of {len(homes):,} target forms stand in several splits"
        evidence = {"forms": len(homes), "rows": affected}
        yield Finding(
            "shared-targets", "error", message, ADVICE["shared-targets"], None, len(shared), some(shared), evidence
        )


def likely_targets(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """The same, estimated from the words that go with one label, where there is no target column."""
    if not expectations.disjoint or any(key is not None for key in rows.key) or len(rows.splits) < 2:
        return
    bags = [{fold(t) for t in tokens if t.isalpha() and len(t) > 1} for tokens in rows.tokens]
    first, *later = rows.splits
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for split, label, words in zip(rows.split, rows.label, bags, strict=True):
        if split == first:
            for word in words:
                seen[word][label] += 1
    counts_of, sided = rows.counts(first), dict[str, str]()
    for word, counts in seen.items():
        label, most = counts.most_common(1)[0]
        n, prior = counts.total(), counts_of[label] / rows.sizes[first]
        if OFTEN <= n <= TOO_OFTEN * rows.sizes[first] and most >= ONE_SIDED * n and prior**n < CHANCE:
            sided[word] = label
    for other in later:
        yield from _shared(rows, bags, sided, first, other)


def _shared(rows: Rows, bags: list[set[str]], sided: dict[str, str], first: str, other: str) -> Iterator[Finding]:
    met: Counter[str] = Counter()
    rights: Counter[str] = Counter()
    covered = right = 0
    for split, label, words in zip(rows.split, rows.label, bags, strict=True):
        if split == other and (told := words & sided.keys()):
            hits = [word for word in told if sided[word] == label]
            met.update(told)
            rights.update(hits)
            covered += 1
            right += 2 * len(hits) > len(told)
    counts = rows.counts(other)
    majority = max(counts.values()) / counts.total()
    if (
        covered < max(MIN_COVERED_ROWS, COVERED * rows.sizes[other])
        or right < (majority + RIGHT * (1 - majority)) * covered
    ):
        return
    shared = sorted(word for word in met if 2 * rights[word] > met[word])
    message = (
        f"{len(shared):,} words that go with one label in {first} stand in {other}: they tell the label of "
        f"{right:,} of the {covered:,} rows that hold one"
    )
    evidence = {"rows": covered, "share": round(covered / rows.sizes[other], 4), "right": round(right / covered, 4)}
    code = "likely-shared-targets"
    yield Finding(code, "warning", message, ADVICE[code], f"{first}/{other}", len(shared), some(shared), evidence)
