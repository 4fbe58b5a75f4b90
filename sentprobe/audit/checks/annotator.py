"""Labels that depend on an annotator: how often they are wrong, class by class, and what their own forms say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sentprobe.audit.check import AuditCheck
from sentprobe.audit.finding import ERROR_SHARE, Code, Finding, some
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.stats.intervals import wilson

MEASURED = Code(
    "label-errors",
    "the annotator labels some classes wrongly",
    "The corpus was annotated by a program, and `sentprobe make --gold` had it annotate a treebank as well. Of the "
    "sentences of the treebank to which the annotator's trees give a label, some have another label by the gold "
    "annotation, or none, as an imperfect that was tagged as a present; rows of the set have such errors as well. A "
    "warning if gold has another label for at least 2 % of a class, or if the errors (another label or none) fall on "
    "classes unequally, so that the confidence intervals of two classes with at least 30 sentences do not overlap: a "
    "probe "
    "can then learn what the annotator confuses. Otherwise a note.",
    "Use a better annotator, or look at the rows of that class; read scores as those on noisy labels.",
)
UNMEASURED = Code(
    "label-errors-not-measured",
    "how often the annotator's labels are wrong is not known",
    "The corpus was annotated by a program, and no treebank was given to compare it with. Always a note.",
    "Make the set again with --with ANNOTATOR --gold TREEBANK: a treebank of this language, such as UD has, that the "
    "annotator was not trained on.",
)
DOUBTED = Code(
    "doubtful-forms",
    "the forms of targets speak against their labels",
    "A second opinion by form, where there is a simple rule: French verbs labelled as present that end like an "
    "imperfect (mesurait), and French passives of verbs that have none (est né). Such rows are errors of an annotator, "
    "or of a treebank, and fall on one class. A warning from 1 % of the rows of a label on, otherwise a note. Only for "
    "rows that name their target.",
    "Drop these rows, or use a better annotator.",
)
CODES = (MEASURED, UNMEASURED, DOUBTED)
TOO_MANY, MIN_SENTENCES = 0.02, 30
LISTED = 4
"""Labels that a message names, those with most errors first."""


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """What is known of the annotator's errors, and forms that contradict their labels."""
    if isinstance(expectations.label_errors, Mapping):
        yield from _measured(expectations.label_errors)
    elif expectations.label_errors:
        yield Finding(UNMEASURED.name, "note", f"{UNMEASURED.title}: {expectations.label_errors}", UNMEASURED.advice)
    if expectations.doubts is not None:
        yield from _doubted(rows, expectations)


def _measured(errors: Mapping[str, Any]) -> Iterator[Finding]:
    labels = {
        label: (n, own.get("other", 0), own.get("none", 0))
        for label, own in errors.get("labels", {}).items()
        if (n := own.get("sentences", 0))
    }
    where = f"{errors.get('treebank')} ({errors.get('sentences', 0):,} sentences)"
    if not labels:
        message = f"{UNMEASURED.title}: the annotator labels no sentence of {where}"
        yield Finding(UNMEASURED.name, "note", message, UNMEASURED.advice)
        return
    worst = sorted(labels, key=lambda label: (-sum(labels[label][1:]) / labels[label][0], label))
    first, *others = (f"{100 * other / n:.1f} % and {{}}{100 * none / n:.1f} % of {n:,} labelled {label}"
                      for label in worst[:LISTED] for n, other, none in [labels[label]])  # fmt: skip
    shown = "; ".join([first.format("none for "), *(text.format("") for text in others)])
    intervals = [wilson(other + none, n) for n, other, none in labels.values() if n >= MIN_SENTENCES]
    unequal = len(intervals) > 1 and max(low for low, _ in intervals) > min(high for _, high in intervals)
    wrong = any(other >= TOO_MANY * n for n, other, _ in labels.values() if n >= MIN_SENTENCES)
    message = f"gold has another label for {shown}{'; …' * (len(worst) > LISTED)}: {where}"
    evidence = {f"{label}: {what}": k for label in worst for what, k in zip(("sentences", "other label", "no label"),
                labels[label], strict=True)}  # fmt: skip
    count = sum(other for _, other, _ in labels.values())
    severity = "warning" if wrong or unequal else "note"
    yield Finding(MEASURED.name, severity, message, MEASURED.advice, None, count, (), evidence)  # type: ignore[arg-type]


def _doubted(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    assert expectations.doubts is not None
    reasons = expectations.doubts(rows.examples, expectations.language)
    found = [i for i, reason in enumerate(reasons) if reason]
    if not found:
        return
    totals, doubted = Counter(rows.label_names), Counter(rows.label_names[i] for i in found)
    label, k = doubted.most_common(1)[0]
    share = k / totals[label]
    message = f"{k:,} of {totals[label]:,} rows labelled {label} have {reasons[found[0]]} ({100 * share:.1f} %)"
    evidence = {"rows": len(found), "share": round(share, 4)}
    severity = "warning" if share >= ERROR_SHARE else "note"
    examples = some(rows.texts[i] for i in found)
    yield Finding(DOUBTED.name, severity, message, DOUBTED.advice, None, len(found), examples, evidence)  # type: ignore[arg-type]


audit_check = AuditCheck(
    name="annotator",
    topic="labels",
    codes=CODES,
    in_set=find,
    needs_classes=True,
    quick=True,
    order=25,
)
