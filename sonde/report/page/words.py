"""What the page says of a run in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sonde.report.summary import done

Summary = Mapping[str, Any]


@dataclass(frozen=True)
class Head:
    """What stands at the top."""

    lede: str
    marks: Sequence[str]
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


def listed(words: Sequence[str]) -> str:
    """Words in a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def checks_of(summary: Summary) -> Checks:
    """The checks, issues apart from tips and from what was found in order."""
    found = summary["checks"]
    return Checks(*([c for c in found if c["level"] == level] for level in ("issue", "tip", "passed")))


def head_of(summary: Summary) -> Head:
    """What was run, what must be known before any number is read, and how many checks found something."""
    sets, columns = summary["sets"], summary["columns"]
    languages = languages_of(summary)
    probes = list(dict.fromkeys(c["probe"] for c in columns if c["probe"]))
    seeds = sorted({cell["seeds"] for said in sets for cell in said["cells"] if done(cell)})
    encoders = len({(c["encoder"], c["identity"]) for c in columns})
    lede = [f"{count(encoders, 'encoder')} × {count(len(sets), 'set')}"]
    if languages:
        lede.append(listed(languages) if len(languages) <= 4 else f"{len(languages)} languages")
    if probes:
        lede.append(f"probe: {listed(probes)}" if len(probes) == 1 else f"probes: {listed(probes)}")
    if seeds:
        lede.append(count(seeds[-1], "seed"))
    return Head(" · ".join(lede), _marks(summary), _verdict(checks_of(summary)))


def languages_of(summary: Summary) -> list[str]:
    """The languages of the sets, in their order."""
    return list(dict.fromkeys(said["language"] for said in summary["sets"] if said["language"]))


def _marks(summary: Summary) -> list[str]:
    sets, columns = summary["sets"], summary["columns"]
    limits = sorted({c["limit"] for c in columns if c["limit"] is not None})
    marks = []
    if limits:
        whole = "Some numbers are partial" if any(c["limit"] is None for c in columns) else "Partial"
        marks.append(f"{whole}: at most {listed([f'{limit:,}' for limit in limits])} rows of each split")
    made = sum(said["synthetic"] for said in sets)
    if made:
        marks.append("Synthetic sentences" + ("" if made == len(sets) else f" in {made} of {len(sets)} sets"))
    if summary["failures"]:
        marks.append(count(len(summary["failures"]), "failure"))
    return marks


def _verdict(checks: Checks) -> str:
    if not (checks.issues or checks.tips or checks.passed):
        return "Nothing was checked."
    if not (checks.issues or checks.tips):
        return f"All {len(checks.passed)} checks passed."
    found = [count(len(own), word) for own, word in ((checks.issues, "issue"), (checks.tips, "tip")) if own]
    return f"The checks found {listed(found)}; {len(checks.passed)} passed."


def duration(seconds: float) -> str:
    """A time that can be read."""
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def not_audited(summary: Summary) -> str:
    """How to audit the sets that were not."""
    found = [said["label"] for said in summary["sets"] if said["audit"] is None]
    if not found:
        return ""
    which = "No set" if len(found) == len(summary["sets"]) else "Not every set"
    return f"{which} came with an audit. `sonde audit` looks for duplicates, leaks, shortcuts and imbalance in any set."
