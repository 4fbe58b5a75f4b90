"""The verdict about a finding: from the tests of its cells to held, contradicted or undecided.

A claim about m cells is a claim about at least u of them: every one (u = m), most (u = m // 2 + 1), or some (u = 1).
The partial conjunction p-value (m - u + 1) p(u), where p(1) ≤ p(2) ≤ … are the p-values of the cells, is valid however
the cells depend on each other (Benjamini and Heller 2008). With u = m it is the largest of them;
with u = 1, Bonferroni's. The claim is contradicted if significantly at least m - u + 1 cells are the other way. A claim
about the mean is tested by its standard error, for which cells on the same rows are taken to be perfectly correlated.
Directed tests are two-sided. Where a cell has no standard error, signs are counted, by set: six that agree are
significant, five are not.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sentprobe.replicate.claim import Claim
from sentprobe.replicate.evidence import Contrast, Evidence
from sentprobe.replicate.vocabulary import Cells, CellTest, Expected, Statistic, Tested
from sentprobe.stats import level as levels
from sentprobe.stats.paired import binomial_p

Outcome = Literal["held", "contradicted", "undecided", "not tried"]
WORDED = {
    "every": "all {} cells",
    "most": "most of {} cells",
    "some": "one of {} cells",
    "mean": "all {} cells",
}
"""How many cells a claim is about, in words."""
OUTCOMES: tuple[Outcome, ...] = ("held", "contradicted", "undecided", "not tried")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a paper or a run says about a finding."""

    claim: Claim
    outcome: Outcome
    estimate: float | None = None
    """The mean over cells: of differences, or of correlations."""
    low: float | None = None
    high: float | None = None
    p: float | None = None
    """Of the side that the evidence is on."""
    cells: int = 0
    agreeing: int = 0
    """Cells whose number is as claimed, significantly or not."""
    rule: str = ""
    """What decided."""
    reason: str = ""
    """Why it is undecided or was not tried."""
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Which encoders of a run were taken for which role."""
    matched: tuple[str, ...] = ()
    """The roles whose encoders were found by their names."""
    untested: tuple[str, ...] = ()
    """Tasks that the claim is about, and the run has no results of."""
    languages: tuple[str, ...] = ()
    """Languages that it was tested in, and the paper did not."""
    tests: tuple[CellTest, ...] = ()
    published: Answer | None = None
    """Of a run: what the paper's own tables say."""


@dataclass(frozen=True)
class _PartAnswer:
    """What one of the statistics of a claim came to."""

    tests: Sequence[CellTest]
    p_for: float
    p_against: float
    estimate: float | None
    ends: tuple[float, float] | None
    agreeing: int
    rule: str
    signs: bool
    """Whether signs were counted."""


def answer(claim: Claim, evidence: Evidence) -> Answer:
    """Evaluate a finding on printed results or a run."""
    tested = [statistic.test(evidence) for statistic in claim.parts]
    missing = [text for result in tested for text in result.missing]
    if missing:
        return Answer(claim=claim, outcome="not tried", reason="needs " + "; ".join(dict.fromkeys(missing)))
    return verdict_of_tests(claim, tested, evidence.rule)


def verdict_of_tests(claim: Claim, tested: Sequence[Tested], rule: str) -> Answer:
    """The verdict from the tests of the parts of a claim; ``rule``: what cells were tested by."""
    parts = [_decide(*pair, rule) for pair in zip(claim.parts, tested, strict=True)]
    p_for = max(part.p_for for part in parts)
    p_against = min(1.0, len(parts) * min(part.p_against for part in parts))
    outcome: Outcome = "undecided"
    if p_for <= levels.ALPHA:
        outcome = "held"
    elif p_against <= levels.ALPHA:
        outcome = "contradicted"
    first = parts[0]
    low, high = first.ends or (None, None)
    cells, agreeing = sum(len(part.tests) for part in parts), sum(part.agreeing for part in parts)
    return Answer(
        claim=claim,
        outcome=outcome,
        estimate=first.estimate,
        low=low,
        high=high,
        p=min(p_for, p_against),
        cells=cells,
        agreeing=agreeing,
        rule="; ".join(dict.fromkeys(part.rule for part in parts)),
        reason=_reason(parts, cells, agreeing) if outcome == "undecided" else "",
        tests=tuple(test for part in parts for test in part.tests),
    )


