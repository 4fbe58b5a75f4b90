"""Methodological checks: what a careful reviewer would object to in a run. docs/report-checks.md explains each code.

A check is an object in one of the modules of this folder, or in another package that offers it as an entry point of the
group ``sentprobe.checks``. Thresholds are defined next to the checks that use them.
"""

from __future__ import annotations

from functools import partial
from typing import get_args

from sentprobe.core.plugins import Kind
from sentprobe.report.check import Check, Level
from sentprobe.report.extension import attempt
from sentprobe.report.types import CheckResult, Summary

__all__ = ["CHECKS", "Check", "checks"]

CHECKS = Kind("check", __name__, Check)
LEVELS: tuple[Level, ...] = get_args(Level)


def checks(summary: Summary) -> tuple[CheckResult, ...]:
    """The result of every check that applies to a run, issues first."""
    results = [attempt(f"The check {check.name}", partial(check, summary)) for check in CHECKS.parts().values()]
    return tuple(sorted((f for f in results if f is not None), key=lambda f: LEVELS.index(f.level)))
