"""How they were made: corpus, settings, digests, and why sentences were left out."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.report.page.section import PageData, Section, sibling_file


def data(page: PageData) -> Mapping[str, object]:
    """The sets."""
    assert page.described is not None
    return {"sets": page.described.sets}


section = Section(
    name="making",
    order=40,
    title="How the sets were made",
    intro="What the manifest of each set records; for files without one, what is known about them.",
    template=sibling_file(__package__, "making.html"),
    data=data,
)