def _reason(parts: Sequence[_PartAnswer], cells: int, agreeing: int) -> str:
    """Why a claim is undecided."""
    if any(all(test.value is None for test in part.tests) for part in parts):
        return "p-values without a direction, or without the size of the difference"
    if any(part.signs for part in parts):
        signs = f"{agreeing} of {cells} as claimed" if cells > 1 else f"the sign {'agrees' if agreeing else 'does not'}"
        return f"no test: numbers without a known error, {signs}"
    return f"power: {agreeing} of {cells} as claimed, not significantly" if cells > 1 else "power"


def _decide(statistic: Statistic, tested: Tested, rule: str) -> _PartAnswer:
    """One statistic."""
    tests, expect, margin = tested.cells, statistic.expect, statistic.margin
    numbers = all(test.value is not None for test in tests)
    agreeing = sum(test.agrees(expect, margin) is True if numbers else test.p_for <= levels.ALPHA for test in tests)
    mean = tested.joint or mean_cell(tests, expect, margin)
    by_sign = not tested.rule and any(t.value is not None and t.error is None and t.ends is None for t in tests)
    rule = tested.rule or (rule if numbers else "printed p-values")
    if by_sign:
        agree, differ, mixed = sign_counts(tests, expect, margin)
        p_for, p_against = sign_test(agree, differ, mixed, statistic.cells)
        count = agree + differ + mixed
        rule = f"signs on {count} sets" if count > 1 else "sign only"
    elif statistic.cells == "mean" and mean is not None:
        p_for, p_against = mean.p_for, mean.p_against
        rule = f"mean of {len(tests)} cells, {rule}" if len(tests) > 1 else rule
    else:
        p_for, p_against = partial_conjunction(tests, statistic.cells)
        rule = f"{WORDED[statistic.cells].format(len(tests))}, {rule}" if len(tests) > 1 else rule
    estimate, ends = (mean.value, mean.ends) if mean is not None else (None, None)
    return _PartAnswer(tests, p_for, p_against, estimate, ends, agreeing, rule, by_sign)


def partial_conjunction(tests: Sequence[CellTest], cells: Cells) -> tuple[float, float]:
    """That a claim is true in as many cells as it says, and that it is false in too many for that."""
    m = len(tests)
    u = {"every": m, "most": m // 2 + 1, "some": 1}.get(cells, m)
    p_for = sorted(test.p_for for test in tests)[u - 1] * (m - u + 1)
    p_against = sorted(test.p_against for test in tests)[m - u] * u
    return min(1.0, p_for), min(1.0, p_against)


def sign_counts(tests: Sequence[CellTest], expect: Expected, margin: float) -> tuple[int, int, int]:
    """On how many sets all cells are as claimed, none is, or some are: cells on one set are not independent."""
    by_set: dict[str, list[bool]] = defaultdict(list)
    for test in tests:
        by_set[test.test_set].append(test.agrees(expect, margin) is True)
    agree, differ = (sum(all(sign is side for sign in signs) for signs in by_set.values()) for side in (True, False))
    return agree, differ, len(by_set) - agree - differ


def sign_test(agree: int, differ: int, mixed: int, cells: Cells) -> tuple[float, float]:
    """By signs alone: an exact binomial test; of every cell, only if all agree."""
    p = binomial_p(agree, differ)[0]
    whole = cells != "every" or differ + mixed == 0
    return p if agree > differ and whole else 1.0, p if agree < differ else 1.0


def mean_cell(tests: Sequence[CellTest], expect: Expected, margin: float) -> CellTest | None:
    """The mean over cells: those on the same rows are taken to be perfectly correlated, others to be independent."""
    values = [test.value for test in tests if test.value is not None]
    if len(values) < len(tests):
        return None
    if len(tests) == 1:
        return tests[0]
    m, value = len(tests), math.fsum(values) / len(tests)
    errors: dict[str, float] = defaultdict(float)
    for test in tests:
        if test.error is None:
            return CellTest("mean", "", value, 1.0, 1.0)
        errors[test.test_set] += test.error / m
    rounding = math.fsum(test.rounding for test in tests) / m
    contrast = Contrast("mean", "", value, math.hypot(*errors.values()), rounding)
    return replace(CellTest.of(contrast, expect, margin), label="mean")
