"""Classifiers that see only a shallow cue, and how well they do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from sentprobe.audit.check import AuditCheck, Code, Finding, Severity, ShortcutScore
from sentprobe.audit.naive_bayes import bags, predict
from sentprobe.core.hashing import mix
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.stats.intervals import wilson

MAX_TRAIN_ROWS, MAX_TEST_ROWS = 40_000, 20_000
"""Rows used at most; larger sets are sampled by a hash of the text."""
MAX_SCORES = 3_000_000
"""Test rows times classes, at most."""
SHORTCUT_FOLDS = 5
MIN_SHORTCUT_ROWS = 40
"""Rows that train and test need; otherwise the whole set, if it has twice as many, is cross-validated."""
INTERVAL_Z = 3.0
"""Width of the interval in standard errors: 99.7 %."""
SLIGHT, LARGE = 0.05, 0.2
"""Share of the majority baseline's errors that a shortcut removes, at the lower end of its interval."""

CONTENT = ("edges", "position", "unigrams", "bigrams", "characters")
"""Cues that may be the very thing that a set of unknown task is about."""

CASING = (0.02, 0.1)
"""Gain from capitals that is a warning, and the gain at the lower end of its interval that is an error."""

HOW = (
    " It is a multinomial naive Bayes classifier trained on train and tested on dev and test; without train, trained "
    "on dev and tested on test; with a single split, or where the others are copies of it, cross-validated in five "
    "folds. Test rows that are in the training part (up to case, digits, punctuation) are left out, of large sets "
    "40,000 and 20,000 rows are used, and it is given the class shares of the test rows. It is reported if the 99.7 % "
    "Wilson interval of its accuracy is above the majority share of the test rows and the task does not declare the "
    "cue legitimate. What counts is the share of the majority baseline's errors that it removes, at the lower end of "
    "the interval: below 5 % a note, from there a warning, "
)
CODES = (
    Code(
        "shortcut-length",
        "length alone predicts the label",
        "A classifier sees the number of tokens only." + HOW + "from 20 % an error.",
        "Balance the classes within length bins.",
    ),
    Code(
        "shortcut-edges",
        "the first or last word, or capitals, predict the label",
        "A classifier sees the first and the last token, whether they begin with a capital, and how many capitals "
        "there are inside the sentence." + HOW + "from 20 % an error; for sets of unknown tasks always a note, since "
        "first words may be what the set is about.",
        "Look at how sentences begin and end in each class, and give changed sentences the case they would have.",
    ),
    Code(
        "shortcut-punctuation",
        "punctuation alone predicts the label",
        "A classifier sees the punctuation marks, how many there are, and the last one." + HOW + "from 20 % an error.",
        "Draw classes with the same punctuation, or remove it from all.",
    ),
    Code(
        "shortcut-position",
        "the position of the least expected words predicts the label",
        "A classifier sees the positions of the changed words (in sets that mark them), of the least expected bigram, "
        "of the first capital inside the sentence and of the first comma, counted from both ends; not what they are. "
        "Only "
        "for tasks that change sentences and for sets of unknown tasks." + HOW + "from 20 % an error; for sets of "
        "unknown tasks always a note.",
        "Choose the position to change before the label, in the same way for both classes.",
    ),
    Code(
        "shortcut-unigrams",
        "single words predict the label",
        "A classifier sees the bag of lower-cased tokens." + HOW + "from 20 % an error for known tasks that "
        "do not declare it; for sets of unknown tasks always a note, since many tasks are about words.",
        "Compare every score with this one; if the task is not about words, find those that give the label away.",
    ),
    Code(
        "shortcut-bigrams",
        "bigrams predict the label",
        "A classifier sees the bag of lower-cased unigrams and bigrams."
        + HOW
        + "from 20 % an error for known tasks that "
        "do not declare it; for sets of unknown tasks always a note.",
        "Compare every score with this one; if the task is not about words, find those that give the label away.",
    ),
    Code(
        "shortcut-characters",
        "character n-grams predict the label",
        "A classifier sees the n-grams of two, three and four characters." + HOW + "from 20 % an error for known tasks "
        "that do not declare it; for sets of unknown tasks always a note.",
        "Compare every score with this one; if the task is not about words, find those that give the label away.",
    ),
    Code(
        "shortcut-casing",
        "capitals predict the label",
        "Naive Bayes on cased tokens is better than on lower-cased ones on the same rows: by two points and three "
        "standard errors of the paired difference, for unigrams or for bigrams, and the cased one is above the "
        "majority. A warning: a capital may merely show which word is first, which a bag of words should not know. An "
        "error if the gain remains with the first word lower-cased and the lower end of its interval is ten points or "
        "more: then the spelling itself gives the label away. Not reported for tasks that declare that the edges of "
        "the sentence may predict the label.",
        "Give changed sentences the case they would have, or lower-case both classes.",
    ),
    Code(
        "shortcut-inputs",
        "a further input alone predicts the label",
        "A classifier sees the bag of words of one further input only: the word that may be in the sentence, or the "
        "second sentence of a pair." + HOW + "from 20 % an error.",
        "Distribute words or second sentences evenly over the labels.",
    ),
)
CODE_BY_NAME = {code.name: code for code in CODES}


