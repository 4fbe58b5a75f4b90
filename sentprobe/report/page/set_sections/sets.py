"""Sets: one line each, with sizes and what the audit found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """The sets, and how many findings of each severity they have."""
    described = page.described
    assert described is not None
    counts = [Counter(finding.severity for finding in s.findings) for s in described.sets]
    return {
        "sets": described.sets,
        "counts": counts,
        "languages": any(s.language for s in described.sets),
        "forms": any(s.forms for s in described.sets),
    }


section = Section(
    name="sets",
    order=10,
    title="Sets",
    intro="Majority is the share of the most frequent label in test, in percent: what always predicting it scores.",
    template=sibling_file(__package__, "sets.html"),
    data=data,
)
