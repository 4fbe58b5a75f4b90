"""The result of checking one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sentprobe.errors import describe_error, error_location


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule, and whether the task or encoder follows it."""

    rule: str
    passed: bool
    detail: str = ""
    warning: bool = False
    """Whether the detail is worth reading although the rule is followed."""


def verdicts(rules: Iterable[tuple[str, Callable[[], str]]]) -> Iterator[Verdict]:
    """Check rules one by one: each has a function that returns what is wrong, or nothing."""
    for rule, check in rules:
        try:
            wrong = check()
        except Exception as e:  # whatever third-party code raises
            wrong = f"got {describe_error(e)}{error_location(e)}"
        yield Verdict(rule, not wrong, wrong)
