"""Target forms that stand in several splits, so that a probe can know them by heart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from sonde.audit.finding import Code, Finding, some
from sonde.audit.rows import Known, Rows
from sonde.task import fold

OFTEN = 8
"""A word must stand in this many sentences of both splits to say anything."""
ONE_SIDED = 0.9
"""Share of those sentences that have the same label."""
TOO_OFTEN = 0.02
"""A word in a larger share of all sentences is a function word, which may tell the label honestly."""
FEWEST = 5
"""Fewer such words may come about by chance."""

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
        "that stand in at least eight sentences of both splits, in at most 2 % of all sentences, and go with the same "
        "label in at least 90 % of their sentences in either. Among words that have nothing to do with the label, "
        "fewer than one in ten thousand looks like this. Five such words or more are a warning; a few of them may "
        "be honest cues (yesterday, these) rather than targets.",
        "Deal out target forms, not sentences, when splitting, or give the column of targets with --target.",
    ),
)
ADVICE = {code.name: code.advice for code in CODES}


def targets(rows: Rows, known: Known) -> Iterator[Finding]:
    """Forms of the target column that stand in several splits, where they should not."""
    if not known.disjoint:
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


def likely_targets(rows: Rows, known: Known) -> Iterator[Finding]:
    """The same, estimated from the words that go with one label, where there is no target column."""
    if not known.disjoint or any(key is not None for key in rows.key) or len(rows.splits) < 2:
        return
    seen: dict[str, defaultdict[str, Counter[str]]] = {s: defaultdict(Counter) for s in rows.splits}
    for split, label, tokens in zip(rows.split, rows.label, rows.tokens, strict=True):
        table = seen[split]
        for word in {fold(t) for t in tokens if t.isalpha() and len(t) > 1}:
            table[word][label] += 1
    sided: dict[str, dict[str, str]] = {}
    for split, table in seen.items():
        sided[split] = {}
        for word, counts in table.items():
            n = counts.total()
            if OFTEN <= n <= TOO_OFTEN * rows.sizes[split]:
                label, most = counts.most_common(1)[0]
                if most >= ONE_SIDED * n:
                    sided[split][word] = label
    first, *later = rows.splits
    for split in later:
        shared = sorted(word for word, label in sided[first].items() if sided[split].get(word) == label)
        if len(shared) >= FEWEST:
            hits = sum(
                s == split and not {fold(t) for t in tokens}.isdisjoint(shared)
                for s, tokens in zip(rows.split, rows.tokens, strict=True)
            )
            message = f"{len(shared):,} words go with one label in {first} and in {split}: targets that both have"
            evidence = {"rows": hits, "share": round(hits / rows.sizes[split], 4)}
            yield Finding(
                "likely-shared-targets", "warning", message, ADVICE["likely-shared-targets"], f"{first}/{split}",
                len(shared), some(shared), evidence,
            )  # fmt: skip
