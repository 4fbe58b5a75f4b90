"""A section of the page: its heading, its template, and the data that the template shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from sentprobe.core.plugins import part_repr
from sentprobe.errors import UsageError
from sentprobe.report.page.figures import Figure
from sentprobe.report.types import Summary

if TYPE_CHECKING:
    from sentprobe.report.described_sets import DescribedSets

CHARTS_ONLY = "{{ macros.charts(figures) }}"


@dataclass(frozen=True, kw_only=True)
class PageData:
    """What sections are made from."""

    summary: Summary
    brief: Summary
    """The same with short names as labels of the columns."""
    figures: Mapping[str, Sequence[Figure]]
    """The charts of each section, by its name."""
    described: DescribedSets | None = None
    """What a page about sets alone shows; there is no run then."""

    @property
    def names(self) -> list[str]:
        """Short names of the columns, no two alike."""
        return [column.name for column in self.brief.columns]


def _nothing(page: PageData) -> Mapping[str, object]:
    return {}


def _always(page: PageData) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Section:
    """One section of the page: one object in one file, with its template inline or in a file next to it.

    Parameters
    ----------
    name
        The id of the section element; charts name it to be shown in the section.
    title
        The heading.
    intro
        How to read what follows.
    words_intro
        The same for a run of spaces of words only, if it differs.
    template
        Jinja, autoescaped: every text that is put into it is escaped. It has the variables of ``data``, ``figures``
        (the charts of the section), ``summary``, and the ``macros`` of the page.
    data
        Variables for the template.
    absent
        Why a run has nothing for the section, in a sentence that the page shows instead; nothing: the section is left
        out silently; None: it is shown.
    needs_results
        Whether it is left out of the page of a run that has no results at all.
    script, style
        A script and a style sheet of its own. The page's policy admits them by their hash, and no ``eval``.
    script_data
        What the script finds as ``window.sentprobe.data.sections[name]``: anything that JSON can hold.
    order
        The order of the sections on the page.

    Examples
    --------
    >>> from sentprobe.report.page import SECTIONS
    >>> SECTIONS.get("quality").title
    'Data quality'
    """

    name: str
    title: str
    intro: str = ""
    words_intro: str = ""
    template: str = CHARTS_ONLY
    data: Callable[[PageData], Mapping[str, object]] = _nothing
    absent: Callable[[PageData], str | None] = _always
    needs_results: bool = True
    script: str = ""
    style: str = ""
    script_data: Callable[[PageData], object] | None = None
    order: int = 1000

    __repr__ = part_repr

    def __post_init__(self) -> None:
        """Refuse what would end its own element."""
        for name, text in (("script", self.script), ("style", self.style)):
            if f"</{name}" in text.lower():
                raise UsageError(f"The {name} of the section {self.name!r} contains </{name}.")


def sibling_file(package: str, name: str) -> str:
    """The text of a file next to a module of this package: a template, a script or a style sheet."""
    return resources.files(package).joinpath(name).read_text("utf-8")


def unless_charts(name: str, reason: str) -> Callable[[PageData], str | None]:
    """For ``Section.absent``: the reason, unless the section has charts."""
    return lambda page: None if page.figures.get(name) else reason
