"""What a conformance check says of one rule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule, and whether the part keeps it."""

    rule: str
    passed: bool
    detail: str = ""
    warning: bool = False
    """Whether the detail is to be read although the rule is kept."""
