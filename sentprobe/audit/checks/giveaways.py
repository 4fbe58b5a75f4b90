"""One feature that decides a class: a word, a character, the position of the row.

Shallow classifiers are expected to do well on some tasks, and the shortcut checks then say nothing. But no task is
solved by one word that is not its target: whatever a task declares, that is a leak.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from sentprobe.audit.check import MAX_EXAMPLES, AuditCheck, Code, Finding, Severity
from sentprobe.audit.naive_bayes import is_mark
from sentprobe.corpus.folding import fold
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

DECIDES = 0.98
"""Balanced accuracy from which one feature decides a class."""
MIN_CLASS_ROWS = 20
"""A feature may decide smaller classes by chance."""
MOST_CLASSES = 100
"""With more classes, a word each is what the task is about, as a rule."""

GIVEAWAY = Code(
    "giveaway",
    "one feature alone decides a class",
    "Whether a row has a certain token, character or script, or an odd number of tokens, tells a class of 20 rows "
    "or more from all others with a balanced accuracy of 98 % or more. Always an error, even if the task declares "
    "that words or characters may predict its labels, unless it is the target itself: the label, the target form "
    "or a marked token of the rows; or a punctuation mark in a task that is about punctuation, or length in one "
    "about length.",
    "Look at the rows: it was probably added with the label. Remove it, or draw the classes from one source.",
)
ORDERED_ROWS = Code(
    "ordered-rows",
    "the position of a row decides its class",
    "A threshold on the number of the row within its split, or on the number at the end of its id, tells a class "
    "of 20 rows or more from all others with a balanced accuracy of 98 % or more. A note for the number of the "
    "row, since files are often sorted by class and probes do not see it; a warning for ids, which show that "
    "classes come from different parts of the source.",
    "Shuffle the rows; draw all classes from all parts of the source.",
)


class Giveaway(NamedTuple):
    """A feature, the class that it decides, and how well."""

    accuracy: float
    feature: str
    label: str


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Findings about features, and about positions."""
    sizes = Counter(rows.label_names)
    labels = [label for label in rows.classes if sizes[label] >= MIN_CLASS_ROWS]
    if not 2 <= len(labels) <= MOST_CLASSES or len(rows.classes) > 2 * MOST_CLASSES:
        return
    members = np.array([[name == label for name in rows.label_names] for label in labels])  # (classes, rows)
    giveaways: list[Giveaway] = []
    for kind, features, is_exempt in _families(rows, expectations):
        giveaways += _deciding(kind, features, members, labels, is_exempt)
    if giveaways:
        best = sorted(giveaways, key=lambda g: (-g.accuracy, g.feature))
        message = "; ".join(f"{g.feature} decides {g.label} ({100 * g.accuracy:.1f} %)" for g in best[:MAX_EXAMPLES])
        if len(best) > MAX_EXAMPLES:
            message += f"; and {len(best) - MAX_EXAMPLES} more"
        evidence = {"balanced accuracy": round(best[0].accuracy, 4), "features": len(best)}
        yield GIVEAWAY.finding("error", message, count=len(best), evidence=evidence)
    yield from _ordered(rows, members, labels)


def _families(
    rows: Split, expectations: Expectations
) -> Iterator[tuple[str, list[frozenset[str]], Callable[[str], bool]]]:
    """The name of each family of features, the features of each row, and which of them may decide a class."""
    language = expectations.language
    folded = [frozenset(fold(t, language) for t in tokens) for tokens in rows.tokens]
    targets = _targets(rows, folded, language)
    about_marks = "punctuation" in expectations.solved_by

    def is_target(token: str) -> bool:
        return token in targets or (about_marks and (not token or is_mark(token)))

    yield "the word", folded, is_target
    characters = [frozenset(text) for text in rows.texts]
    letters = frozenset().union(*(t for t in targets if len(t) < 3))

    def in_target(c: str) -> bool:
        return (about_marks and is_mark(c)) or c in letters or fold(c, language) in letters

    yield "the character", characters, in_target
    yield "letters of the script", [frozenset(filter(None, map(script, text))) for text in characters], _never
    if "length" not in expectations.solved_by:
        odd = [frozenset(["odd"] if len(tokens) % 2 else ()) for tokens in rows.tokens]
        yield "a number of tokens that is", odd, _never


def _never(feature: str) -> bool:
    return False


