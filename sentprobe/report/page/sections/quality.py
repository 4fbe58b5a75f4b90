"""Data quality: the sets, their sizes and sources, and their audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sentprobe.report.page.header import not_audited
from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """How many findings of each severity a set's audit has."""
    counts = [Counter(finding.severity for finding in s.audit or ()) for s in page.summary.sets]
    redundant = [s for s in page.summary.sets if s.redundancy]
    return {"counts": counts, "not_audited": not_audited(page.summary), "redundant": redundant}


section = Section(
    name="quality",
    order=70,
    title="Data quality",
    intro="A score is only as good as its set: how large the set is, where it comes from, and what an audit found in "
    "it.",
    words_intro="What was evaluated on: how many words, sentences or pairs, and where they come from.",
    template=sibling_file(__package__, "quality.html"),
    data=data,
)