@dataclass(frozen=True)
class EvaluationPlan:
    """Which rows are trained on and which are tested on, once per fold."""

    name: str
    folds: tuple[tuple[np.ndarray, np.ndarray], ...]
    label: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


def find(rows: Split, expectations: Expectations) -> Iterator[Finding | ShortcutScore]:
    """Findings, and the accuracy of every classifier whether it is a finding or not."""
    plan = _plan(rows)
    if plan is None or len(rows.classes) < 2:
        return
    classes = len(rows.classes)
    rows, plan = _needed(rows, _numbers(rows), plan)
    label, test = plan.label, np.concatenate([t for _, t in plan.folds])
    truth = label[test]
    shares = np.bincount(truth, minlength=classes) / len(
        truth
    )  # known, so that no classifier loses by not knowing them
    majority = float(shares.max())
    distinct = len({rows.near[i] for i in test.tolist()})
    hits: dict[str, np.ndarray] = {}
    measures: list[ShortcutScore] = []
    for name, bag in bags(rows, plan.folds[0][0], expectations):
        matrix = bag.matrix
        predictions = [predict(matrix[a], label[a], matrix[b], classes, shares=shares) for a, b in plan.folds]
        hits[name] = np.concatenate(predictions) == truth
        accuracy = float(hits[name].mean())
        low, high = wilson(accuracy * distinct, distinct, INTERVAL_Z)  # duplicates add no evidence
        allowed = name.partition(" cased")[0] in expectations.solved_by
        measures.append(ShortcutScore(name, accuracy, low, high, majority, len(truth), plan.name, allowed))
    yield from measures
    yield from _above(measures, expectations)
    if "edges" not in expectations.solved_by:
        yield from _casing(hits, measures)


def _needed(rows: Split, label: np.ndarray, plan: EvaluationPlan) -> tuple[Split, EvaluationPlan]:
    """The rows that the plan needs, and the plan renumbered to them; other rows would only cost memory."""
    used = np.unique(np.concatenate([i for fold in plan.folds for i in fold]))
    position = np.zeros(len(rows), np.int64)
    position[used] = np.arange(len(used))
    folds = tuple((position[a], position[b]) for a, b in plan.folds)
    return rows.take(used.tolist()), EvaluationPlan(plan.name, folds, label[used])


def _above(measures: Sequence[ShortcutScore], expectations: Expectations) -> Iterator[Finding]:
    for m in measures:
        if m.expected or m.low <= m.majority or " cased" in m.name:
            continue
        severity: Severity = "note" if m.gain < SLIGHT else "warning" if m.gain < LARGE else "error"
        if m.name in CONTENT and expectations.task is None:
            severity = "note"
        kind, _, column = m.name.partition(" ")
        message = (
            f"{CLASSIFIER_TITLES.get(m.name, f'{column} alone')}: {100 * m.accuracy:.1f} % "
            f"[{100 * m.low:.1f}, {100 * m.high:.1f}] against a majority of {100 * m.majority:.1f} ({m.trained_on})"
        )
        evidence = {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(m).items() if k != "expected"}
        extra = round((m.accuracy - m.majority) * m.rows)
        yield CODE_BY_NAME[f"shortcut-{kind}"].finding(severity, message, count=extra, evidence=evidence)


CLASSIFIER_TITLES = {
    "length": "length alone",
    "edges": "first and last word and capitals alone",
    "punctuation": "punctuation alone",
    "position": "positions of unexpected words alone",
    "unigrams": "bag of words",
    "bigrams": "bag of words and bigrams",
    "characters": "bag of character n-grams",
}


