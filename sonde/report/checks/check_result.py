"""What a check gives, and the numbers of a summary as checks read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypedDict

from sonde.report.summary import done
from sonde.stats import holm
from sonde.stats.intervals import Z

Level = Literal["issue", "tip", "passed"]
Summary = Mapping[str, Any]
MAX_PLACES = 50
"""Places that an entry names."""
ALPHA = 0.05
MARGIN = 0.03
"""A difference worth a word: Conneau et al. (2018, appendix) point out gains of a network above 3 points."""


class CheckResult(TypedDict):
    """A check's answer, as plain data."""

    code: str
    level: Level
    title: str
    text: str
    where: list[str]
    docs: str


def check_result(code: str, level: Level, title: str, text: str, where: Sequence[str] = ()) -> CheckResult:
    """An answer, with the place where it is explained."""
    return CheckResult(
        code=code, level=level, title=title, text=text, where=list(where[:MAX_PLACES]), docs=f"report-checks.md#{code}"
    )


class ScoredCell(NamedTuple):
    """A cell that has a result, and what is known of its place."""

    set: int
    set_summary: Mapping[str, Any]
    column: Mapping[str, Any]
    cell: Mapping[str, Any]
    baselines: Mapping[str, Mapping[str, Any]]
    """The baselines on the same rows that have a result, by name."""

    @property
    def name(self) -> str:
        """Which column, and which set."""
        return f"{', '.join(self.column['label'])} on {self.set_summary['label']}"

    @property
    def sample(self) -> tuple[int, int | None, str]:
        """Numbers with the same were found on the same rows."""
        return self.set, self.column["limit"], self.column["sonde"]


def scored_cells(summary: Summary) -> Iterator[ScoredCell]:
    """Every result of an encoder, set by set."""
    for i, set_summary in enumerate(summary["sets"]):
        for column, cell in zip(summary["columns"], set_summary["cells"], strict=True):
            if done(cell):
                yield ScoredCell(i, set_summary, column, cell, _baselines(summary, set_summary, column))


def _baselines(
    summary: Summary, set_summary: Mapping[str, Any], column: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    return {
        other["encoder"]: cell
        for other, cell in zip(summary["baselines"], set_summary["baselines"], strict=True)
        if done(cell) and (other["limit"], other["sonde"]) == (column["limit"], column["sonde"])
    }


def groups(summary: Summary) -> list[list[ScoredCell]]:
    """Numbers on the same rows of sets that are scored by accuracy, the best first."""
    found: dict[tuple[int, int | None, str], list[ScoredCell]] = {}
    for number in scored_cells(summary):
        if number.set_summary["scored_by"] == "accuracy":
            found.setdefault(number.sample, []).append(number)
    return [sorted(group, key=lambda n: -n.cell["accuracy"]) for group in found.values()]


def differs_significantly(
    cells: Sequence[Mapping[str, Any]], bounds: Sequence[float], scale: Sequence[float] = ()
) -> list[bool]:
    """Whether each accuracy differs from its bound, adjusted by Holm over all of them.

    The error is taken from the side of the 95 % interval that faces the bound, and times ``scale`` where the bound has
    one of its own.
    """
    p = []
    for cell, bound, times in zip(cells, bounds, scale or [1.0] * len(cells), strict=True):
        off = cell["accuracy"] - bound
        half = times * (cell["accuracy"] - cell["low"] if off > 0 else cell["high"] - cell["accuracy"])
        if half > 0:
            p.append(2 * NormalDist().cdf(-Z * abs(off) / half))
        else:
            p.append(0.0 if off else 1.0)
    return [bool(value <= ALPHA) for value in holm(p)]


def points(share: float) -> str:
    """A share of one as it is written in a sentence."""
    return f"{100 * share:.1f}"
