"""The header of the page: what was run, what to know before reading a score, what the run says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from sentprobe.core.formatting import count_of
from sentprobe.report.answer import answer, answer_note
from sentprobe.report.checks.encoders import BROKEN_SYMPTOMS
from sentprobe.report.names import listed
from sentprobe.report.recipes import recipe_columns
from sentprobe.report.result_grid import missing_line
from sentprobe.report.set_summary import data_errors, errors_of
from sentprobe.report.types import AuditFinding, CheckResult, Summary

_SAME_SPLITS = re.compile(r"(\w+) and (\w+) are the same set")


@dataclass(frozen=True)
class Badge:
    """What to know before reading a score, in a few words."""

    text: str
    section: str = ""
    """The section of the page that says more."""
    level: Literal["issue", "tip"] = "tip"


@dataclass(frozen=True)
class PageHeader:
    """The header of the page."""

    lede: str
    badges: Sequence[Badge]
    missing: str
    """What was requested and is not there; empty if the run is complete."""
    errors: Sequence[str]
    """Errors in the sets: what they mean for the scores, and each of them; empty if there are none."""
    answer: Sequence[str]
    """What the run says, in one to three sentences."""
    note: str
    """What these rest on."""
    verdict: str
    """How many checks found something."""


@dataclass(frozen=True)
class Checks:
    """Results of the checks, by level."""

    issues: Sequence[CheckResult]
    tips: Sequence[CheckResult]
    passed: Sequence[CheckResult]


def checks_of(summary: Summary) -> Checks:
    """The checks by level."""
    results = summary.checks
    return Checks(*([c for c in results if c.level == level] for level in ("issue", "tip", "passed")))


def head_of(summary: Summary) -> PageHeader:
    """What was run, what to know before reading any score, and how many checks found something."""
    sets, columns = summary.sets, summary.columns
    languages = languages_of(summary)
    probes = list(dict.fromkeys(c.probe for c in columns if c.probe))
    seeds = sorted({cell.seeds for s in sets for cell in s.cells if cell})
    encoders = len({(c.encoder, c.identity) for c in columns})
    lede = [f"{count_of(encoders, summary.kind.noun)} × {count_of(len(sets), 'set')}"]
    if recipes := [columns[i].name for i in recipe_columns(summary)]:
        most = max(len(cell.trainings) for s in sets for cell in s.cells if cell is not None)
        lede.append(f"{listed(recipes)}: {'' if len(recipes) == 1 else 'up to '}{count_of(most, 'training')}")
    if languages:
        lede.append(listed(languages) if len(languages) <= 4 else f"{len(languages)} languages")
    if probes:
        way = summary.kind.way + "s" * (len(probes) > 1 and summary.kind.trains_probes)
        lede.append(f"{way}: {listed(probes)}")
    if seeds and summary.kind.trains_probes:
        lede.append(count_of(seeds[-1], "probe seed" if recipes else "seed"))
    if summary.days:
        lede.append(_date(summary.days))
    return PageHeader(
        " · ".join(lede),
        _badges(summary),
        missing_line(summary),
        data_errors(summary),
        answer(summary),
        answer_note(summary),
        _verdict(checks_of(summary)),
    )


def _date(days: Sequence[str]) -> str:
    """When a run was made: a day, or from the first to the last."""
    dates = [date.fromisoformat(day) for day in (days[0], days[-1])]
    first, last = (f"{day.day} {day:%B %Y}" for day in dates)
    return first if first == last else f"{first} to {last}"


def languages_of(summary: Summary) -> list[str]:
    """The languages of the sets, in their order."""
    return list(dict.fromkeys(s.language for s in summary.sets if s.language))


def _badges(summary: Summary) -> list[Badge]:
    """Problems, the worst first: encoders that are broken or failed, errors in the sets, what is missing or partial."""
    return [*_problems(summary), *(Badge(text) for text in _limits(summary))]


def _problems(summary: Summary) -> Iterator[Badge]:
    broken = {d.name for d in summary.diagnoses if any(s.code in BROKEN_SYMPTOMS for s in d.symptoms)}
    if broken:
        yield Badge(f"{count_of(len(broken), summary.kind.noun)} broken", "checks", "issue")
    by_error: dict[str, set[str]] = {}
    for s in summary.sets:
        for finding in errors_of(s):
            by_error.setdefault(_error_text(finding), set()).add(s.data)
    for text, sets in by_error.items():
        where = "" if len(summary.sets) == 1 else f" in {count_of(len(sets), 'set')}"
        yield Badge(f"{text}{where}", "quality", "issue")
    if summary.failures:
        failed = {failure.name for failure in summary.failures if failure.name}
        of = f" of {count_of(len(failed), summary.kind.noun)}" if failed else ""
        yield Badge(f"{count_of(len(summary.failures), 'failure')}{of}", "results", "issue")
    if summary.missing:
        yield Badge("Incomplete", "results", "issue")


def _error_text(finding: AuditFinding) -> str:
    """``dev = test`` where two splits are the same set; otherwise the code in words."""
    same = _SAME_SPLITS.match(finding.message)
    return f"{same[1]} = {same[2]}" if same else finding.code.replace("-", " ")


def _limits(summary: Summary) -> list[str]:
    sets, columns = summary.sets, summary.columns
    limits = sorted({c.limit for c in columns if c.limit is not None})
    badges = []
    if limits:
        scope = "Some scores are partial" if any(c.limit is None for c in columns) else "Partial"
        badges.append(f"{scope}: at most {listed([f'{limit:,}' for limit in limits])} rows per split")
    return badges + synthetic_badges([s.synthetic for s in sets])


def synthetic_badges(synthetic: Sequence[bool]) -> list[str]:
    """How many sets are made of sentences from the built-in grammar; nothing if none is."""
    count, total = sum(synthetic), len(synthetic)
    return ["Synthetic sentences" + ("" if count == total else f" in {count} of {total} sets")] if count else []


def _verdict(checks: Checks) -> str:
    if not (checks.issues or checks.tips or checks.passed):
        return "No checks apply."
    if not (checks.issues or checks.tips):
        return f"All {len(checks.passed)} checks passed."
    counts = [
        count_of(len(results), word) for results, word in ((checks.issues, "issue"), (checks.tips, "tip")) if results
    ]
    return f"The checks found {listed(counts)}; {len(checks.passed)} passed."


def duration(seconds: float) -> str:
    """A readable duration."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def not_audited(summary: Summary) -> str:
    """How to audit the sets that have no audit."""
    unaudited = [s.label for s in summary.sets if s.audit is None]
    if not unaudited or not summary.kind.trains_probes:
        return ""
    which = "No set has" if len(unaudited) == len(summary.sets) else "Not every set has"
    return f"{which} an audit. `sentprobe audit` looks for duplicates, leaks, shortcuts and imbalance in any set."
