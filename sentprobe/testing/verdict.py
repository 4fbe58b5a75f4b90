"""The result of checking one rule, and what is done with the results of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sentprobe.core.third_party import third_party_code
from sentprobe.errors import SentProbeError, describe_error, error_location


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule, and whether the task or encoder follows it."""

    rule: str
    passed: bool
    detail: str = ""
    warning: bool = False
    """Whether the detail is worth reading although the rule is followed."""


def verdict_of(rule: str, test: Callable[..., str], *arguments: object) -> Verdict:
    """Check a rule by a function that returns what is wrong, or nothing; any error counts as a broken rule."""
    try:
        with third_party_code:
            detail = test(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        detail = f"{describe_error(e)}{error_location(e)}"
    return Verdict(rule, not detail, detail)


def verdicts(rules: Iterable[tuple[str, Callable[[], str]]]) -> Iterator[Verdict]:
    """Check rules one by one: each has a function that returns what is wrong, or nothing."""
    for rule, check in rules:
        try:
            wrong = check()
        except Exception as e:  # whatever third-party code raises
            wrong = f"got {describe_error(e)}{error_location(e)}"
        yield Verdict(rule, not wrong, wrong)


def raise_failure(results: Iterable[Verdict], part: str) -> None:
    """Raise SentProbeError at the first rule that is broken; ``part`` is what the message says of it."""
    for verdict in results:
        if not verdict.passed:
            raise SentProbeError(f"{part} breaks a rule: {verdict.rule}. {verdict.detail}")


def until_error(results: Iterator[Verdict]) -> Iterator[Verdict]:
    """The verdicts, and a failed one as the last if the part that is checked raises an error."""
    while True:
        try:
            verdict = next(results, None)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            yield Verdict("it can be checked", False, f"{describe_error(e)}{error_location(e)}")
            return
        if verdict is None:
            return
        yield verdict
