"""The result of checking one rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule, and whether the task or encoder follows it."""

    rule: str
    passed: bool
    detail: str = ""
    warning: bool = False
    """Whether the detail is worth reading although the rule is followed."""
