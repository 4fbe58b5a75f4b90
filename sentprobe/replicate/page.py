"""Findings as one self-contained page, in the layout of the page of a run: claim, published, ours, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from sentprobe import __version__
from sentprobe.published import papers
from sentprobe.replicate.decide import Answer
from sentprobe.replicate.tables import (
    LEGEND,
    cell_rows,
    count_cells,
    headline,
    number_text,
    p_text,
    run_notes,
    verdict_text,
)
from sentprobe.report.figure import NO_RUN
from sentprobe.report.page.header import PageHeader
from sentprobe.report.page.page import assemble, render_sections
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.page.templates import environment

STYLE = """
.findings > tbody > tr > th { min-width: 17rem; max-width: 26rem; font-weight: 400; }
.findings .plain { min-width: 0; }
.findings td { vertical-align: top; min-width: 8rem; }
.findings .held { color: #17722f; }
.findings .contradicted { color: #b3261e; }
.findings .undecided, .findings .not-tried { color: var(--muted); }
@media (prefers-color-scheme: dark) {
  .findings .held { color: #6fcf86; }
  .findings .contradicted { color: #ff8a80; }
}
"""
OWN = "Findings of your own"
"""The heading of those that are of no paper."""


def render_findings(answers: Sequence[Answer], folders: Sequence[str] = (), *, title: str = "Findings") -> str:
    """The page, which loads nothing; ``folders``: of the runs, if it is about any."""
    by_paper: dict[str, list[Answer]] = {}
    for answer in answers:
        by_paper.setdefault(answer.claim.paper, []).append(answer)
    sections = [
        _section(paper, group, order, LEGEND if order == 1 else "")
        for order, (paper, group) in enumerate(by_paper.items(), 1)
    ]
    templates = environment([], "encoder")
    rendered, _ = render_sections(sections, PageData(summary=NO_RUN, brief=NO_RUN, figures={}), templates)
    head = PageHeader(
        lede="Tested on runs" if folders else "Tested on what the papers printed",
        badges=[],
        missing="",
        errors=(),
        answer=[headline(answers)],
        note=f"Verdicts are computed by sentprobe {__version__}, by the rule beside each of them.",
        verdict="",
    )
    return assemble(templates, rendered, (), title=title, head=head, folders=folders or ["what papers printed"])


def _section(paper: str, answers: Sequence[Answer], order: int, intro: str) -> Section:
    source = papers().get(paper)
    names = [author.split()[-1] for author in source.authors] if source else []
    authors = f"{names[0]} et al." if len(names) > 2 else " and ".join(names)
    title = f"{authors} ({source.year})" if source else paper or OWN
    return Section(
        name=f"findings-{order}",
        title=title,
        intro=intro,
        template=sibling_file(__package__, "findings.html"),
        style=STYLE if order == 1 else "",
        data=partial(_data, title, answers),
        needs_results=False,
        order=order,
    )


def _data(title: str, answers: Sequence[Answer], _page: PageData) -> Mapping[str, object]:
    of_run = any(answer.roles for answer in answers)
    return {"table_title": title, "of_run": of_run, "rows": [_row(answer) for answer in answers]}


def _row(answer: Answer) -> Mapping[str, object]:
    claim, printed = answer.claim, answer.published
    return {
        "sentence": claim.sentence,
        "source": ", ".join(filter(None, (claim.name, claim.where))),
        "published": f"{printed.outcome}: {number_text(printed)}" if printed else "",
        "number": f"{number_text(answer)}, p {p_text(answer.p)}" if answer.tests else "",
        "outcome": answer.outcome,
        "verdict": verdict_text(answer),
        "why": answer.reason or answer.rule,
        "notes": [*filter(None, (claim.note,)), *run_notes(replace(answer, published=None))],
        "count": f"{count_cells(answer)} as claimed",
        "tests": cell_rows(answer),
    }
