"""A methodological check of a run: its rule, its advice, and its documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sentprobe.report.types import CheckResult, Summary

Level = Literal["issue", "tip", "passed"]
MAX_PLACES = 50
"""Places that a finding lists."""


@dataclass(frozen=True)
class Finding:
    """What a check found: an issue or a tip, with the places that it is about, or that the run passed."""

    level: Level
    title: str
    text: str
    where: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Check:
    """One methodological check: one object, from which the report and docs/report-checks.md are made.

    Parameters
    ----------
    name
        Its code, such as ``few-rows``.
    find
        A function of the summary; None where the check does not apply to the run.
    advice
        What to do about a finding, in a sentence that the page shows; code is between backticks.
    doc
        What is checked and when it is an issue or a tip, in Markdown: its section in docs/report-checks.md.
    docs
        A link to that section; for checks of other packages, a URL of their own, or nothing.
    order
        Findings of one level are shown in this order.

    Examples
    --------
    >>> from sentprobe.report.checks import CHECKS
    >>> CHECKS.get("partial").advice
    'Run the command again without `--limit`.'
    """

    name: str
    find: Callable[[Summary], Finding | None] = field(repr=False)
    advice: str = field(repr=False)
    doc: str = field(default="", repr=False)
    docs: str = field(default="", repr=False)
    order: int = 1000

    def __call__(self, summary: Summary) -> CheckResult | None:
        """What the check found in a run, for the summary."""
        found = self.find(summary)
        if found is None:
            return None
        return CheckResult(
            code=self.name, level=found.level, title=found.title, text=found.text,
            where=tuple(found.where[:MAX_PLACES]), docs=self.docs or f"report-checks.md#{self.name}" * bool(self.doc),
        )  # fmt: skip
