"""What vectors contain, by probes, beside what similarity uses, by pairs: property by property, of one encoder each.

A property is *contained* if a probe on a probing set of it is significantly above the best baseline, and *used* if the
share of triplets whose positive is nearer is significantly above the best baseline of the texts, chance included. The
two are about different sentences and different tasks: a probe is trained to find the property, and a similarity weighs
it against everything else that the vectors contain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sentprobe.core.formatting import ABSENT, POINTS
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.report.score_table import score_text
from sentprobe.report.types import CellSummary, Column, SetSummary, Summary
from sentprobe.report.verdict import mark_of, verdict_of
from sentprobe.results.run_kinds.pairs import SIMILARITIES

TRIPLETS = "triplets"
"""The task of sets of triplets."""
TASKS_OF_KINDS: Mapping[str, Sequence[str]] = {
    "order": ("bigram_shift", "word_order", "coordination_inversion"),
    "tense": ("past_present",),
    "number": ("subj_number", "obj_number"),
    "voice": ("passive",),
}
"""Probing tasks of the property that a kind of contrast changes. A task with the name of the kind is one, too."""
READINGS = {
    (True, True): "contained and used",
    (True, False): "contained, not used",
    (False, True): "used, not shown by the probe",
    (False, False): "neither shown",
}
CHANCE = 0.5
PREFERS_CONTRAST = "contained; contrast nearer"
TITLE = "What the vectors contain and what similarity uses"
NOTE = (
    "contained: a probe on the probing set is significantly better than its best baseline. used: the positive is "
    "nearer in significantly more triplets than by the best baseline of the texts, chance included. Rows and tasks of "
    "the two differ: each score is compared with its own baseline."
)


class PropertyUse(NamedTuple):
    """One property in the vectors of one encoder, and in their similarity."""

    kind: str
    """Of the contrasts."""
    contained_set: int
    """The number of the probing set in the summary."""
    used_set: int
    contained_column: int
    """The number of the column of the probe."""
    used_column: int
    contained: CellSummary
    used: CellSummary

    @property
    def reading(self) -> str:
        """What the two say together."""
        is_contained, is_used = (verdict_of(cell) == "above" for cell in (self.contained, self.used))
        if is_contained and self.used.score.high is not None and self.used.score.high < CHANCE:
            return PREFERS_CONTRAST
        return READINGS[is_contained, is_used]


def property_uses(summary: Summary) -> list[PropertyUse]:
    """Every property that a run has a probing set and triplets of, for every encoder with both."""
    return [use for i, s in enumerate(summary.sets) if s.task == TRIPLETS for use in _uses_of(summary, i, s)]


def _uses_of(summary: Summary, used_set: int, s: SetSummary) -> Iterator[PropertyUse]:
    kind = kind_of(s)
    tasks = {kind, *TASKS_OF_KINDS.get(kind, ())}
    for j, probed in enumerate(summary.sets):
        names = {probed.task, probed.name.rpartition("/")[2]}
        if probed.task == TRIPLETS or names.isdisjoint(tasks) or not _same_language(s, probed):
            continue
        for k, column in enumerate(summary.columns):
            contained = probed.cells[k]
            if contained is None or column.probe in SIMILARITIES:
                continue
            for m, candidate in enumerate(summary.columns):
                used = s.cells[m]
                if used is not None and _same_encoder(column, candidate) and candidate.probe in SIMILARITIES:
                    yield PropertyUse(kind, j, used_set, k, m, contained, used)


def kind_of(s: SetSummary) -> str:
    """The kind of the contrasts of a set: the last part of its name."""
    return s.name.rpartition("/")[2]


def _same_language(first: SetSummary, second: SetSummary) -> bool:
    """Whether two sets are in one language, as far as that is known."""
    return first.language is None or second.language is None or first.language == second.language


def _same_encoder(first: Column, second: Column) -> bool:
    return (first.encoder, first.identity) == (second.encoder, second.identity)


def used_tables(summary: Summary) -> Iterator[Table]:
    """A row per property and encoder; nothing without both sides."""
    uses = property_uses(summary)
    if not uses:
        return
    sets, columns = summary.sets, summary.columns
    similarities = [columns[use.used_column].probe for use in uses]
    yield Table(
        [
            TableColumn(["property"], [_property(summary, use) for use in uses], "left"),
            TableColumn(["encoder"], [columns[use.used_column].label[0] for use in uses], "left"),
            *([TableColumn(["similarity"], similarities, "left")] if len(set(similarities)) > 1 else []),
            TableColumn(["contained"], [_score(sets[use.contained_set], use.contained) for use in uses]),
            TableColumn(["best baseline"], [_baseline(use.contained) for use in uses]),
            TableColumn(["used"], [_score(sets[use.used_set], use.used) for use in uses]),
            TableColumn(["best baseline"], [_baseline(use.used) for use in uses]),
            TableColumn(["reading"], [use.reading for use in uses], "left"),
        ],
        TITLE,
        notes=[NOTE],
    )


def _property(summary: Summary, use: PropertyUse) -> str:
    """The kind of contrast, and the task of the probing set where that is called otherwise."""
    task = summary.sets[use.contained_set].task
    return use.kind if task == use.kind else f"{use.kind} ({task})"


def _score(s: SetSummary, cell: CellSummary) -> CellText:
    return score_text(cell, s.scored_by)._replace(mark=mark_of(cell), note="", best=False)


def _baseline(cell: CellSummary) -> CellText:
    if cell.against is None:
        return CellText(ABSENT)
    return CellText(POINTS.number(cell.against.value), note=cell.against.baseline)
