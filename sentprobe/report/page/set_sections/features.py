"""Words and labels: what naive Bayes associates with each class, and how often the target is not alone."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """The sets that words can tell something about."""
    assert page.described is not None
    return {"sets": [s for s in page.described.sets if s.features or s.redundancy]}


def absent(page: PageData) -> str | None:
    """Nothing is said where naive Bayes cannot be trained."""
    assert page.described is not None
    return None if any(s.features or s.redundancy for s in page.described.sets) else ""


section = Section(
    name="features",
    order=25,
    title="Words and labels",
    intro="The words of the training rows that naive Bayes associates most with each label, with their log-odds: what "
    "a bag of words knows about the task. If they are what the task asks for, it can be solved by words; if they are "
    "not, look for a leak.",
    template=sibling_file(__package__, "features.html"),
    data=data,
    absent=absent,
)