def _targets(rows: Split, folded: Sequence[frozenset[str]], language: str | None) -> frozenset[str]:
    """Words that are the label, the target form or a marked token of at least half of the rows that have them."""
    about: dict[str, int] = {}
    for row in rows.examples:
        marked = [row.tokens[i] for i in row.marks if i < len(row.tokens)]
        for word in {fold(word, language) for word in (row.label, *(row.key.split() if row.key else ()), *marked)}:
            about[word] = about.get(word, 0) + 1
    seen = dict.fromkeys(about, 0)
    for words in folded:
        for word in words & seen.keys():
            seen[word] += 1
    return frozenset(word for word, n in about.items() if 2 * n >= seen[word])


def _deciding(
    kind: str,
    features: Sequence[frozenset[str]],
    members: np.ndarray,
    labels: Sequence[str],
    is_exempt: Callable[[str], bool],
) -> Iterator[Giveaway]:
    """The features that decide a class, by being there or by being absent."""
    from scipy import sparse

    ids: dict[str, int] = {}
    columns = [ids.setdefault(f, len(ids)) for row in features for f in sorted(row)]
    if not columns:
        return
    starts = np.r_[0, np.cumsum([len(row) for row in features])]
    ones = np.ones(len(columns), np.float32)
    table = sparse.csr_array((ones, columns, starts), shape=(len(features), len(ids)))
    inside = (sparse.csr_array(members.astype(np.float32)) @ table).toarray()  # (classes, features)
    total = np.asarray(table.sum(axis=0)).ravel()
    sizes = members.sum(axis=1)[:, None]
    outside = len(features) - sizes
    presence = (inside / sizes + 1 - (total - inside) / outside) / 2  # balanced accuracy (classes, features)
    names = list(ids)
    for accuracy, which in ((presence, ""), (1 - presence, "the absence of ")):
        for c, f in zip(*np.nonzero(accuracy >= DECIDES), strict=True):
            if not is_exempt(names[f]) and not (which and len(labels) == 2):  # with two classes, the other one has it
                yield Giveaway(float(accuracy[c, f]), f"{which}{kind} {_display(names[f])}", labels[c])


def _display(feature: str) -> str:
    """A feature in a message; a character that cannot be seen is named."""
    if len(feature) == 1 and not feature.isascii():
        return (
            f"{feature if feature.isprintable() else ''} ({unicodedata.name(feature, f'U+{ord(feature):04X}')})".strip()
        )
    return repr(feature) if len(feature) == 1 else feature


@cache
def script(character: str) -> str:
    """The script of a letter, from its Unicode name (LATIN, CYRILLIC, …); nothing for anything else."""
    if character.isascii():
        return "LATIN" if character.isalpha() else ""
    if unicodedata.category(character)[0] != "L":
        return ""
    name = unicodedata.name(character, "").split(" ")[0]
    return "" if name in ("FEMININE", "MASCULINE", "MODIFIER", "MICRO") else name.removesuffix("-")


def _ordered(rows: Split, members: np.ndarray, labels: Sequence[str]) -> Iterator[Finding]:
    """Classes that a threshold on the row number, or on the number of the id, tells apart."""
    seen: Counter[str] = Counter()
    positions = []
    for split in rows.splits:
        positions.append(seen[split] / rows.split_sizes[split])
        seen[split] += 1
    ids = [_trailing_number(e.source) for e in rows.examples]
    orders: tuple[tuple[str, Severity, Sequence[float | None] | None], ...] = (
        ("the number of the row", "note", positions),
        ("the number of the id", "warning", None if None in ids else ids),
    )
    for what, severity, values in orders:
        if values is None or len(set(values)) < len(values) / 2:
            continue
        order = np.argsort(np.array(values, float), kind="stable")
        decided = [
            (label, accuracy)
            for label, in_class in zip(labels, members, strict=True)
            if (accuracy := _threshold(in_class[order])) >= DECIDES
        ]
        if decided:
            label, accuracy = max(decided, key=lambda d: d[1])
            message = f"{what} decides {label} ({100 * accuracy:.1f} %)"
            evidence = {"balanced accuracy": round(accuracy, 4)}
            yield ORDERED_ROWS.finding(severity, message, count=len(decided), evidence=evidence)


def _threshold(in_class: np.ndarray) -> float:
    """The best balanced accuracy of a threshold for sorted rows, in either direction."""
    inside = np.cumsum(in_class) / in_class.sum()
    outside = np.cumsum(~in_class) / (~in_class).sum()
    return float(0.5 + np.abs(inside - outside).max() / 2)


def _trailing_number(source: str) -> int | None:
    digits = source[len(source.rstrip("0123456789")) :]
    return int(digits) if digits and len(digits) < 16 else None


audit_check = AuditCheck(
    name="giveaways", topic="shortcuts", codes=(GIVEAWAY, ORDERED_ROWS), in_set=find, needs_classes=True, order=41
)
