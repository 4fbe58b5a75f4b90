"""Sets without a run as one page: the sections of ``set_sections`` in the page of a run."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

from sentprobe import __version__
from sentprobe.core.formatting import count_of
from sentprobe.core.plugins import part_modules
from sentprobe.report.described_sets import DescribedSets
from sentprobe.report.figure import NO_RUN
from sentprobe.report.names import listed
from sentprobe.report.page.header import Badge, PageHeader, synthetic_badges
from sentprobe.report.page.page import assemble, render_sections
from sentprobe.report.page.section import PageData, Section
from sentprobe.report.page.templates import environment

MAX_NAMED = 6
"""Of more sets, only the number is given."""


def render_sets(described: DescribedSets, *, title: str | None = None) -> str:
    """The page of sets alone, which loads nothing."""
    package = f"{__package__}.set_sections"
    sections: list[Section] = [import_module(name).section for name in part_modules(package).values()]
    page = PageData(summary=NO_RUN, brief=NO_RUN, figures={}, described=described)
    templates = environment([], "encoder")
    rendered, absent = render_sections(sorted(sections, key=lambda section: section.order), page, templates)
    name = listed([Path(path).resolve().name for path in described.paths], most=MAX_NAMED)
    return assemble(
        templates,
        rendered,
        absent,
        title=title or f"Probing sets: {name}",
        head=head_of_sets(described),
        folders=described.paths,
    )


def head_of_sets(described: DescribedSets) -> PageHeader:
    """How many sets there are, and what their audits found."""
    sets = described.sets
    languages = list(dict.fromkeys(s.language for s in sets if s.language))
    lede = [count_of(len(sets), "set"), count_of(sum(sum(s.n.values()) for s in sets), "row")]
    if languages:
        lede.append(listed(languages, most=4, remainder="more languages"))
    unread = "; ".join(f"{name} could not be read: {why}" for name, why in described.unread)
    return PageHeader(
        lede=" · ".join(lede),
        badges=[Badge(text) for text in synthetic_badges([s.synthetic for s in sets])],
        missing=unread,
        errors=(),
        answer=_answer(described),
        note=f"Audited by sentprobe {__version__}; “sentprobe audit --explain CODE” says what a code means.",
        verdict="",
    )


def _answer(described: DescribedSets) -> list[str]:
    """Which sets have errors and warnings, and how often which."""
    sets, sentences = described.sets, []
    for severity in ("error", "warning"):
        affected = [s.name for s in sets if any(f.severity == severity for f in s.findings)]
        # in the order of the findings: that of a set of strings differs from one process to the next
        codes = Counter(
            code for s in sets for code in dict.fromkeys(f.code for f in s.findings if f.severity == severity)
        )
        if not affected:
            sentences.append(f"No set has {severity}s.")
            continue
        share = f"{len(affected)} of {count_of(len(sets), 'set')} {'has' if len(affected) == 1 else 'have'}"
        which = share if len(affected) < len(sets) else "All sets have" if len(sets) > 1 else "The set has"
        names = f" ({listed(affected)})" if len(affected) <= MAX_NAMED and len(affected) < len(sets) else ""
        kinds = listed([f"{code} in {n}" if len(sets) > 1 else code for code, n in codes.most_common()], most=MAX_NAMED)
        sentences.append(f"{which} {severity}s{names}: {kinds}.")
    if described.shared:
        sentences.append(
            f"Across sets: {listed([f.message for f in described.shared], most=2, remainder='more findings')}."
        )
    return sentences
