"""Checks of the data behind the scores, and of what is missing."""

from __future__ import annotations

from sentprobe.report.check import Check, CheckFinding, scored_cells
from sentprobe.report.names import failure_text
from sentprobe.report.types import SetSummary, Summary


def failures(summary: Summary) -> CheckFinding | None:
    """Cells, encoders and sets that failed."""
    failed = summary.failures
    if not failed:
        return CheckFinding("passed", "Nothing failed", "Everything that was run has a result.")
    encoders = {f.encoder for f in failed if f.encoder}
    text = f"{len(failed)} {'failure' if len(failed) == 1 else 'failures'}"
    if encoders:
        text += f", of {len(encoders)} {'encoder' if len(encoders) == 1 else 'encoders'}"
    text += ". Means and rankings over sets are not comparable where some are missing. The same command tries again."
    where = [
        failure_text(" on ".join(name for name in (f.name, f.dataset) if name), f.encoder, f.kind, f.error)
        for f in failed
    ]
    return CheckFinding("issue", "Something failed", text, list(dict.fromkeys(where)))


def partial(summary: Summary) -> CheckFinding | None:
    """Scores from a sample of a set."""
    every = list(scored_cells(summary))
    if not every:
        return None
    partial_scores = [n for n in every if n.cell.partial]
    if not partial_scores:
        return CheckFinding("passed", "Full sets", f"{len(every)} of {len(every)} scores: from the full set.")
    limits = sorted({n.column.limit for n in partial_scores if n.column.limit is not None})
    text = (
        f"{len(partial_scores)} of {len(every)} scores: from a sample of at most "
        f"{' or '.join(f'{x:,}' for x in limits)} rows per split. They are not the scores on the "
        "full sets, and must not be compared with those."
    )
    labels = list(dict.fromkeys(n.set_summary.label for n in partial_scores))
    return CheckFinding("issue", "Scores from samples", text, labels)


def _has(s: SetSummary, severity: str) -> bool:
    return any(finding.severity == severity for finding in s.audit or ())


def unsound_data(summary: Summary) -> CheckFinding | None:
    """What audits found in the sets."""
    sets = () if not summary.kind.trains_probes else summary.sets  # audits are of probing sets
    if not sets:
        return None
    audited = [s for s in sets if s.audit is not None]
    unaudited = [s for s in sets if s.audit is None]
    wrong, doubtful = ([s for s in audited if _has(s, severity)] for severity in ("error", "warning"))
    where = [
        f"{s.label}: {finding.code}: {finding.message}"
        for severity in ("error", "warning")
        for s in audited
        for finding in s.audit or ()
        if finding.severity == severity
    ]
    if audited:
        where += [f"{s.label}: not audited" for s in unaudited]
    parts = [
        f"{len(affected)} of {len(sets)} sets: {what}."
        for affected, what in (
            (wrong, "the audit found errors, so scores do not mean what they seem to"),
            (doubtful, "the audit has warnings"),
            (unaudited, "not audited; `sentprobe audit` looks for duplicates, leaks and shortcuts"),
        )
        if affected
    ]
    if not parts:
        text = f"{len(sets)} of {len(sets)} sets: their audit has neither errors nor warnings."
        return CheckFinding("passed", "The audits found nothing serious", text)
    title = "Audits found errors" if wrong else "Audits have warnings" if doubtful else "Sets were not audited"
    return CheckFinding("issue" if wrong else "tip", title, " ".join(parts), where)


def synthetic(summary: Summary) -> CheckFinding | None:
    """Sets of generated sentences."""
    sets = () if not summary.kind.trains_probes else summary.sets
    if not sets:
        return None
    labels = [s.label for s in sets if s.synthetic]
    if not labels:
        return CheckFinding("passed", "Real sentences", f"None of {len(sets)} sets is from the built-in grammar.")
    text = (
        f"{len(labels)} of {len(sets)} sets: sentences from the built-in grammar, which is for trying things out. "
        "These scores say nothing about a language, and must not be compared with others."
    )
    return CheckFinding("issue", "Synthetic sentences", text, labels)


checks = (
    Check(
        name="failures",
        order=10,
        find=failures,
        advice="Read the error, fix its cause, and run the same command again; finished cells are not repeated.",
        doc="""
Cells, encoders and sets that failed, from the run's own log. Any failure is an issue: a mean or a ranking over sets
with gaps compares encoders on different sets.
""",
    ),
    Check(
        name="unsound-data",
        order=50,
        find=unsound_data,
        advice="Run `sentprobe audit` on the set; its codes say what each finding means.",
        doc="""
Errors in the audit of a set are an issue: with them, scores do not mean what they seem to. Warnings are a tip, and so
are sets without an audit, in runs of earlier versions. Unless a set was made with `sentprobe make --audit`, only
duplicates, labels, targets and size were checked. [All audit codes](audit-codes.md).
""",
    ),
    Check(
        name="synthetic",
        order=60,
        find=synthetic,
        advice="Make sets from a corpus.",
        doc="""
An issue for sets whose sentences come from the built-in grammar: their scores say nothing about a language.
""",
    ),
    Check(
        name="partial",
        order=70,
        find=partial,
        advice="Run the command again without `--limit`.",
        doc="""
An issue for scores from `sentprobe run --limit`, which trains and tests on a sample of each split: they look like
scores on the full set.
""",
    ),
)
