"""A run as one page: its sections, with everything that they need, in a file that loads nothing and can be sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe import __version__
from sentprobe.report.extension import attempt
from sentprobe.report.legend import failures
from sentprobe.report.names import listed, short_names
from sentprobe.report.page.figures import Figure, figures_of
from sentprobe.report.page.header import PageHeader, head_of
from sentprobe.report.page.html_table import table
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.page.sections import SECTIONS
from sentprobe.report.page.templates import bundle, environment, page_policy, raw, script_json
from sentprobe.report.titles import in_words
from sentprobe.report.types import Summary
from sentprobe.report.verdict import footnotes

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)
_TEMPORARY = re.compile(r"tmp[a-z0-9_]{8}|sentprobe-[a-z0-9_]{8}|")
"""What tempfile calls folders: the name of one says nothing."""
UNTITLED = "Probing results"
SCRIPTS = ("scripts/start.js", "scripts/charts.js")
"""In the order in which they run: after the bundle that draws, before those of the sections."""


@dataclass(frozen=True)
class RenderedSection:
    """A section as it is shown on the page."""

    section: Section
    body: Markup
    script_data: object = None


def render(
    summary: Summary, extra: Section | None = None, *, title: str | None = None, further: Sequence[Section] = ()
) -> str:
    """The page of a run.

    Parameters
    ----------
    summary
        What ``full_summary`` makes of the run.
    extra
        One more section, from the server of the page; its script may then send requests to that server.
    title
        The heading; by default the names of the run's folders.
    further
        Sections about what is not in the run.
    """
    summary = in_words(summary)
    figures, absent_charts = figures_of(summary)
    added = [*further, *([extra] if extra else [])]
    sections = sorted([*SECTIONS.parts().values(), *added], key=lambda section: section.order)
    names = {section.name for section in sections}
    by_section = {name: [f for f in figures if f.section == name] for name in names}
    by_section["more_charts"] += [f for f in figures if f.section not in names]
    page = PageData(summary=summary, brief=_brief(summary), figures=by_section)
    templates = environment(_renamed(page), summary.kind.noun)
    rendered, absent = render_sections(sections, page, templates)
    if summary.sets and summary.kind.trains_probes:
        absent = [*absent_charts, *absent]
    return assemble(
        templates,
        rendered,
        absent,
        figures,
        title=title or _title(summary),
        head=head_of(page.brief),
        folders=_folders(summary),
        served=extra is not None,
        of_words=not summary.kind.trains_probes,
        noun=summary.kind.noun,
    )


def assemble(
    templates: Environment,
    sections: Sequence[RenderedSection],
    absent: Sequence[tuple[str, str]],
    figures: Sequence[Figure] = (),
    *,
    title: str,
    head: PageHeader,
    folders: Sequence[str],
    served: bool = False,
    of_words: bool = False,
    noun: str = "encoder",
) -> str:
    """Put sections into one page, with their styles and scripts, and a policy that admits nothing else."""
    styles = "".join([sibling_file(__package__, "page.css"), *(section.section.style for section in sections)])
    styles = _INDENTATION.sub("", styles)
    scripts = [sibling_file(__package__, name) for name in SCRIPTS]
    scripts += [section.section.script for section in sections if section.section.script]
    if figures:
        scripts.insert(0, bundle())
    data = {
        "figures": {figure.name: figure.data() for figure in figures},
        "noun": noun,
        "sections": {section.section.name: section.script_data for section in sections},
    }
    return templates.get_template("page.html").render(
        policy=page_policy(styles, scripts, served=served),
        version=__version__,
        title=title,
        styles=raw(styles),
        scripts=[raw(script) for script in scripts],
        data=raw(script_json(data)),
        head=head,
        of_words=of_words,
        sections=sections,
        section_names={section.section.name for section in sections},
        absent=absent,
        served=served,
        folders=folders,
    )


def render_sections(
    sections: Sequence[Section], page: PageData, templates: Environment
) -> tuple[list[RenderedSection], list[tuple[str, str]]]:
    """The sections with something to show; and for the rest, why they have nothing."""
    rendered: list[RenderedSection] = []
    absent: list[tuple[str, str]] = []
    if not page.summary.sets and page.described is None:
        absent.append(("Results", "The run has none."))
        sections = [section for section in sections if not section.needs_results]
    for section in sections:
        result = attempt(f"The section {section.name}", partial(_section, section, page, templates))
        if isinstance(result, RenderedSection):
            rendered.append(result)
        elif result and (section.words_intro or page.summary.kind.trains_probes):
            absent.append((section.title, result))
    return rendered, absent


def _section(section: Section, page: PageData, templates: Environment) -> RenderedSection | str:
    why = section.absent(page)
    if why is not None:
        return why
    figures = page.figures.get(section.name, ())
    body = templates.from_string(section.template).render(summary=page.summary, figures=figures, **section.data(page))
    data = section.script_data(page) if section.script_data else None
    script_json(data)  # what JSON cannot hold is an error of this section, not of the page
    return RenderedSection(section, raw(body), data)


def fragment(summary: Summary, *, title: str | None = None) -> str:
    """The table of a run with its own style, and no script, for a notebook."""
    summary = in_words(summary)
    page = PageData(summary=summary, brief=_brief(summary), figures={})
    return (
        environment(_renamed(page), summary.kind.noun)
        .get_template("notebook.html")
        .render(
            title=title or _title(summary),
            head=head_of(page.brief),
            table=table(page.brief),
            failures=failures(page.brief),
            notes=list(footnotes(page.brief)),
        )
    )


def _brief(summary: Summary) -> Summary:
    """The summary with short names as labels of the columns."""
    names = short_names([column.name for column in summary.columns])
    columns = (replace(column, label=(name,)) for column, name in zip(summary.columns, names, strict=True))
    return replace(summary, columns=tuple(columns))


def _renamed(page: PageData) -> list[tuple[str, str]]:
    """Labels of columns and their short names, as far as they differ, the longest first."""
    columns = list(zip(page.summary.columns, page.names, strict=True))
    pairs = {column.encoder: name for column, name in columns} | {column.name: name for column, name in columns}
    return sorted((pair for pair in pairs.items() if pair[0] != pair[1]), key=lambda pair: -len(pair[0]))


def _folders(summary: Summary) -> Sequence[str]:
    return summary.reproduction.folders if summary.reproduction else (summary.folder,)


def _title(summary: Summary) -> str:
    """The names of the runs: those of their folders, unless they are temporary ones."""
    names = [Path(folder).resolve().name for folder in _folders(summary)]
    return listed([name for name in names if not _TEMPORARY.fullmatch(name)]) or UNTITLED
