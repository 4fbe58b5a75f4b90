"""Checks of what the numbers are from, and of what is not there."""

from __future__ import annotations

from sonde.report.checks.check_result import CheckResult, Summary, check_result, scored_cells


def failures(summary: Summary) -> CheckResult | None:
    """Cells, encoders and sets that could not be done."""
    found = summary["failures"]
    if not found:
        return check_result("failures", "passed", "Nothing failed", "Nothing that was tried failed.")
    encoders = {f["encoder"] for f in found if f["encoder"]}
    text = f"{len(found)} {'failure' if len(found) == 1 else 'failures'}"
    if encoders:
        text += f", of {len(encoders)} {'encoder' if len(encoders) == 1 else 'encoders'}"
    where = [
        f"{' on '.join(name for name in (f['encoder'], f['dataset']) if name)}: {f['kind']}: {f['error']}"
        for f in found
    ]
    text += ". Means and rankings over sets are not comparable where some are missing; the same command tries again."
    return check_result("failures", "issue", "Something failed", text, list(dict.fromkeys(where)))


def partial(summary: Summary) -> CheckResult | None:
    """Numbers from a sample of a set."""
    every = list(scored_cells(summary))
    if not every:
        return None
    found = [n for n in every if n.cell["partial"]]
    if not found:
        return check_result(
            "partial", "passed", "Whole sets", f"{len(every)} of {len(every)} numbers: from the whole set."
        )
    limits = sorted({n.column["limit"] for n in found})
    text = (
        f"{len(found)} of {len(every)} numbers: from a sample of at most {' or '.join(f'{x:,}' for x in limits)} rows "
        "of each split. They are not the numbers of the whole sets, nor to be put beside such."
    )
    labels = list(dict.fromkeys(n.set_summary["label"] for n in found))
    return check_result("partial", "issue", "Numbers from samples", text, labels)


def unsound_data(summary: Summary) -> CheckResult | None:
    """What is known to be wrong with the sets."""
    sets = summary["sets"]
    if not sets:
        return None
    known = [set_summary for set_summary in sets if set_summary["audit"] is not None]
    wrong = [set_summary for set_summary in known if set_summary["audit"]["error"]]
    doubtful = [set_summary for set_summary in known if set_summary["audit"]["warning"]]
    unknown = [set_summary for set_summary in sets if set_summary["audit"] is None]
    where = [
        f"{set_summary['label']}: {finding['code']}: {finding['message']}"
        for severity in ("error", "warning")
        for set_summary in known
        for finding in set_summary["audit"]["findings"]
        if finding["severity"] == severity
    ]
    if known:
        where += [f"{set_summary['label']}: not audited" for set_summary in unknown]
    parts = [
        f"{len(found)} of {len(sets)} sets: {what}."
        for found, what in (
            (wrong, "the audit found errors, with which scores mean something else than they seem to"),
            (doubtful, "the audit has warnings"),
            (unknown, "not audited; `sonde audit` looks for copies, leaks and shortcuts"),
        )
        if found
    ]
    if not parts:
        text = f"{len(sets)} of {len(sets)} sets: the audit that was made with them has neither errors nor warnings."
        return check_result("unsound-data", "passed", "The audit found nothing grave", text)
    title = "The audit found errors" if wrong else "The audit has warnings" if doubtful else "Sets were not audited"
    return check_result("unsound-data", "issue" if wrong else "tip", title, " ".join(parts), where)


def synthetic(summary: Summary) -> CheckResult | None:
    """Sets of sentences that nobody wrote."""
    sets = summary["sets"]
    if not sets:
        return None
    found = [set_summary["label"] for set_summary in sets if set_summary["synthetic"]]
    if not found:
        return check_result(
            "synthetic", "passed", "Real sentences", f"None of {len(sets)} sets is from the built-in grammar."
        )
    text = (
        f"{len(found)} of {len(sets)} sets: sentences from the built-in grammar, for trying things out. Their numbers "
        "say nothing about a language, and are not to be compared with others."
    )
    return check_result("synthetic", "issue", "Synthetic sentences", text, found)
