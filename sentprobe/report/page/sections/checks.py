"""Checks: what may mislead a reader of the results."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.checks import CHECKS
from sentprobe.report.page.header import checks_of
from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """The results of the checks by level, and what to do about each."""
    return {"checks": checks_of(page.summary), "advice": {c.name: c.advice for c in CHECKS.parts().values()}}


section = Section(
    name="checks",
    order=20,
    title="Checks",
    template=sibling_file(__package__, "checks.html"),
    data=data,
    absent=lambda page: None if page.summary.checks else "",
    needs_results=False,
)
