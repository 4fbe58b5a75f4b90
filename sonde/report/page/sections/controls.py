"""Controls and measures: what to compare a score with."""

from __future__ import annotations

from collections.abc import Mapping

from sonde.report.page.section import PageData, Section, sibling_file
from sonde.report.variant_tables import variant_tables
from sonde.report.word_texts import is_of_words


def data(page: PageData) -> Mapping[str, object]:
    """A table of controls and one of measures per encoder."""
    return {"tables": list(variant_tables(page.brief))}


def absent(page: PageData) -> str | None:
    """Why there are none: nothing was requested, or nothing could be computed."""
    if any(column for own in page.summary.sets for column in own.variants):
        return None
    if is_of_words(page.summary):
        return ""
    return "No controls or measures were requested: sonde run --controls all --measures all."


section = Section(
    name="controls",
    order=40,
    title="Controls and measures",
    intro="What to compare a score with: controls remove one source of information and probe what is left; "
    "measures ask another question about the same vectors.",
    template=sibling_file(__package__, "controls.html"),
    data=data,
    absent=absent,
)
