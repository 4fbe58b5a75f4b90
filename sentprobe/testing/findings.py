"""Rules that a finding follows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentprobe.replicate.claim import Claim
from sentprobe.replicate.decide import OUTCOMES, answer
from sentprobe.replicate.printed import PrintedResults
from sentprobe.testing.verdict import Verdict, raise_failure, verdicts

MAX_SENTENCE = 200
"""Characters of a claim."""


def check_finding(claim: Claim) -> None:
    """Raise SentProbeError, naming the rule, if a finding breaks one.

    Examples
    --------
    >>> from sentprobe.replicate import FINDINGS
    >>> from sentprobe.testing import check_finding
    >>> check_finding(FINDINGS["conneau2018_max_pooling"])
    """
    raise_failure(examine_finding(claim), f"The finding {claim.name!r}")


def examine_finding(claim: Claim) -> Iterator[Verdict]:
    """Check the rules one by one."""
    return verdicts(
        (
            ("its name can be typed", lambda: _name(claim)),
            ("the claim is one sentence", lambda: _sentence(claim)),
            (
                "it says where the claim stands",
                lambda: "" if claim.where else "where is empty",
            ),
            ("roles have different names", lambda: _roles(claim)),
            ("its margin is a share of one", lambda: _margins(claim)),
            ("it can be evaluated on printed results", lambda: _evaluated(claim)),
        )
    )


def _name(claim: Claim) -> str:
    return "" if re.fullmatch(r"[\w.-]+", claim.name) else f"expected letters, digits and _, got {claim.name!r}"


def _sentence(claim: Claim) -> str:
    text = claim.sentence
    if not text.endswith(".") or text != " ".join(text.split()):
        return f"expected a sentence with a full stop, on one line, got {text!r}"
    return f"{len(text)} characters, more than {MAX_SENTENCE}" if len(text) > MAX_SENTENCE else ""


def _roles(claim: Claim) -> str:
    for part in claim.parts:
        names = [role.name for role in part.roles]
        if not all(names) or len(set(names)) < len(names):
            mapped = getattr(part, "across", "") != ""
            if not all(names) or not mapped:
                return f"got {', '.join(map(repr, names))}"
    return ""


def _margins(claim: Claim) -> str:
    wrong = [part.margin for part in claim.parts if abs(part.margin) >= 1]
    return f"got {wrong[0]}" if wrong else ""


def _evaluated(claim: Claim) -> str:
    first, second = (answer(claim, PrintedResults(claim.paper)) for _ in range(2))
    if first.outcome not in OUTCOMES:
        return f"got the verdict {first.outcome!r}"
    return "" if first == second else "two evaluations differ"
