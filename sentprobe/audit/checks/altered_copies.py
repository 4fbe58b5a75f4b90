"""Rows of one split that are rows of an earlier one with a word changed, added or left out, reordered, or cut short.

Sentences are compared by hashes of their words that can be computed without a word, or up to a word, from running sums:
a hash is the sum of (hash of the word × base to the power of its position), modulo 2⁶⁴. All candidates of a million
rows fit in a few arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sentprobe.audit.check import (
    ERROR_SHARE,
    AuditCheck,
    Code,
    Finding,
    Severity,
    pick_examples,
    share_evidence,
)
from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import near_duplicate_text
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

MIN_WORDS = 6
"""Shorter sentences are alike by chance: *I do not know* and *I do not care*."""
MIN_KEPT_SHARE = 0.6
"""The share of a sentence's words that a part of it must have, to count as the sentence cut short."""
FEW = 5
"""Fewer rows than this are a note."""
BASE = np.uint64(0x9E3779B97F4A7C15)
INVERSE = np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))

CODE = Code(
    "altered-copies",
    "rows of one split are rows of an earlier one, slightly changed",
    "Dev or test rows of six words or more that are the same as a row of an earlier split but for one word changed, "
    "added or left out, or for the order of the words, or for the end of the sentence, of which at least 60 % of the "
    "words must be left. Case, numbers, punctuation and Unicode normalisation are ignored, and rows that are "
    "near-duplicates anyway do not count. Sets with further inputs, such as pairs, are not examined. The evidence "
    "counts the kinds. Rows in another order have the same label; those with another one are `both-forms`. They do "
    "not count in tasks that change the order of words, nor do rows with one word changed in tasks that replace "
    "words. A note below 1 % of the later split or five rows, a warning from there, an error from 10 % on: weather "
    "reports and legal texts are alike by nature, but a probe can memorise their answers, too.",
    "Read the examples; if a text was used several times, draw the splits by document.",
)
Keys = NDArray[np.uint64]


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Altered copies in each split of the rows of earlier ones, a finding for each pair of splits."""
    if len(rows.split_names) < 2 or any(rows.further):
        return
    hashes = _Hashes(rows)
    kinds = [
        kind
        for kind in KINDS
        if not (expectations.changes == "order" and kind == "another order")
        and not (expectations.changes == "words" and kind == "a word changed")
    ]
    for earlier, later in combinations(rows.split_names, 2):
        kind_of: dict[int, str] = {}
        for kind in kinds:
            for row in KINDS[kind](hashes, hashes.of(earlier), hashes.of(later)):
                kind_of.setdefault(int(row), kind)
        near = {rows.near[i] for i, split in enumerate(rows.splits) if split == earlier}
        copies = {row: kind for row, kind in sorted(kind_of.items()) if rows.near[row] not in near}
        if copies:
            yield _finding(rows, copies, earlier, later)


def _finding(rows: Split, copies: Mapping[int, str], earlier: str, later: str) -> Finding:
    """The altered copies of one split's rows in a later one; ``copies`` says how each differs."""
    size, count = rows.split_sizes[later], len(copies)
    severity: Severity = "note"
    if count / size >= ERROR_SHARE and count >= FEW:
        severity = "error" if count / size >= 10 * ERROR_SHARE else "warning"
    source = SPLIT_NAMES[earlier]
    what = f"is an altered copy of a {source} row" if count == 1 else f"are altered copies of {source} rows"
    message = f"{count:,} of the {size:,} {SPLIT_NAMES[later]} rows {what}"
    counts = Counter(copies.values())
    evidence = {**share_evidence(count, size), **{kind: counts[kind] for kind in KINDS if kind in counts}}
    examples = pick_examples(rows.texts[row] for row in copies)
    return CODE.finding(severity, message, f"{earlier}/{later}", count, examples, evidence)


