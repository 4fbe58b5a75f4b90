"""What the page says of a run in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonde.report.summary import done

Summary = Mapping[str, Any]


@dataclass(frozen=True)
class PageHeader:
    """What stands at the top."""

    lede: str
    badges: Sequence[str]
    verdict: str


@dataclass(frozen=True)
class Checks:
    """Entries of the checks, by level."""

    issues: Sequence[Mapping[str, Any]]
    tips: Sequence[Mapping[str, Any]]
    passed: Sequence[Mapping[str, Any]]


def count(n: int, one: str, many: str = "") -> str:
    """A number and what it is of."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def join_words(words: Sequence[str]) -> str:
    """Words in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def checks_of(summary: Summary) -> Checks:
    """The checks, issues apart from tips and from what was found in order."""
    found = summary["checks"]
    return Checks(*([c for c in found if c["level"] == level] for level in ("issue", "tip", "passed")))


def head_of(summary: Summary) -> PageHeader:
    """What was run, what must be known before any number is read, and how many checks found something."""
    sets, columns = summary["sets"], summary["columns"]
    languages = languages_of(summary)
    probes = list(dict.fromkeys(c["probe"] for c in columns if c["probe"]))
    seeds = sorted({cell["seeds"] for set_summary in sets for cell in set_summary["cells"] if done(cell)})
    encoders = len({(c["encoder"], c["identity"]) for c in columns})
    lede = [f"{count(encoders, 'encoder')} × {count(len(sets), 'set')}"]
    if languages:
        lede.append(join_words(languages) if len(languages) <= 4 else f"{len(languages)} languages")
    if probes:
        lede.append(f"probe: {join_words(probes)}" if len(probes) == 1 else f"probes: {join_words(probes)}")
    if seeds:
        lede.append(count(seeds[-1], "seed"))
    return PageHeader(" · ".join(lede), _marks(summary), _verdict(checks_of(summary)))


def languages_of(summary: Summary) -> list[str]:
    """The languages of the sets, in their order."""
    return list(dict.fromkeys(set_summary["language"] for set_summary in summary["sets"] if set_summary["language"]))


def _marks(summary: Summary) -> list[str]:
    sets, columns = summary["sets"], summary["columns"]
    limits = sorted({c["limit"] for c in columns if c["limit"] is not None})
    badges = []
    if limits:
        whole = "Some numbers are partial" if any(c["limit"] is None for c in columns) else "Partial"
        badges.append(f"{whole}: at most {join_words([f'{limit:,}' for limit in limits])} rows of each split")
    made = sum(set_summary["synthetic"] for set_summary in sets)
    if made:
        badges.append("Synthetic sentences" + ("" if made == len(sets) else f" in {made} of {len(sets)} sets"))
    if summary["failures"]:
        badges.append(count(len(summary["failures"]), "failure"))
    return badges


def _verdict(checks: Checks) -> str:
    if not (checks.issues or checks.tips or checks.passed):
        return "Nothing was checked."
    if not (checks.issues or checks.tips):
        return f"All {len(checks.passed)} checks passed."
    found = [count(len(own), word) for own, word in ((checks.issues, "issue"), (checks.tips, "tip")) if own]
    return f"The checks found {join_words(found)}; {len(checks.passed)} passed."


def duration(seconds: float) -> str:
    """A time that can be read."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def not_audited(summary: Summary) -> str:
    """How to audit the sets that were not."""
    found = [set_summary["label"] for set_summary in summary["sets"] if set_summary["audit"] is None]
    if not found:
        return ""
    which = "No set" if len(found) == len(summary["sets"]) else "Not every set"
    return f"{which} came with an audit. `sonde audit` looks for duplicates, leaks, shortcuts and imbalance in any set."
