"""People: your annotators, beside the encoders on the same sentences."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.page.section import PageData, Section, sibling_file


def absent(page: PageData) -> str | None:
    """Nothing is said if nobody was asked."""
    return None if any(s.people for s in page.summary.sets) else ""


def data(page: PageData) -> Mapping[str, object]:
    """The sets that people judged, and the columns."""
    return {"judged": [s for s in page.summary.sets if s.people], "columns": page.brief.columns}


section = Section(
    name="people",
    order=34,
    title="People",
    intro="How often the majority vote of your annotators is right, and how often the encoders are, on the same "
    "sentences. People and encoders that give one answer far more often than it is true have a bias that accuracy does "
    "not show.",
    template=sibling_file(__package__, "people.html"),
    data=data,
    absent=absent,
)
