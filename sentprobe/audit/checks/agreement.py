"""Labels that a simple classifier contradicts: in one split, or here and there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sentprobe.audit.check import AuditCheck, Code, Finding, pick_examples, share_evidence
from sentprobe.audit.naive_bayes import Bag, Bayes, words_and_pairs
from sentprobe.core.hashing import hash_64
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

MOST_ROWS = 20_000
"""Rows of a split that are used at most, those with the lowest hashes."""
MIN_ROWS = 100
MOST_CLASSES = 50
APART, SURE = 0.1, 5.0
"""Difference of accuracies between splits that is reported, and how many standard errors it must be."""
KNOWN, FOLDS = 0.9, 5
"""Accuracy from which the classifier knows the task well enough to doubt labels."""
DOUBTFUL_SHARE = 0.02
MARGIN = 6.0
"""How much more probable the other class must be, as a difference of log probabilities per row."""

SPLITS_DISAGREE = Code(
    "splits-disagree",
    "what holds in one split does not hold in another",
    "Naive Bayes on words and bigrams, trained on train, has an accuracy on dev that differs from that on test by "
    "ten points or more, and by five standard errors, with at least 100 rows in each. An error: the labels of one "
    "split are permuted or coded in another way, or it comes from another source.",
    "Look at the rows of both splits next to each other; check how labels were joined to sentences.",
)
DOUBTFUL_LABELS = Code(
    "doubtful-labels",
    "labels that the words contradict",
    "Where naive Bayes on words and bigrams, cross-validated in five folds within a split of at least 100 rows, "
    "is right in 90 % of the rows or more, the rows in which it is wrong although it finds its own class more "
    "probable by a factor of 400 or more. Reported from 2 % of the rows on, always a warning: labels that were "
    "assigned by mistake look like this, but so do rows that are truly hard.",
    "Read the examples, and count how many are wrong.",
)


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Splits that disagree, and doubtful labels."""
    if not 2 <= len(rows.classes) <= MOST_CLASSES:
        return
    samples = [sample for split in rows.split_names if len(sample := _sample(rows, split)) >= MIN_ROWS]
    if not samples:
        return
    sampled = rows.take(sorted(i for sample in samples for i in sample))
    split = np.array(sampled.splits)
    bag = words_and_pairs(sampled, expectations.language)
    yield from _disagreement(bag, sampled.labels, split, len(rows.classes))
    yield from _doubtful(sampled, bag, sampled.labels, split, len(rows.classes))


def _sample(rows: Split, split: str) -> list[int]:
    members = [i for i, name in enumerate(rows.splits) if name == split]
    return members if len(members) <= MOST_ROWS else sorted(members, key=lambda i: hash_64(rows.texts[i]))[:MOST_ROWS]


def _disagreement(bag: Bag, label: NDArray[np.int64], split: NDArray[np.str_], classes: int) -> Iterator[Finding]:
    if not {"tr", "va", "te"} <= set(split.tolist()):
        return
    matrix = bag.matrix
    model = Bayes.of(matrix[split == "tr"], label[split == "tr"], classes)
    right = {s: model.predict(matrix[split == s]) == label[split == s] for s in ("va", "te")}
    dev, test = right["va"].mean(), right["te"].mean()
    error = np.sqrt(sum(r.mean() * (1 - r.mean()) / len(r) for r in right.values()))
    if abs(dev - test) >= APART and abs(dev - test) >= SURE * error:
        message = (
            f"naive Bayes trained on train gets {100 * dev:.1f} % of dev and {100 * test:.1f} % of test right: "
            "one of them is labelled or drawn in another way"
        )
        rows = len(right["va" if dev < test else "te"])
        evidence = {"dev": round(float(dev), 4), "test": round(float(test), 4)}
        yield SPLITS_DISAGREE.finding("error", message, "va/te", rows, evidence=evidence)


def _doubtful(
    rows: Split, bag: Bag, label: NDArray[np.int64], split: NDArray[np.str_], classes: int
) -> Iterator[Finding]:
    matrix = bag.matrix
    for name in rows.split_names:
        where = np.flatnonzero(split == name)
        fold = np.array([hash_64(rows.texts[i]) % FOLDS for i in where.tolist()])
        if any(len(np.unique(label[where[fold != k]])) < 2 for k in range(FOLDS)):
            continue
        margin, best = np.zeros(len(where)), np.zeros(len(where), np.int64)
        for k in {*fold.tolist()}:
            train, test = where[fold != k], where[fold == k]
            scores = Bayes.of(matrix[train], label[train], classes).scores(matrix[test])
            best[fold == k] = scores.argmax(axis=1)
            margin[fold == k] = scores.max(axis=1) - scores[np.arange(len(test)), label[test]]
        wrong = best != label[where]
        if 1 - wrong.mean() < KNOWN:
            continue
        hits = where[wrong & (margin >= MARGIN)]
        if len(hits) >= DOUBTFUL_SHARE * len(where):
            yield _doubt(rows, name, hits.tolist(), len(where))


def _doubt(rows: Split, split: str, hits: Sequence[int], of: int) -> Finding:
    message = f"{len(hits):,} of {of:,} {SPLIT_NAMES[split]} rows have words that are typical of another class"
    examples = pick_examples(f"{rows.label_names[i]}: {rows.texts[i]}" for i in hits)
    return DOUBTFUL_LABELS.finding("warning", message, split, len(hits), examples, share_evidence(len(hits), of))


audit_check = AuditCheck(
    name="agreement",
    topic="labels",
    codes=(SPLITS_DISAGREE, DOUBTFUL_LABELS),
    in_set=find,
    needs_classes=True,
    order=22,
)
