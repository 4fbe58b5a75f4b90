"""Classes and examples: how many rows each label has, and some of them to read."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """The sets."""
    assert page.described is not None
    return {"sets": page.described.sets}


section = Section(
    name="classes",
    order=20,
    title="Classes and examples",
    intro="Rows of each label by split, and examples, sampled by a hash; target or changed words are marked. Read some "
    "before you trust a score.",
    template=sibling_file(__package__, "classes.html"),
    data=data,
    style=sibling_file(__package__, "classes.css"),
)
