"""Sentences that are in a set both in their original and in a changed form."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sentprobe.audit.check import AuditCheck, Code, Finding, pick_examples, severity_by_share
from sentprobe.core.formatting import count_of
from sentprobe.core.hashing import hash_64
from sentprobe.core.words import is_word
from sentprobe.corpus.folding import fold, lower_case
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

Hashes = npt.NDArray[np.uint64]

BOTH_FORMS = Code(
    "both-forms",
    "sentences in both original and changed form",
    "Rows with different labels that have the same words in another order or, in a task that replaces words, all "
    "words but one (not a name or number) in common, in sentences of eight tokens or more. The count is the "
    "number of such sentences. An error from 1 % of the rows on, otherwise a warning: a probe can learn which of "
    "two known sentences is which, and a counterpart in another split is a leak.",
    "Keep one form of each sentence.",
)
MIN_FRAME_TOKENS = 8
"""Shorter sentences are little more than frames, such as *It was a … one*."""


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Counterparts with another label: the same bag of words or, where a task replaces words, all words but one."""
    # pairs are meant to be like that, and other tasks change nothing
    if expectations.inputs or (expectations.task and not expectations.changes):
        return
    bags: defaultdict[tuple[tuple[str, ...], ...], list[int]] = defaultdict(list)
    for i, (tokens, further) in enumerate(zip(rows.tokens, rows.further, strict=True)):
        words = sorted(fold(t, expectations.language) for t in tokens if any(map(str.isalnum, t)))
        if len(words) > 2:
            bags[tuple(words), further].append(i)
    groups = [group for group in bags.values() if len(group) > 1]
    if expectations.changes == "words":
        groups += _all_but_one(rows, expectations.language)
    counterparts = _merged([partners for group in groups if (partners := _partners(rows, group))])
    hits = set[int]().union(*counterparts)
    if hits:
        sentences = f"{count_of(len(counterparts), 'sentence')} {'is' if len(counterparts) == 1 else 'are'}"
        message = f"{sentences} also in the set with words exchanged and another label"
        evidence = {
            "rows": len(hits),
            "share": round(len(hits) / len(rows), 4),
            "across splits": sum(len({rows.splits[i] for i in group}) > 1 for group in counterparts),
        }
        severity, examples = severity_by_share(len(hits), len(rows)), pick_examples(rows.texts[i] for i in hits)
        yield BOTH_FORMS.finding(severity, message, None, len(counterparts), examples, evidence)


def _partners(rows: Split, group: list[int]) -> set[int]:
    """The rows of a group that have a counterpart in it with another text and another label."""
    pairs = {(rows.near[i], rows.label_names[i]) for i in group}
    texts, labels = Counter(near for near, _ in pairs), Counter(label for _, label in pairs)
    # of all pairs, those with the same text or the same label are not counterparts; the row's own has both
    return {i for i in group if len(pairs) - texts[rows.near[i]] - labels[rows.label_names[i]] + 1 > 0}


def _merged(groups: list[set[int]]) -> list[set[int]]:
    """Groups that share a row are one."""
    home: dict[int, set[int]] = {}
    for group in groups:
        joined = set(group)
        for overlapping in {id(home[i]): home[i] for i in group if i in home}.values():
            joined |= overlapping
        home |= dict.fromkeys(joined, joined)
    return list({id(group): group for group in home.values()}.values())


def _all_but_one(rows: Split, language: str | None) -> Iterator[list[int]]:
    """Groups of rows that are the same except for one word without capitals at the same position.

    The key of a row without its i-th token is the sum of its tokens' hashes, each mixed with its position, minus that
    of the token.
    """
    flat = [t for tokens in rows.tokens for t in tokens]
    if not flat:
        return
    hashes = {t: hash_64(fold(t, language)) for t in dict.fromkeys(flat)}
    sizes = np.array(rows.lengths)
    starts = np.cumsum(sizes) - sizes
    row = np.repeat(np.arange(len(sizes)), sizes)
    position = (np.arange(len(flat)) - starts[row]).astype(np.uint64)
    part = _mix(np.array([hashes[t] for t in flat], np.uint64) + position * np.uint64(0x9E3779B97F4A7C15))
    total = np.zeros(len(sizes), np.uint64)
    np.add.at(total, row, part)
    # scripts without capitals have no other way to tell names
    free = np.array([is_word(t) and t == lower_case(t, language) and len(t) > 1 for t in flat])
    free &= sizes[row] >= MIN_FRAME_TOKENS
    key = _mix(total[row] - part + position * np.uint64(0xD1B54A32D192ED03) + sizes[row].astype(np.uint64))[free]
    owner = row[free]
    order = np.argsort(key, kind="stable")
    key, owner = key[order], owner[order]
    edges = np.flatnonzero(np.r_[True, key[1:] != key[:-1], True])
    for a, b in pairwise(edges.tolist()):
        if b - a > 1:
            yield owner[a:b].tolist()


def _mix(x: Hashes) -> Hashes:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


audit_check = AuditCheck(name="forms", topic="copies", codes=(BOTH_FORMS,), in_set=find, order=11)
