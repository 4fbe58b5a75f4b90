"""Labels that contradict each other or the sentence, and classes that are not there."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from sonde.audit.finding import MAX_EXAMPLES, Code, Finding, Severity, severity_by_share, some
from sonde.audit.rows import Rows
from sonde.data.expected import Expectations

CODES = (
    Code(
        "absent-split",
        "a split is not there",
        "The set has no rows in tr, va or te. A note: the released parts of a set may stand elsewhere, and some sets "
        "are meant for cross-validation. Checks that compare splits, or train on one, do without it.",
        "Give all parts of the set, if there are more.",
    ),
    Code(
        "one-class",
        "a split has one class only",
        "Every row of the split has the same label. Always an error: any constant answer is right.",
        "Draw the split again, from all classes.",
    ),
    Code(
        "missing-class",
        "a split lacks a class that another has",
        "The count is the number of classes. An error if tr lacks them, since they cannot be learnt; for va and te a "
        "warning: their scores cannot be told.",
        "Drop the class, or give more data.",
    ),
    Code(
        "two-labels",
        "one sentence has two labels",
        "The same input, letter by letter, stands in the set under different labels. The count is the number of such "
        "inputs; `ceiling` in the evidence is the best accuracy any probe can reach on the split, since it must give "
        "one answer per input. An error if the ceiling of a split is 99 % or less, otherwise a warning.",
        "Drop them, or find out which label is right; if they are many, look at how the labels were made.",
    ),
    Code(
        "wrong-label",
        "the label contradicts the sentence",
        "Some tasks' labels can be computed from the tokens: the length bin (all sentences of one length belong to one "
        "bin, whichever the bins are), the word of word_content (which must be in the sentence), Adi's words. The "
        "count is rows whose label is not what the tokens say. An error from 1 % of the split on, otherwise a warning.",
        "Check how the labels were made, and whether the text was tokenised again afterwards.",
    ),
    Code(
        "ambiguous-label",
        "the sentence supports several labels",
        "Rows of word_content that hold another target word besides their own. An error from 1 % of the split on, "
        "otherwise a warning: the right answer depends on chance.",
        "Keep only sentences with exactly one target.",
    ),
    Code(
        "undeclared-label",
        "a label that the task does not have",
        "The task of this name has a fixed list of labels, all of which are met, and others besides. (A set that uses "
        "other names throughout, say Sing and Plur for NN and NNS, is not meant.) An error from 1 % of the rows on, "
        "otherwise a warning.",
        "Correct the label or drop the rows.",
    ),
    Code(
        "mistyped-label",
        "a label that looks like another one mistyped",
        "A label that is at least fifty times rarer than another one and differs from it in case and white space only; "
        "or at least a thousand times rarer and different in punctuation or, if it has four letters or more, in a "
        "single letter. Numbers and signs must be the same. A warning.",
        "Correct the label.",
    ),
    Code(
        "rare-label",
        "a label with very few rows",
        "A label with fewer than five rows in the whole set, or fewer than a hundredth of the usual class, and not "
        "taken for a mistyped one. A warning: nothing can be learnt or measured about it.",
        "Drop the class, or give more data.",
    ),
)
ADVICE = {code.name: code.advice for code in CODES}
RARE, RARER, MUCH_RARER = 5, 50, 1000


def labels(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """Everything about labels that needs no statistics."""
    for split in ("tr", "va", "te"):
        if split not in rows.splits:
            yield Finding("absent-split", "note", f"there is no {split}", ADVICE["absent-split"], split)
    odd, rare, strange = _mistyped(rows), _rare(rows), _strange(rows, expectations)
    yield from _classes(rows, unusual(rows, expectations))
    yield from _torn(rows)
    yield from _doubts(rows, expectations)
    yield from _names(rows, expectations, odd, rare, strange)


def unusual(rows: Rows, expectations: Expectations) -> set[str]:
    """Labels that are probably no class of the set: mistyped, rare, or not the task's."""
    counts = Counter(rows.label)
    few = (label for label in _rare(rows) if counts[label] < RARE)
    return {*_mistyped(rows), *few, *_strange(rows, expectations)}


def _classes(rows: Rows, odd: set[str]) -> Iterator[Finding]:
    usual = [label for label in rows.labels if label not in odd]
    for split in rows.splits:
        counts = rows.counts(split)
        if len(counts) == 1:
            (label,) = counts
            message = f"{split} has one class only, {label}"
            yield Finding("one-class", "error", message, ADVICE["one-class"], split, counts[label], (label,))
        elif missing := [label for label in usual if label not in counts]:
            message = f"{split} lacks {len(missing)} of {len(usual)} classes"
            severity: Severity = "error" if split == "tr" else "warning"
            advice, examples = ADVICE["missing-class"], some(missing)
            yield Finding("missing-class", severity, message, advice, split, len(missing), examples)


def _torn(rows: Rows) -> Iterator[Finding]:
    if len(set(rows.exact)) == len(rows):
        return
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text, label in zip(rows.exact, rows.label, strict=True):
        seen[text][label] += 1
    torn = {text for text, counts in seen.items() if len(counts) > 1 and text.strip()}
    if not torn:
        return
    evidence: dict[str, float | int | str] = {}
    lost: dict[str, int] = {}
    for split in rows.splits:
        inside: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for s, text, label in zip(rows.split, rows.exact, rows.label, strict=True):
            if s == split and text in torn:
                inside[text][label] += 1
        lost[split] = sum(c.total() - max(c.values()) for c in inside.values())
        evidence[f"ceiling {split}"] = round(1 - lost[split] / rows.sizes[split], 4)
    worst = max(rows.splits, key=lambda s: lost[s] / rows.sizes[s])
    ceiling = 1 - lost[worst] / rows.sizes[worst]
    message = f"{len(torn):,} sentences have two labels; no probe can get more than {100 * ceiling:.2f} % of {worst}"
    if not any(lost.values()):
        message = f"{len(torn):,} sentences have two labels, one in each of two splits"
    evidence["rows"] = sum(seen[text].total() for text in torn)
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for split, text in zip(rows.split, rows.exact, strict=True):
        if text in torn:
            homes[text].add(split)
    evidence["in several splits"] = sum(len(splits) > 1 for splits in homes.values())
    severity: Severity = "error" if ceiling <= 0.99 else "warning"
    examples = some(t.split("\t")[0] for t in torn)
    yield Finding("two-labels", severity, message, ADVICE["two-labels"], None, len(torn), examples, evidence)