def _casing(hits: dict[str, np.ndarray], measures: Sequence[ShortcutScore]) -> Iterator[Finding]:
    """The larger of the two paired differences between cased and lower-cased tokens."""
    best: tuple[float, float, str] | None = None
    for kind in ("unigrams", "bigrams"):
        gain, error = _difference(hits[f"{kind} cased"], hits[kind])
        above = next(m.low > m.majority for m in measures if m.name == f"{kind} cased")
        if above and gain >= CASING[0] and gain >= INTERVAL_Z * error and (best is None or gain > best[0]):
            best = (gain, error, kind)
    if best:
        gain, error, kind = best
        inside, unsure = _difference(hits["unigrams cased inside"], hits["unigrams"])
        by_name = {m.name: m.accuracy for m in measures}
        cased, lower = by_name[f"{kind} cased"], by_name[kind]
        message = (
            f"{kind}: {100 * cased:.1f} % cased, {100 * lower:.1f} % lower-cased ({100 * gain:+.1f} points; "
            f"{100 * inside:+.1f} without the first word's capital)"
        )
        evidence: dict[str, float | int | str] = {
            "difference": round(gain, 4),
            "low": round(gain - INTERVAL_Z * error, 4),
            "high": round(gain + INTERVAL_Z * error, 4),
            "cased": round(cased, 4),
            "lower-cased": round(lower, 4),
            "features": kind,
            "without the first word": round(inside, 4),
        }
        severity: Severity = "error" if inside - INTERVAL_Z * unsure >= CASING[1] else "warning"
        extra = round(gain * measures[0].rows)
        yield CODE_BY_NAME["shortcut-casing"].finding(severity, message, count=extra, evidence=evidence)


def _difference(hits: np.ndarray, baseline: np.ndarray) -> tuple[float, float]:
    """The paired difference of two accuracies and its standard error."""
    difference = hits.astype(float) - baseline
    return float(difference.mean()), float(difference.std() / math.sqrt(len(difference)))


def _numbers(rows: Split) -> np.ndarray:
    """A number per label that does not depend on the labels' names: by the smallest key among its rows."""
    first: dict[str, int] = {}
    for label, key in zip(rows.label_names, rows.near, strict=True):
        first[label] = min(key, first.get(label, key))
    order = {label: i for i, label in enumerate(sorted(first, key=lambda label: (first[label], label)))}
    return np.array([order[label] for label in rows.label_names])


def _plan(rows: Split) -> EvaluationPlan | None:
    """Train on the first split and test on the others, without what was trained on; or cross-validate."""
    hashes = [mix(key & 0xFFFFFFFFFFFFFFFF) for key in rows.near]
    most = int(min(MAX_TEST_ROWS, max(1000, MAX_SCORES / max(1, len(rows.classes)))))

    def sample(members: list[int], n: int) -> np.ndarray:
        """The n rows with the smallest hashes; rows with equal hashes are equal, so their order does not matter."""
        return np.array(sorted(members, key=lambda i: (hashes[i], rows.label_names[i], rows.exact[i]))[:n], np.int64)

    if len(rows.split_names) > 1:
        first, *later = rows.split_names
        train = [i for i, s in enumerate(rows.splits) if s == first]
        seen = {rows.near[i] for i in train}
        test = [i for i, s in enumerate(rows.splits) if s != first and rows.near[i] not in seen]
        if min(len(train), len({rows.near[i] for i in test})) >= MIN_SHORTCUT_ROWS:
            return EvaluationPlan(
                f"{first} → {'+'.join(later)}", ((sample(train, MAX_TRAIN_ROWS), sample(test, most)),)
            )
    sampled = sample(list(range(len(rows))), MAX_TRAIN_ROWS).tolist()
    if len({rows.near[i] for i in sampled}) < 2 * MIN_SHORTCUT_ROWS:
        return None
    fold = _folds(rows, sampled)
    parts = [[i for i in sampled if fold[rows.near[i]] == k] for k in range(SHORTCUT_FOLDS)]
    folds = [
        (np.array([i for p in parts if p is not part for i in p]), sample(part, most // SHORTCUT_FOLDS))
        for part in parts
    ]
    return EvaluationPlan(
        f"{SHORTCUT_FOLDS}-fold over {'+'.join(rows.split_names)}", tuple(f for f in folds if len(f[0]) and len(f[1]))
    )


def _folds(rows: Split, members: list[int]) -> dict[int, int]:
    """The fold of each near-duplicate key: duplicates stay together, and each class is distributed evenly."""
    number = _numbers(rows)
    label: dict[int, int] = {}
    for i in members:
        label[rows.near[i]] = min(int(number[i]), label.get(rows.near[i], int(number[i])))
    order = sorted(label, key=lambda key: (label[key], mix(key & 0xFFFFFFFFFFFFFFFF)))
    return {key: i % SHORTCUT_FOLDS for i, key in enumerate(order)}


audit_check = AuditCheck(name="shortcuts", topic="shortcuts", codes=CODES, in_set=find, needs_classes=True, order=40)
