"""Errors that audits found in the sets of a run: they stand above its scores, wherever these are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sentprobe.core.formatting import count_of
from sentprobe.report.types import AuditFinding, SetSummary, Summary

MAX_FINDINGS = 6
"""Of more, the first and how many others there are; every one is in the page's section on data quality."""


def errors_of(own: SetSummary) -> list[AuditFinding]:
    """The errors of a set; none if it was not audited."""
    return [finding for finding in own.audit or () if finding.severity == "error"]


def error_codes(own: SetSummary) -> str:
    """Their codes, for one cell of a table."""
    return ", ".join(dict.fromkeys(finding.code for finding in errors_of(own)))


def erroneous_sets(info: Mapping[str, Any]) -> dict[str, str]:
    """The codes of the errors in the sets that run.json describes, by the name of the set."""
    codes: dict[str, dict[str, None]] = {}
    for described in info.get("datasets", ()):
        for finding in described.get("audit") or ():
            if finding["severity"] == "error":
                codes.setdefault(described["name"], {})[finding["code"]] = None
    return {name: ", ".join(found) for name, found in codes.items()}


def data_errors(summary: Summary) -> list[str]:
    """What scores on sets with errors are worth, and a line for each error; nothing if there are none."""
    found = [(own, finding) for own in summary.sets for finding in errors_of(own)]
    if not found:
        return []
    sets = len({(own.name, own.data) for own, _ in found})
    where = count_of(sets, "set") if sets == len(summary.sets) else f"{sets} of {len(summary.sets)} sets"
    lines = [f"Data errors in {where}: scores there do not mean what they seem to."]
    shown = found if len(found) <= MAX_FINDINGS else found[: MAX_FINDINGS - 1]
    lines += [f"{own.label}: {finding.message} ({finding.code})." for own, finding in shown]
    if more := found[len(shown) :]:
        names = len({(own.name, own.data) for own, _ in more})
        lines.append(f"{count_of(len(more), 'more error')} in {count_of(names, 'set')}: `sentprobe audit` lists them.")
    return lines
