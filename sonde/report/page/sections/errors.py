"""Errors: what the probes got wrong, one set and one encoder at a time."""

from __future__ import annotations

from sonde.report.names import set_names
from sonde.report.page.packed_errors import pack_errors
from sonde.report.page.section import PageData, Section, sibling_file
from sonde.report.types import SetSummary
from sonde.report.word_texts import is_of_words


def script_data(page: PageData) -> object:
    """The errors of each set, and the column to begin with."""
    return {
        "names": set_names(page.summary.sets),
        "columns": page.names,
        "errors": pack_errors(page.summary.errors, [own.label_names for own in page.summary.sets]),
        "retrieved": [own.scored_by == "precision@1" for own in page.summary.sets],
        "best": [_best(own) for own in page.summary.sets],
    }


def _best(own: SetSummary) -> int | None:
    """The column with the highest score on a set."""
    found = [(cell.score.value, -j) for j, cell in enumerate(own.cells) if cell and cell.score.value is not None]
    return -max(found)[1] if found else None


def absent(page: PageData) -> str | None:
    """Whether there is a set with predictions."""
    if any(page.summary.errors):
        return None
    if is_of_words(page.summary):
        return "No words or sentences were retrieved, or the predictions cannot be read."
    return "No set is scored by accuracy, or its predictions cannot be read."


section = Section(
    name="errors",
    order=60,
    title="Errors",
    intro="One encoder on one set at a time: which labels its probe confuses, where it fails, and its most confident "
    "errors.",
    words_intro="One system on one set at a time: the words or sentences whose nearest neighbour is not a translation.",
    template=sibling_file(__package__, "errors.html"),
    absent=absent,
    script=sibling_file(__package__, "errors.js"),
    script_data=script_data,
)
