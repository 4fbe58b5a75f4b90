"""A methodological check of a report, and the results in a summary as checks read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, NamedTuple

from sentprobe.core.plugins import part_repr
from sentprobe.report.types import CellSummary, CheckResult, Column, SetSummary, Summary
from sentprobe.results.metric import metric_named
from sentprobe.stats import holm
from sentprobe.stats import level as levels

Level = Literal["issue", "tip", "passed"]
MAX_PLACES = 50
"""Places that a finding lists."""


@dataclass(frozen=True)
class CheckFinding:
    """What a check found: an issue or a tip, with the places that it is about, or that the run passed."""

    level: Level
    title: str
    text: str
    where: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Check:
    """One methodological check: one object, from which the report and docs/report-checks.md are made.

    Parameters
    ----------
    name
        Its code, such as ``few-rows``.
    find
        A function of the summary; None where the check does not apply to the run.
    advice
        What to do about a finding, in a sentence that the page shows; code is between backticks.
    doc
        What is checked and when it is an issue or a tip, in Markdown: its section in docs/report-checks.md.
    docs
        A link to that section; for checks of other packages, a URL of their own, or nothing.
    order
        Findings of one level are shown in this order.

    Examples
    --------
    >>> from sentprobe.report.checks import CHECKS
    >>> CHECKS.get("partial").advice
    'Run the command again without `--limit`.'
    """

    name: str
    find: Callable[[Summary], CheckFinding | None]
    advice: str
    doc: str = ""
    docs: str = ""
    order: int = 1000

    __repr__ = part_repr

    def __call__(self, summary: Summary) -> CheckResult | None:
        """What the check found in a run, for the summary."""
        finding = self.find(summary)
        if finding is None:
            return None
        return CheckResult(
            code=self.name,
            level=finding.level,
            title=finding.title,
            text=finding.text,
            where=tuple(finding.where[:MAX_PLACES]),
            docs=self.docs or f"report-checks.md#{self.name}" * bool(self.doc),
        )


# Results


MARGIN = 0.03
"""A notable difference: Conneau et al. (2018, appendix) point out gains of an MLP above 3 points."""


class ScoredCell(NamedTuple):
    """A cell that has a result, with its set and column."""

    set: int
    set_summary: SetSummary
    column: Column
    cell: CellSummary
    baselines: Mapping[str, CellSummary]
    """The baselines on the same rows that have a result, by name."""

    @property
    def name(self) -> str:
        """Which column, and which set."""
        return f"{self.column.name} on {self.set_summary.label}"

    @property
    def sample(self) -> tuple[int, int | None, str]:
        """Cells with the same sample were tested on the same rows."""
        return self.set, *self.column.sample

    @property
    def low(self) -> float:
        """The lower end of the interval of the accuracy; the accuracy itself where that is a fact."""
        return self.cell.accuracy if self.cell.low is None else self.cell.low

    @property
    def right_or_wrong(self) -> bool:
        """Whether the score is the share of rows that are right."""
        return metric_named(self.set_summary.scored_by).right_or_wrong

    @property
    def predicts_classes(self) -> bool:
        """Whether classes are predicted, so that the cell has an accuracy."""
        return metric_named(self.set_summary.scored_by).predicts == "classes"


def scored_cells(summary: Summary) -> Iterator[ScoredCell]:
    """Every result of an encoder, set by set."""
    for i, set_summary in enumerate(summary.sets):
        for column, cell in zip(summary.columns, set_summary.cells, strict=True):
            if cell:
                yield ScoredCell(i, set_summary, column, cell, _baselines(summary, set_summary, column))


def _baselines(summary: Summary, set_summary: SetSummary, column: Column) -> dict[str, CellSummary]:
    return {
        baseline.encoder: cell
        for baseline, cell in zip(summary.baselines, set_summary.baselines, strict=True)
        if cell and baseline.sample == column.sample
    }


def comparable(summary: Summary) -> list[list[ScoredCell]]:
    """Results on the same rows of sets whose rows are right or wrong, the best first."""
    groups: dict[tuple[int, int | None, str], list[ScoredCell]] = {}
    for scored_cell in scored_cells(summary):
        if scored_cell.right_or_wrong:
            groups.setdefault(scored_cell.sample, []).append(scored_cell)
    return [sorted(group, key=lambda n: -n.cell.accuracy) for group in groups.values()]


def differs_significantly(
    cells: Sequence[CellSummary], bounds: Sequence[float], scale: Sequence[float] = ()
) -> list[bool]:
    """Whether each accuracy differs from its bound, adjusted by Holm over all of them.

    The error is that side of the interval that faces the bound, times ``scale`` where the bound has an error of
    its own.
    """
    p = []
    for cell, bound, times in zip(cells, bounds, scale or [1.0] * len(cells), strict=True):
        off = cell.accuracy - bound
        low, high = cell.accuracy if cell.low is None else cell.low, cell.accuracy if cell.high is None else cell.high
        half = times * (cell.accuracy - low if off > 0 else high - cell.accuracy)
        if half > 0:
            p.append(2 * NormalDist().cdf(-levels.standard_errors() * abs(off) / half))
        else:
            p.append(0.0 if off else 1.0)
    return [bool(value <= levels.ALPHA) for value in holm(p)]
