"""Audit: what was found in each set, how far shallow cues go, and what sets share that they should not."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """The sets, and what they have in common."""
    assert page.described is not None
    return {"sets": page.described.sets, "shared": page.described.shared}


section = Section(
    name="audit",
    order=30,
    title="Audit",
    intro="An error changes what a score means, a warning may, and a note is good to know. Shortcuts are accuracies of "
    "classifiers that see one shallow cue only.",
    template=sibling_file(__package__, "audit.html"),
    data=data,
)
