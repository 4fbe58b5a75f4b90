"""Labels that contradict each other or the sentence, and missing classes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from unicodedata import category

from sentprobe.audit.check import (
    MAX_EXAMPLES,
    AuditCheck,
    Code,
    Finding,
    Severity,
    pick_examples,
    severity_by_share,
    share_evidence,
)
from sentprobe.core.formatting import count_of
from sentprobe.data.expectations import Expectations
from sentprobe.data.lookalike_labels import describe_groups, lookalike_labels, plain_label
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

ABSENT_SPLIT = Code(
    "absent-split",
    "a split is missing",
    "The set has no train, dev or test rows. A note: the other parts of a released set may be elsewhere, and some "
    "sets are meant for cross-validation. Checks that compare splits, or train on one, do without it.",
    "Provide all parts of the set, if there are more.",
)
ONE_CLASS = Code(
    "one-class",
    "a split has one class only",
    "Every row of the split has the same label. Always an error: a constant prediction is right.",
    "Draw the split again, from all classes.",
)
MISSING_CLASS = Code(
    "missing-class",
    "a split lacks a class that another has",
    "The count is the number of classes. An error if train lacks them, since they cannot be learned; for dev and "
    "test a warning: their scores cannot be measured.",
    "Drop the class, or provide more data.",
)
TWO_LABELS = Code(
    "two-labels",
    "one sentence has two labels",
    "The same input, character by character, is in the set with different labels. The count is the number of such "
    "inputs; `ceiling` in the evidence is the best accuracy any probe can reach on the split, since it predicts "
    "one label per input. An error if the ceiling of a split is 99 % or less, otherwise a warning.",
    "Drop them, or find out which label is right; if there are many, look at how the labels were made.",
)
WRONG_LABEL = Code(
    "wrong-label",
    "the label contradicts the sentence",
    "The labels of some tasks can be computed from the tokens: the length bin (all sentences of one length belong "
    "to one bin, whatever the bins are), the word of word_content (which must be in the sentence), the words of "
    "word_presence and word_order. The count is rows whose label is not what the tokens say. An error from 1 % of "
    "the split on, otherwise a warning.",
    "Check how the labels were made, and whether the text was retokenised afterwards.",
)
AMBIGUOUS_LABEL = Code(
    "ambiguous-label",
    "the sentence supports several labels",
    "Rows of word_content that contain another target word besides their own. An error from 1 % of the split on, "
    "otherwise a warning: the right answer depends on chance.",
    "Keep only sentences with exactly one target.",
)
UNDECLARED_LABEL = Code(
    "undeclared-label",
    "a label that the task does not have",
    "The task of this name has a fixed list of labels; the set has all of these, and others as well. (A set that "
    "uses other names throughout, such as Sing and Plur for NN and NNS, does not count.) An error from 1 % of the "
    "rows on, otherwise a warning.",
    "Correct the label or drop the rows.",
)
LOOKALIKE_LABELS = Code(
    "lookalike-labels",
    "labels that look alike are separate classes",
    "Labels that differ only in case (Yes, yes), in Unicode normalisation, in characters that cannot be seen "
    "(zero-width spaces), in the kind or amount of white space, or in how a number (1, 1.0, 01) or a truth value "
    "(True, true, 1) is written; the count is the rows of all but the most frequent of each. Always an error: a "
    "probe is asked to tell apart what means the same. Labels that the task declares are distinct. `sentprobe run` "
    "refuses such sets.",
    "Correct the labels, or merge them: sentprobe run --merge-labels.",
)
MISTYPED_LABEL = Code(
    "mistyped-label",
    "a label that looks like a misspelling of another one",
    "A label that is at least fifty times rarer than another one and has other white space inside; "
    "or at least a thousand times rarer and different in punctuation or, if it has four letters or more, in a "
    "single letter. Numbers and signs must be the same. A warning.",
    "Correct the label.",
)
RARE_LABEL = Code(
    "rare-label",
    "a label with very few rows",
    "A label with fewer than five rows in the whole set, or fewer than a hundredth of the typical class, and not "
    "taken for a misspelling. A warning: nothing can be learned or measured about it.",
    "Drop the class, or provide more data.",
)
RARE, RARER, MUCH_RARER = 5, 50, 1000


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Everything about labels that needs no statistics."""
    for split in ("tr", "va", "te"):
        if split not in rows.split_names:
            yield ABSENT_SPLIT.finding("note", f"there are no {SPLIT_NAMES[split]} rows", split)
    misspelled, rare, undeclared = _misspelled(rows, expectations), _rare(rows), _undeclared(rows, expectations)
    yield from _classes(rows, expectations)
    yield from _two_labels(rows)
    yield from _label_issues(rows, expectations)
    yield from _lookalikes(rows, expectations)
    yield from _names(rows, expectations, misspelled, rare, undeclared)


