"""Errors: what the probes got wrong, one set and one encoder at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sentprobe.report.names import set_names
from sentprobe.report.page.packed_errors import pack_errors
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.types import SetErrors, SetSummary
from sentprobe.report.verdict import verdict_of
from sentprobe.report.word_texts import is_of_words


def script_data(page: PageData) -> object:
    """The errors of each set, and the set and the column to begin with."""
    sets = page.summary.sets
    errors = [
        set_errors if set_errors is None or _is_known(s) else replace(set_errors, doubtful=(), easiest=())
        for set_errors, s in zip(page.summary.errors, sets, strict=True)
    ]
    return {
        "first": _first(page.summary.errors, sets),
        "names": set_names(page.summary.sets),
        "columns": page.names,
        "errors": pack_errors(errors, [s.label_names for s in page.summary.sets]),
        "retrieved": [s.scored_by == "precision@1" for s in page.summary.sets],
        "best": [_best(s) for s in page.summary.sets],
    }


def _first(errors: Sequence[SetErrors | None], sets: Sequence[SetSummary]) -> int | None:
    """The first set on which someone is above the baselines; if there is none, the first with errors."""
    with_errors = [i for i, set_errors in enumerate(errors) if set_errors is not None]
    above = [i for i in with_errors if any(verdict_of(cell) == "above" for cell in sets[i].cells)]
    return next(iter([*above, *with_errors]), None)


def _is_known(s: SetSummary) -> bool:
    """Whether someone knows something about the labels of a set: at chance, an unlikely label is not a doubtful one."""
    return any(
        verdict_of(cell) == "above" or (cell.information is not None and (cell.information.low or 0.0) > 0)
        for cell in s.cells
        if cell is not None
    )


def _best(s: SetSummary) -> int | None:
    """The column with the highest score on a set."""
    scores = [(cell.score.value, -j) for j, cell in enumerate(s.cells) if cell and cell.score.value is not None]
    return -max(scores)[1] if scores else None


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