def _doubts(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    task_inputs = (
        len(expectations.inputs) if expectations.declared_inputs is None else len(expectations.declared_inputs)
    )
    if expectations.label_issues is None or any(len(given) != task_inputs for given in rows.inputs):
        return
    label_issues = expectations.label_issues(rows.examples)
    for code, doubt, message in (
        ("wrong-label", "wrong", "have a label that their tokens contradict"),
        ("ambiguous-label", "ambiguous", "support another label as well"),
    ):
        for split in rows.splits:
            n = rows.sizes[split]
            hits = [i for i, d in enumerate(label_issues) if d == doubt and rows.split[i] == split]
            if hits:
                said = f"{len(hits):,} of the {n:,} rows of {split} {message}"
                examples = tuple(f"{rows.label[i]}: {e}" for i in _few(rows, hits) for e in some([rows.text[i]]))
                evidence = {"rows": n, "share": round(len(hits) / n, 4)}
                yield Finding(
                    code, severity_by_share(len(hits), n), said, ADVICE[code], split, len(hits), examples, evidence
                )


def _few(rows: Rows, hits: list[int]) -> list[int]:
    """A few of the rows, the same ones in whatever order they come."""
    return sorted(hits, key=lambda i: (len(rows.text[i]), rows.text[i], rows.exact[i]))[:MAX_EXAMPLES]


def _names(
    rows: Rows, expectations: Expectations, odd: dict[str, str], rare: list[str], strange: list[str]
) -> Iterator[Finding]:
    counts = Counter(rows.label)
    for label, usual in sorted(odd.items()):
        message = f"{label!r} ({counts[label]:,} rows) looks like {usual!r} ({counts[usual]:,} rows) mistyped"
        yield Finding("mistyped-label", "warning", message, ADVICE["mistyped-label"], None, counts[label], (label,))
    if strange := [label for label in strange if label not in odd]:
        n = sum(counts[label] for label in strange)
        message = f"{n:,} rows have a label that {expectations.task} does not have: {', '.join(strange[:5])}"
        severity, advice, evidence = severity_by_share(n, len(rows)), ADVICE["undeclared-label"], {"rows": len(rows)}
        yield Finding("undeclared-label", severity, message, advice, None, n, some(strange), evidence)
    if rare := [label for label in rare if label not in odd and label not in strange]:
        few = ", ".join(f"{label} {counts[label]}" for label in rare[:5])
        message = f"{len(rare)} of {len(counts)} labels have very few rows: {few}"
        yield Finding("rare-label", "warning", message, ADVICE["rare-label"], None, len(rare), some(rare))


def _strange(rows: Rows, expectations: Expectations) -> list[str]:
    """Labels that the task does not have, unless the set names them all differently."""
    declared, met = set(expectations.labels or ()), set(rows.labels)
    most = len(declared) - (len(declared) > 3)
    return sorted(met - declared) if declared and len(declared & met) >= most else []


def _rare(rows: Rows) -> list[str]:
    counts = Counter(rows.label)
    sizes = [n for n in sorted(counts.values()) for _ in range(n)]
    usual = sizes[len(sizes) // 2] if sizes else 0  # the class of the row in the middle
    few = min(max(RARE, usual / 100), usual)
    return sorted(label for label, n in counts.items() if n < few)


def _mistyped(rows: Rows) -> dict[str, str]:
    """Rare labels → the label that each was probably meant to be."""
    counts = Counter(rows.label)
    out: dict[str, str] = {}
    frequent = sorted((label for label, n in counts.items() if n >= RARER), key=lambda c: (-counts[c], c))[:200]
    for label, n in counts.items():
        for usual in frequent:
            if n * RARER <= counts[usual] and label != usual and _alike(label, usual, n * MUCH_RARER <= counts[usual]):
                out[label] = usual
                break
    return out


def _alike(label: str, usual: str, much_rarer: bool) -> bool:
    """Whether only case and white space differ; of a label that is much rarer, also punctuation or a single letter."""
    plain, other = ("".join(x.casefold().split()) for x in (label, usual))
    if plain == other or not much_rarer:
        return plain == other
    if re.findall(r"[\d+-]+", plain) != re.findall(r"[\d+-]+", other):  # class1 is not class2 mistyped, nor -1 +1
        return False
    plain, other = (re.sub(r"[\W_]+", "", x) for x in (plain, other))
    return bool(plain) and (plain == other or (min(len(plain), len(other)) >= 4 and _one_off(plain, other)))


def _one_off(a: str, b: str) -> bool:
    """Whether one letter inserted, dropped, replaced or two neighbours exchanged makes one word of the other."""
    if abs(len(a) - len(b)) > 1:
        return False
    if len(a) > len(b):
        a, b = b, a
    i = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), len(a))
    if len(a) < len(b):
        return a[i:] == b[i + 1 :]
    return a[i + 1 :] == b[i + 1 :] or (a[i : i + 2] == b[i : i + 2][::-1] and a[i + 2 :] == b[i + 2 :])