def unusual(rows: Split, expectations: Expectations) -> set[str]:
    """Labels that are probably not classes of the set: misspelled, rare, or not among the task's."""
    counts = Counter(rows.label_names)
    few = (label for label in _rare(rows) if counts[label] < RARE)
    return {*_misspelled(rows, expectations), *few, *_undeclared(rows, expectations)}


def _classes(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    unusual_labels = unusual(rows, expectations)
    usual = [label for label in rows.classes if label not in unusual_labels]
    misspelled = _misspelled(rows, expectations)
    spelled = [label for label in rows.classes if label not in misspelled]
    for split in rows.split_names:
        counts = rows.label_counts(split)
        wanted = spelled if split == "tr" else usual  # no probe can predict a label that train lacks, however rare
        if len(counts) == 1:
            (label,) = counts
            message = f"{SPLIT_NAMES[split]} has one class only, {label}"
            yield ONE_CLASS.finding("error", message, split, counts[label], (label,))
        elif missing := [label for label in wanted if label not in counts]:
            message = f"{SPLIT_NAMES[split]} lacks {len(missing)} of {len(wanted)} classes"
            severity: Severity = "error" if split == "tr" else "warning"
            yield MISSING_CLASS.finding(severity, message, split, len(missing), pick_examples(missing))


def _two_labels(rows: Split) -> Iterator[Finding]:
    if len(set(rows.exact)) == len(rows):
        return
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text, label in zip(rows.exact, rows.label_names, strict=True):
        seen[text][label] += 1
    contradictory = {text for text, counts in seen.items() if len(counts) > 1 and text.strip()}
    if not contradictory:
        return
    evidence: dict[str, float | int | str] = {}
    lost: dict[str, int] = {}
    for split in rows.split_names:
        inside: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for s, text, label in zip(rows.splits, rows.exact, rows.label_names, strict=True):
            if s == split and text in contradictory:
                inside[text][label] += 1
        lost[split] = sum(c.total() - max(c.values()) for c in inside.values())
        evidence[f"ceiling {split}"] = round(1 - lost[split] / rows.split_sizes[split], 4)
    worst = max(rows.split_names, key=lambda s: lost[s] / rows.split_sizes[s])
    ceiling = 1 - lost[worst] / rows.split_sizes[worst]
    have = f"{count_of(len(contradictory), 'sentence')} {'has' if len(contradictory) == 1 else 'have'} two labels"
    message = f"{have}; no probe can get more than {100 * ceiling:.2f} % of {SPLIT_NAMES[worst]} right"
    if not any(lost.values()):
        message = f"{have}, one in each of two splits"
    evidence["rows"] = sum(seen[text].total() for text in contradictory)
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for split, text in zip(rows.splits, rows.exact, strict=True):
        if text in contradictory:
            homes[text].add(split)
    evidence["in several splits"] = sum(len(splits) > 1 for splits in homes.values())
    severity: Severity = "error" if ceiling <= 0.99 else "warning"
    examples = pick_examples(t.split("\t")[0] for t in contradictory)
    yield TWO_LABELS.finding(severity, message, None, len(contradictory), examples, evidence)


def _label_issues(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    declared = expectations.inputs if expectations.declared_inputs is None else expectations.declared_inputs
    if expectations.label_issues is None or any(len(inputs) != len(declared) for inputs in rows.further):
        return
    label_issues = expectations.label_issues(rows.examples)
    for code, issue, what in (
        (WRONG_LABEL, "wrong", "have a label that their tokens contradict"),
        (AMBIGUOUS_LABEL, "ambiguous", "support another label as well"),
    ):
        for split in rows.split_names:
            n = rows.split_sizes[split]
            hits = [i for i, d in enumerate(label_issues) if d == issue and rows.splits[i] == split]
            if hits:
                message = f"{len(hits):,} of the {n:,} {SPLIT_NAMES[split]} rows {what}"
                examples = tuple(
                    f"{rows.label_names[i]}: {e}" for i in _few(rows, hits) for e in pick_examples([rows.texts[i]])
                )
                severity = severity_by_share(len(hits), n)
                yield code.finding(severity, message, split, len(hits), examples, share_evidence(len(hits), n))


def _few(rows: Split, hits: list[int]) -> list[int]:
    """A few of the rows; which ones does not depend on their order."""
    return sorted(hits, key=lambda i: (len(rows.texts[i]), rows.texts[i], rows.exact[i]))[:MAX_EXAMPLES]


def _lookalikes(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    counts = Counter(rows.label_names)
    if groups := lookalike_labels(counts, expectations.labels or ()):
        rarer = sum(counts[label] for group in groups for label in group[1:])
        message = f"labels that look alike are separate classes: {describe_groups(groups, counts)}"
        examples = tuple(" and ".join(map(ascii, group)) for group in groups[:MAX_EXAMPLES])
        evidence = {"groups": len(groups), "rows": len(rows)}
        yield LOOKALIKE_LABELS.finding("error", message, None, rarer, examples, evidence)


def _names(
    rows: Split, expectations: Expectations, misspelled: dict[str, str], rare: list[str], undeclared: list[str]
) -> Iterator[Finding]:
    counts = Counter(rows.label_names)
    for label, usual in sorted(misspelled.items()):
        if plain_label(label) == plain_label(usual):
            continue  # which is an error of its own
        message = f"{label!r} ({counts[label]:,} rows) looks like a misspelling of {usual!r} ({counts[usual]:,} rows)"
        yield MISTYPED_LABEL.finding("warning", message, None, counts[label], (label,))
    if undeclared := [label for label in undeclared if label not in misspelled]:
        n = sum(counts[label] for label in undeclared)
        message = f"{n:,} rows have a label that {expectations.task} does not have: {', '.join(undeclared[:5])}"
        severity, examples = severity_by_share(n, len(rows)), pick_examples(undeclared)
        yield UNDECLARED_LABEL.finding(severity, message, None, n, examples, {"rows": len(rows)})
    if rare := [label for label in rare if label not in misspelled and label not in undeclared]:
        few = ", ".join(f"{label} {counts[label]}" for label in rare[:5])
        message = f"{len(rare)} of {len(counts)} labels have very few rows: {few}"
        yield RARE_LABEL.finding("warning", message, None, len(rare), pick_examples(rare))


def _undeclared(rows: Split, expectations: Expectations) -> list[str]:
    """Labels that the task does not have, unless the set names them all differently."""
    declared, used = set(expectations.labels or ()), set(rows.classes)
    most = len(declared) - (len(declared) > 3)
    return sorted(used - declared) if declared and len(declared & used) >= most else []


def _rare(rows: Split) -> list[str]:
    counts = Counter(rows.label_names)
    sizes = [n for n in sorted(counts.values()) for _ in range(n)]
    usual = sizes[len(sizes) // 2] if sizes else 0  # the class of the row in the middle
    few = min(max(RARE, usual / 100), usual)
    return sorted(label for label, n in counts.items() if n < few)


def _misspelled(rows: Split, expectations: Expectations) -> dict[str, str]:
    """Labels that look like another, or are rare and nearly spelled like it → the label that was probably meant."""
    counts = Counter(rows.label_names)
    alike = lookalike_labels(counts, expectations.labels or ())
    out = {label: group[0] for group in alike for label in group[1:]}
    frequent = sorted((label for label, n in counts.items() if n >= RARER), key=lambda c: (-counts[c], c))[:200]
    for label, n in counts.items():
        for usual in frequent if label not in out else ():
            if n * RARER <= counts[usual] and label != usual and _alike(label, usual, n * MUCH_RARER <= counts[usual]):
                out[label] = usual
                break
    return out


def _alike(label: str, usual: str, much_rarer: bool) -> bool:
    """Whether only case and white space differ; of a label that is much rarer, also punctuation or a single letter."""
    a, b = ("".join(x.casefold().split()) for x in (label, usual))
    if a == b or not much_rarer:
        return a == b
    # class1 is not a misspelling of class2, nor -1 of +1
    if re.findall(r"[\d+-]+", a) != re.findall(r"[\d+-]+", b):
        return False
    a, b = ("".join(c for c in x if category(c)[0] in "LMN") for x in (a, b))
    return bool(a) and (a == b or (min(len(a), len(b)) >= 4 and _one_edit_apart(a, b)))


def _one_edit_apart(a: str, b: str) -> bool:
    """Whether one letter inserted, dropped, replaced or two neighbours exchanged makes one word of the other."""
    if abs(len(a) - len(b)) > 1:
        return False
    if len(a) > len(b):
        a, b = b, a
    i = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[i:] == b[i + 1 :]
    return a[i + 1 :] == b[i + 1 :] or (a[i : i + 2] == b[i : i + 2][::-1] and a[i + 2 :] == b[i + 2 :])


audit_check = AuditCheck(
    name="labels",
    topic="labels",
    codes=(
        ABSENT_SPLIT,
        ONE_CLASS,
        MISSING_CLASS,
        TWO_LABELS,
        WRONG_LABEL,
        AMBIGUOUS_LABEL,
        UNDECLARED_LABEL,
        LOOKALIKE_LABELS,
        MISTYPED_LABEL,
        RARE_LABEL,
    ),
    in_set=find,
    needs_classes=True,
    quick=True,
    order=20,
)
