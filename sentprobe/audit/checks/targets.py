"""Target forms that are in several splits, so that a probe can memorise them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sentprobe.audit.check import AuditCheck, Code, Finding, pick_examples
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

SHARED_TARGETS = Code(
    "shared-targets",
    "several splits have the same target forms",
    "The set has a column with the target of each row (the verb whose tense is the label, the noun whose number is) "
    "and the task requires each form to be in one split only; these forms are in several, in whatever case and "
    "spelling (İnsanlar and insanlar are one Turkish form). Always an error: a probe that has memorised the forms "
    "needs no grammar.",
    "Split by target form, not by sentence.",
)


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Forms of the target column that are in several splits, where they should not be."""
    if not expectations.disjoint:
        return
    splits_of_form: defaultdict[str, set[str]] = defaultdict(set)
    spelling: dict[str, str] = {}
    for split, form, row in zip(rows.splits, rows.keys, rows.examples, strict=True):
        if form is not None:
            splits_of_form[form].add(split)
            spelling.setdefault(form, row.key or "")
    shared = [spelling[form] for form, splits in splits_of_form.items() if len(splits) > 1]
    if shared:
        affected = sum(form is not None and len(splits_of_form[form]) > 1 for form in rows.keys)
        message = f"{len(shared):,} of {len(splits_of_form):,} target forms are in several splits"
        evidence = {"forms": len(splits_of_form), "rows": affected}
        yield SHARED_TARGETS.finding("error", message, None, len(shared), pick_examples(shared), evidence)


audit_check = AuditCheck(
    name="targets", topic="targets", codes=(SHARED_TARGETS,), in_set=find, needs_classes=True, quick=True, order=30
)
