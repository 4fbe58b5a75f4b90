"""Rows that are in a set more than once, in one split or in several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from sentprobe.audit.check import AuditCheck
from sentprobe.audit.finding import ERROR_SHARE, SPLIT_NAMES, Code, Finding, Severity, severity_by_share, some
from sentprobe.corpus.folding import letters_of, near_duplicate_key
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

SAME_SPLIT_SHARE = 0.9
"""Two splits that share this much of the smaller one are the same set."""
MIN_SPLIT_ROWS = 20
"""Smaller splits may be alike by chance."""

CODES = (
    Code(
        "same-split",
        "two splits are the same set",
        "At least 90 % of the rows of the smaller split are in the other one too, up to case, digits, punctuation and "
        "spacing. Always an error: what was tuned on one was tuned on the other, and a test score is a dev score. The "
        "count is the number of rows of the later split that the earlier one has.",
        "Find the missing split, or draw a new one; scores published on this one are dev scores.",
    ),
    Code(
        "copies-across-splits",
        "rows of one split are duplicates of rows in an earlier one",
        "Dev or test rows whose sentence (and further input) is in an earlier split, character by character and with "
        "the same label. The count is rows of the later split. An error from 1 % of that split on, otherwise a "
        "warning: a probe can memorise these answers.",
        "Remove the duplicates from the earlier split.",
    ),
    Code(
        "near-copies-across-splits",
        "rows of one split are near-duplicates of rows in an earlier one",
        "Dev or test rows that are the same as a row of an earlier split once case, digits, punctuation and spacing "
        "are ignored, but not character by character; labels are not compared. An error from 1 % of the later split "
        "on, otherwise a warning.",
        "Remove near-duplicates from the pool before splitting.",
    ),
    Code(
        "copies-in-split",
        "rows are in a split more than once",
        "Rows whose sentence, further input and label another row of the same split has, character by character; the "
        "first of each group does not count. A warning from 1 % of the split on, otherwise a note: duplicates give "
        "some sentences more weight and make intervals too narrow.",
        "Keep one of each.",
    ),
    Code(
        "near-copies-in-split",
        "a split has near-duplicates",
        "Different sentences of one split that are the same once case, digits, punctuation and spacing are ignored; "
        "one form of each group does not count. A warning from 1 % of the split on, otherwise a note.",
        "Keep one of each.",
    ),
)
ADVICE = {code.name: code.advice for code in CODES}
SAME = "the same as another up to case, digits and punctuation"


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Duplicates and near-duplicates, within each split and between every two."""
    splits, sizes = rows.split_names, Counter(rows.split_sizes)
    letters = letters_of(rows.exact)
    times = Counter(letters)
    if len(times) == len(rows):
        return
    # of most sets only a few rows are left, and everything else is about these
    rows = rows.take([i for i, found in enumerate(letters) if times[found] > 1 or not found])
    blank = near_duplicate_key("")  # rows without a word are a finding of their own
    where: dict[str, list[int]] = {split: [] for split in splits}
    for i, (split, key) in enumerate(zip(rows.splits, rows.near, strict=True)):
        if key == blank:
            sizes[split] -= 1
        else:
            where[split].append(i)
    near = {s: {rows.near[i] for i in found} for s, found in where.items()}
    exact = {s: {rows.exact[i] for i in found} for s, found in where.items()}
    labelled = {s: {(rows.exact[i], rows.label_names[i]) for i in found} for s, found in where.items()}
    distinct = {s: sizes[s] - len(where[s]) + len(near[s]) for s in splits}
    for split, found in where.items():
        yield from _within(rows, split, found, sizes[split])
    for one, two in combinations(splits, 2):
        n, pair = sizes[two], f"{one}/{two}"
        first, later = SPLIT_NAMES[one], SPLIT_NAMES[two]
        shared = len(near[one] & near[two])
        smaller, larger = sorted((distinct[one], distinct[two]))
        if smaller >= MIN_SPLIT_ROWS and shared >= SAME_SPLIT_SHARE * smaller:
            hits = [i for i in where[two] if rows.near[i] in near[one]]
            alike = shared >= SAME_SPLIT_SHARE * larger
            both = f"{first} and {later}"
            what = f"{both} are the same set" if alike else f"one of {both} contains the other"
            message = f"{what}: {len(hits):,} of the {n:,} {later} rows are in {first}"
            evidence = {"rows": n, "share": round(len(hits) / n, 4)}
            yield Finding("same-split", "error", message, ADVICE["same-split"], pair, len(hits), (), evidence)
            continue
        hits = [i for i in where[two] if (rows.exact[i], rows.label_names[i]) in labelled[one]]
        what = "is a duplicate of a row" if len(hits) == 1 else "are duplicates of rows"
        message = f"{len(hits):,} of the {n:,} {later} rows {what} in {first}"
        yield from _across(rows, "copies-across-splits", hits, n, pair, message)
        hits = [i for i in where[two] if rows.near[i] in near[one] and rows.exact[i] not in exact[one]]
        what = "differs" if len(hits) == 1 else "differ"
        message = (
            f"{len(hits):,} of the {n:,} {later} rows {what} from one in {first} only in case, digits and punctuation"
        )
        yield from _across(rows, "near-copies-across-splits", hits, n, pair, message)


def _across(rows: Split, code: str, hits: list[int], n: int, pair: str, message: str) -> Iterator[Finding]:
    if hits:
        evidence = {"rows": n, "share": round(len(hits) / n, 4)}
        examples = some(rows.texts[i] for i in hits)
        yield Finding(code, severity_by_share(len(hits), n), message, ADVICE[code], pair, len(hits), examples, evidence)


def _within(rows: Split, split: str, found: list[int], n: int) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    forms: dict[int, set[str]] = {}
    exact: list[str] = []
    for i in found:
        row = (rows.exact[i], rows.label_names[i])
        if row in seen:
            exact.append(rows.texts[i])
        seen.add(row)
        forms.setdefault(rows.near[i], set()).add(rows.exact[i])
    near = [text for several in forms.values() if len(several) > 1 for text in sorted(several)[1:]]
    for code, hits, singular, plural in (
        ("copies-in-split", exact, "is a duplicate of another", "are duplicates of others"),
        ("near-copies-in-split", near, f"is {SAME}", f"are {SAME}"),
    ):
        if hits:
            severity: Severity = "warning" if len(hits) >= ERROR_SHARE * n else "note"
            full = f"{len(hits):,} of the {n:,} {SPLIT_NAMES[split]} rows {singular if len(hits) == 1 else plural}"
            evidence = {"rows": n, "share": round(len(hits) / n, 4)}
            yield Finding(code, severity, full, ADVICE[code], split, len(hits), some(hits), evidence)


audit_check = AuditCheck(name="duplicates", topic="copies", codes=CODES, in_set=find, quick=True, order=10)
