"""What a careful reader would object to in a run, as coded entries; docs/report-checks.md explains each code.

A check is a function of the summary. It gives one entry: an issue, with which numbers may be misread, a tip, or that it
was passed; or None where it has nothing to look at. Thresholds stand beside the checks that have them.
"""

from __future__ import annotations

from collections.abc import Callable

from sonde.report.checks.baselines import below_baseline, chance, leak_like
from sonde.report.checks.check_result import CheckResult, Level, Summary
from sonde.report.checks.comparisons import few_rows, many_comparisons, not_apart
from sonde.report.checks.data import failures, partial, synthetic, unsound_data
from sonde.report.checks.encoders import broken_encoder, taken_on_trust, unknown_tokens
from sonde.report.checks.probe import dev_test_gap, grid_edge, mlp_gain, one_seed, wide_vectors

__all__ = ["CHECKS", "CheckResult", "checks"]

CHECKS: tuple[Callable[[Summary], CheckResult | None], ...] = (
    failures,
    broken_encoder,
    unknown_tokens,
    leak_like,
    unsound_data,
    synthetic,
    partial,
    below_baseline,
    chance,
    not_apart,
    few_rows,
    many_comparisons,
    mlp_gain,
    dev_test_gap,
    grid_edge,
    wide_vectors,
    one_seed,
    taken_on_trust,
)
"""In the order in which entries of one level stand. The code of a check is its name, with hyphens."""
LEVELS: tuple[Level, ...] = ("issue", "tip", "passed")


def checks(summary: Summary) -> list[CheckResult]:
    """Every check that applies to a run, issues first."""
    found = [answer for check in CHECKS if (answer := check(summary)) is not None]
    return sorted(found, key=lambda answer: LEVELS.index(answer["level"]))
