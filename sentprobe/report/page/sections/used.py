"""Contained and used: what probes find in vectors beside what similarity uses, and what other similarities say."""

from __future__ import annotations

from sentprobe.report.extensions.pairs import detail_tables
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.used import NOTE, used_tables


def absent(page: PageData) -> str | None:
    """Left out silently, unless there are triplets that say more than their scores."""
    return None if any(used_tables(page.summary)) or any(detail_tables(page.summary)) else ""


section = Section(
    name="used",
    order=36,
    title="Contained and used",
    intro="A probe says what vectors contain, triplets say what their similarity uses.",
    template=sibling_file(__package__, "used.html"),
    data=lambda page: {
        "used": list(used_tables(page.summary)),
        "details": list(detail_tables(page.summary)),
        "note": NOTE,
    },
    absent=absent,
)