class _Hashes:
    """The words of all rows as hashes, and sums of them."""

    def __init__(self, rows: Split) -> None:
        words = [near_duplicate_text(text).split() for text in rows.texts]
        hashes = {word: hash_64(word) for word in {word for row in words for word in row}}
        self.sizes = np.array([len(row) for row in words])
        self.starts = np.r_[0, np.cumsum(self.sizes)]
        self.row = np.repeat(np.arange(len(words)), self.sizes)
        self.position = np.arange(len(self.row)) - self.starts[:-1][self.row]
        self.word = np.array([hashes[word] for row in words for word in row], np.uint64)
        powers = np.ones(int(self.sizes.max(initial=0)) + 1, np.uint64)
        with np.errstate(over="ignore"):
            powers[1:] = np.multiply.accumulate(np.full(len(powers) - 1, BASE))
            self.term = self.word * powers[self.position]
            running = np.r_[np.uint64(0), np.cumsum(self.term, dtype=np.uint64)]
            self.before = running[:-1] - running[self.starts[:-1]][self.row]  # of the words before each word
            self.total = running[self.starts[1:]] - running[self.starts[:-1]]
            self.bag = np.zeros(len(words), np.uint64)
            np.add.at(self.bag, self.row, _scrambled(self.word))
            self.bag += np.array([hash_64(label) for label in rows.label_names], np.uint64)
        self.split = np.array(rows.splits)
        self.long = self.sizes >= MIN_WORDS

    def of(self, split: str) -> NDArray[np.bool_]:
        """Which rows are in a split and long enough."""
        selected: NDArray[np.bool_] = (self.split == split) & self.long
        return selected

    def without_word(self, rows: NDArray[np.bool_]) -> tuple[Keys, NDArray[np.int64]]:
        """Hashes of each row without each of its words, closed up, and the rows."""
        selected = rows[self.row]
        with np.errstate(over="ignore"):
            after = self.total[self.row] - self.before - self.term
            keys = self.before + after * INVERSE
        return keys[selected], self.row[selected]

    def with_gap(self, rows: NDArray[np.bool_]) -> tuple[Keys, NDArray[np.int64]]:
        """Hashes of each row with any word in place of each of its words, and the rows."""
        selected = rows[self.row]
        with np.errstate(over="ignore"):
            keys = self.total[self.row] - self.term + _scrambled(self.position.astype(np.uint64) + np.uint64(1))
        return keys[selected], self.row[selected]

    def parts(self, rows: NDArray[np.bool_]) -> tuple[Keys, NDArray[np.int64]]:
        """Hashes of the beginning of each row, up to each word, if that is long enough; and the rows."""
        size = self.sizes[self.row]
        selected = rows[self.row] & (self.position >= MIN_WORDS) & (self.position >= MIN_KEPT_SHARE * size)
        return self.before[selected], self.row[selected]


def _scrambled(keys: Keys) -> Keys:
    """Hashes of hashes, so that sums of them do not cancel out."""
    with np.errstate(over="ignore"):
        mixed = (keys ^ (keys >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        scrambled: Keys = mixed ^ (mixed >> np.uint64(29))
    return scrambled


def _rows_with(keys: Keys, rows: NDArray[np.int64], among: Keys) -> NDArray[np.int64]:
    hits: NDArray[np.int64] = np.unique(rows[np.isin(keys, among)])
    return hits


def _reordered(h: _Hashes, earlier: NDArray[np.bool_], later: NDArray[np.bool_]) -> NDArray[np.int64]:
    where = np.flatnonzero(later)
    same = _rows_with(h.total[where], where, h.total[earlier])
    return np.setdiff1d(_rows_with(h.bag[where], where, h.bag[earlier]), same)


def _changed(h: _Hashes, earlier: NDArray[np.bool_], later: NDArray[np.bool_]) -> NDArray[np.int64]:
    return _rows_with(*h.with_gap(later), h.with_gap(earlier)[0])


def _one_more(h: _Hashes, earlier: NDArray[np.bool_], later: NDArray[np.bool_]) -> NDArray[np.int64]:
    where = np.flatnonzero(later)
    added = _rows_with(*h.without_word(later), h.total[earlier])
    return np.union1d(added, _rows_with(h.total[where], where, h.without_word(earlier)[0]))


def _cut(h: _Hashes, earlier: NDArray[np.bool_], later: NDArray[np.bool_]) -> NDArray[np.int64]:
    where = np.flatnonzero(later)
    longer = _rows_with(*h.parts(later), h.total[earlier])
    return np.union1d(longer, _rows_with(h.total[where], where, h.parts(earlier)[0]))


KINDS = {
    "another order": _reordered,
    "a word changed": _changed,
    "a word more or less": _one_more,
    "cut short": _cut,
}
"""How a row may differ from one of an earlier split."""

audit_check = AuditCheck(name="altered_copies", topic="copies", codes=(CODE,), in_set=find, order=13)
