"""Rows that are in a set more than once, in one split or in several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from sentprobe.audit.check import (
    ERROR_SHARE,
    AuditCheck,
    Code,
    Finding,
    Severity,
    pick_examples,
    severity_by_share,
    share_evidence,
)
from sentprobe.corpus.folding import letters_of, near_duplicate_key
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

SAME_SPLIT_SHARE = 0.9
"""Two splits that share this much of the smaller one are the same set."""
MIN_SPLIT_ROWS = 20
"""Smaller splits may be alike by chance."""

SAME_SPLIT = Code(
    "same-split",
    "two splits are the same set",
    "At least 90 % of the rows of the smaller split are in the other one too, up to case, digits, punctuation and "
    "spacing. Always an error: what was tuned on one was tuned on the other, and a test score is a dev score. The "
    "count is the number of rows of the later split that the earlier one has.",
    "Find the missing split, or draw a new one; scores published on this one are dev scores.",
)
COPIES_ACROSS_SPLITS = Code(
    "copies-across-splits",
    "rows of one split are duplicates of rows in an earlier one",
    "Dev or test rows whose sentence (and further input) is in an earlier split, character by character and with "
    "the same label. The count is rows of the later split. An error from 1 % of that split on, otherwise a "
    "warning: a probe can memorise these answers.",
    "Remove the duplicates from the earlier split.",
)
NEAR_COPIES_ACROSS_SPLITS = Code(
    "near-copies-across-splits",
    "rows of one split are near-duplicates of rows in an earlier one",
    "Dev or test rows that are the same as a row of an earlier split once case, digits, punctuation and spacing "
    "are ignored, but not character by character; labels are not compared. An error from 1 % of the later split "
    "on, otherwise a warning.",
    "Remove near-duplicates from the pool before splitting.",
)
COPIES_IN_SPLIT = Code(
    "copies-in-split",
    "rows are in a split more than once",
    "Rows whose sentence, further input and label another row of the same split has, character by character; the "
    "first of each group does not count. A warning from 1 % of the split on, otherwise a note: duplicates give "
    "some sentences more weight and make intervals too narrow.",
    "Keep one of each.",
)
NEAR_COPIES_IN_SPLIT = Code(
    "near-copies-in-split",
    "a split has near-duplicates",
    "Different sentences of one split that are the same once case, digits, punctuation and spacing are ignored; "
    "one form of each group does not count. A warning from 1 % of the split on, otherwise a note.",
    "Keep one of each.",
)
SAME = "the same as another up to case, digits and punctuation"


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Duplicates and near-duplicates, within each split and between every two."""
    splits, sizes = rows.split_names, Counter(rows.split_sizes)
    letters = letters_of(rows.exact)
    times = Counter(letters)
    if len(times) == len(rows):
        return
    # few rows of most sets remain, and everything else is about these
    rows = rows.take([i for i, key in enumerate(letters) if times[key] > 1 or not key])
    blank = near_duplicate_key("")  # rows without a word are a finding of their own
    where: dict[str, list[int]] = {split: [] for split in splits}
    for i, (split, key) in enumerate(zip(rows.splits, rows.near, strict=True)):
        if key == blank:
            sizes[split] -= 1
        else:
            where[split].append(i)
    near = {s: {rows.near[i] for i in members} for s, members in where.items()}
    exact = {s: {rows.exact[i] for i in members} for s, members in where.items()}
    labelled = {s: {(rows.exact[i], rows.label_names[i]) for i in members} for s, members in where.items()}
    distinct = {s: sizes[s] - len(where[s]) + len(near[s]) for s in splits}
    for split, members in where.items():
        yield from _within(rows, split, members, sizes[split])
    for a, b in combinations(splits, 2):
        n, pair = sizes[b], f"{a}/{b}"
        first, later = SPLIT_NAMES[a], SPLIT_NAMES[b]
        shared = len(near[a] & near[b])
        smaller, larger = sorted((distinct[a], distinct[b]))
        if smaller >= MIN_SPLIT_ROWS and shared >= SAME_SPLIT_SHARE * smaller:
            hits = [i for i in where[b] if rows.near[i] in near[a]]
            alike = shared >= SAME_SPLIT_SHARE * larger
            both = f"{first} and {later}"
            what = f"{both} are the same set" if alike else f"one of {both} contains the other"
            message = f"{what}: {len(hits):,} of the {n:,} {later} rows are in {first}"
            yield SAME_SPLIT.finding("error", message, pair, len(hits), evidence=share_evidence(len(hits), n))
            continue
        hits = [i for i in where[b] if (rows.exact[i], rows.label_names[i]) in labelled[a]]
        what = "is a duplicate of a row" if len(hits) == 1 else "are duplicates of rows"
        message = f"{len(hits):,} of the {n:,} {later} rows {what} in {first}"
        yield from _across(rows, COPIES_ACROSS_SPLITS, hits, n, pair, message)
        hits = [i for i in where[b] if rows.near[i] in near[a] and rows.exact[i] not in exact[a]]
        what = "differs" if len(hits) == 1 else "differ"
        message = (
            f"{len(hits):,} of the {n:,} {later} rows {what} from one in {first} only in case, digits and punctuation"
        )
        yield from _across(rows, NEAR_COPIES_ACROSS_SPLITS, hits, n, pair, message)


def _across(rows: Split, code: Code, hits: list[int], n: int, pair: str, message: str) -> Iterator[Finding]:
    if hits:
        examples = pick_examples(rows.texts[i] for i in hits)
        severity = severity_by_share(len(hits), n)
        yield code.finding(severity, message, pair, len(hits), examples, share_evidence(len(hits), n))


def _within(rows: Split, split: str, members: list[int], n: int) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    forms: dict[int, set[str]] = {}
    exact: list[str] = []
    for i in members:
        row = (rows.exact[i], rows.label_names[i])
        if row in seen:
            exact.append(rows.texts[i])
        seen.add(row)
        forms.setdefault(rows.near[i], set()).add(rows.exact[i])
    near = [text for several in forms.values() if len(several) > 1 for text in sorted(several)[1:]]
    for code, hits, singular, plural in (
        (COPIES_IN_SPLIT, exact, "is a duplicate of another", "are duplicates of others"),
        (NEAR_COPIES_IN_SPLIT, near, f"is {SAME}", f"are {SAME}"),
    ):
        if hits:
            severity: Severity = "warning" if len(hits) >= ERROR_SHARE * n else "note"
            message = f"{len(hits):,} of the {n:,} {SPLIT_NAMES[split]} rows {singular if len(hits) == 1 else plural}"
            evidence = share_evidence(len(hits), n)
            yield code.finding(severity, message, split, len(hits), pick_examples(hits), evidence)


audit_check = AuditCheck(
    name="duplicates",
    topic="copies",
    codes=(SAME_SPLIT, COPIES_ACROSS_SPLITS, NEAR_COPIES_ACROSS_SPLITS, COPIES_IN_SPLIT, NEAR_COPIES_IN_SPLIT),
    in_set=find,
    quick=True,
    order=10,
)
