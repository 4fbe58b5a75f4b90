"""Words: what the scores of spaces of words are made of."""

from __future__ import annotations

from sentprobe.lab.extensions._word_tables import word_tables
from sentprobe.report.page.section import PageData, Section, sibling_file


def absent(page: PageData) -> str | None:
    """Left out silently, unless there are sets of words."""
    return None if any(word_tables(page.brief)) or page.figures.get("words") else ""


section = Section(
    name="words",
    order=35,
    title="Words",
    intro="What the scores of spaces of words are made of, and what was left out, since a word is not in a vocabulary.",
    template=sibling_file(__package__, "words.html"),
    data=lambda page: {"tables": list(word_tables(page.brief))},
    absent=absent,
)
