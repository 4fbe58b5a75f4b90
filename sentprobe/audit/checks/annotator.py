"""Labels that depend on an annotator: how often they are wrong, class by class, and what their own forms say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sentprobe.audit.check import ERROR_SHARE, AuditCheck, Code, Finding, Severity, pick_examples
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
TOO_MANY, MIN_SENTENCES = 0.02, 30
LISTED = 4
"""Labels that a message names, those with most errors first."""


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """What is known of the annotator's errors, and forms that contradict their labels."""
    if isinstance(expectations.label_errors, Mapping):
        yield from _measured(expectations.label_errors)
    elif expectations.label_errors:
        yield UNMEASURED.finding("note", f"{UNMEASURED.title}: {expectations.label_errors}")
    if expectations.doubts is not None:
        yield from _doubted(rows, expectations)


def _measured(errors: Mapping[str, Any]) -> Iterator[Finding]:
    labels = {
        label: (n, counts.get("other", 0), counts.get("none", 0))
        for label, counts in errors.get("labels", {}).items()
        if (n := counts.get("sentences", 0))
    }
    where = f"{errors.get('treebank')} ({errors.get('sentences', 0):,} sentences)"
    if not labels:
        yield UNMEASURED.finding("note", f"{UNMEASURED.title}: the annotator labels no sentence of {where}")
        return
    worst = sorted(labels, key=lambda label: (-sum(labels[label][1:]) / labels[label][0], label))
    parts = []
    for i, label in enumerate(worst[:LISTED]):
        n, mislabelled, unlabelled = labels[label]
        no_label = "none for " * (i == 0)  # which the parts that follow leave out
        parts.append(
            f"{100 * mislabelled / n:.1f} % and {no_label}{100 * unlabelled / n:.1f} % of {n:,} labelled {label}"
        )
    intervals = [
        wilson(mislabelled + unlabelled, n) for n, mislabelled, unlabelled in labels.values() if n >= MIN_SENTENCES
    ]
    unequal = len(intervals) > 1 and max(low for low, _ in intervals) > min(high for _, high in intervals)
    wrong = any(mislabelled >= TOO_MANY * n for n, mislabelled, _ in labels.values() if n >= MIN_SENTENCES)
    message = f"gold has another label for {'; '.join(parts)}{'; …' * (len(worst) > LISTED)}: {where}"
    evidence = {
        f"{label}: {what}": k
        for label in worst
        for what, k in zip(("sentences", "other label", "no label"), labels[label], strict=True)
    }
    count = sum(mislabelled for _, mislabelled, _ in labels.values())
    yield MEASURED.finding("warning" if wrong or unequal else "note", message, count=count, evidence=evidence)


def _doubted(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    assert expectations.doubts is not None
    reasons = expectations.doubts(rows.examples, expectations.language)
    hits = [i for i, reason in enumerate(reasons) if reason]
    if not hits:
        return
    totals, doubted = Counter(rows.label_names), Counter(rows.label_names[i] for i in hits)
    label, k = doubted.most_common(1)[0]
    share = k / totals[label]
    message = f"{k:,} of {totals[label]:,} rows labelled {label} have {reasons[hits[0]]} ({100 * share:.1f} %)"
    evidence = {"rows": len(hits), "share": round(share, 4)}
    severity: Severity = "warning" if share >= ERROR_SHARE else "note"
    examples = pick_examples(rows.texts[i] for i in hits)
    yield DOUBTED.finding(severity, message, None, len(hits), examples, evidence)


audit_check = AuditCheck(
    name="annotator",
    topic="labels",
    codes=(MEASURED, UNMEASURED, DOUBTED),
    in_set=find,
    needs_classes=True,
    quick=True,
    order=25,
)
