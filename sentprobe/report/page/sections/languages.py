"""Languages: the same tasks in several languages."""

from __future__ import annotations

from sentprobe.report.languages import class_note, task_means
from sentprobe.report.names import listed
from sentprobe.report.page.header import languages_of
from sentprobe.report.page.section import PageData, Section, sibling_file


def absent(page: PageData) -> str | None:
    """Why no task is available in two languages."""
    if page.figures.get("languages"):
        return None
    languages = languages_of(page.summary)
    if len(languages) < 2:
        return f"There is only one language: {languages[0]}." if languages else "The language of the sets is not known."
    return f"No task is available in two of the languages ({listed(languages)})."


section = Section(
    name="languages",
    order=90,
    title="Languages",
    intro="The same tasks in several languages: profiles of the same shape say that one language is harder, not that "
    "it is different.",
    template=sibling_file(__package__, "languages.html"),
    data=lambda page: {
        "columns": page.brief.columns,
        "means": task_means(page.summary.languages, page.summary.sets) if page.summary.languages else [],
        "class_note": class_note(page.summary.sets),
    },
    absent=absent,
)
