"""How a score compares with the best baseline on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sentprobe.errors import SentProbeError
from sentprobe.report.types import BaselineComparison, CellSummary, SetSummary, Summary, Verdict
from sentprobe.results.inference import detectable_by, row_clusters, system_p, systems_of
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.scores import score_difference
from sentprobe.stats import holm
from sentprobe.stats import level as levels

MARK = "†"
BOLD_NOTE = (
    "Bold: the best of a set and what is not significantly different from it, if significantly better than the best "
    "baseline."
)
FILLED_NOTE = (
    "A filled dot is not significantly different from the best of its set, and significantly better than the best "
    "baseline."
)
NOT_SIGNIFICANT = "not significantly better than the best baseline"
"""What the mark means, where there is little room."""
MARK_NOTE = (
    f"{MARK} {NOT_SIGNIFICANT} on the same rows (paired test, as sentprobe compare makes it; Holm over all encoders "
    "and sets, {alpha}; intervals are not adjusted)."
)

PREDICTIONS_MARK_NOTE = (
    f"{MARK} {NOT_SIGNIFICANT} on the same rows (paired test of the trained probes, which swaps the predictions of the "
    "two at random; Holm over all encoders and sets, {alpha}; intervals are not adjusted)."
)


@dataclass(frozen=True)
class Scored:
    """An encoder or a baseline on one set: its score, and the results of its seeds."""

    name: str
    value: float
    results: Sequence[Result]


def compare_with_baseline(
    run: Run, numbers: Sequence[Scored], baselines: Sequence[Scored], metric: str, notes: list[str]
) -> list[BaselineComparison | None]:
    """How each number compares with the best baseline on the same rows of one set; all None if there is no baseline.

    p-values are not adjusted yet: ``adjust_over_sets`` does that with all sets.
    """
    part = metric_named(metric)
    # the best of several is partly luck on a small set: the bar is a little too high there
    best = (max if part.higher_is_better else min)(baselines, key=lambda scored: scored.value, default=None)
    if best is None or not part.compared:
        return [None] * len(numbers)
    tests = [None if not part.has_paired_test else _test(run, scored, best, metric, notes) for scored in numbers]
    return [
        BaselineComparison(
            best.name,
            best.value,
            _verdict(part.gain(scored.value, best.value), None if test is None else test.p),
            None if test is None else test.p,
            0 if test is None else 1,
            None if test is None else test.detectable,
        )
        for scored, test in zip(numbers, tests, strict=True)
    ]


def adjust_over_sets(sets: Sequence[SetSummary]) -> list[SetSummary]:
    """Sets whose comparisons with baselines are adjusted by Holm over all encoders and sets.

    The sentence that sums up a run makes all of these claims at once, and † repeats them one by one.
    """
    cells = [cell for s in sets for cell in s.cells if cell is not None]
    p_values = [against.p for cell in cells for against in _tested(cell) if against.p is not None]
    adjusted = iter(holm(p_values).tolist())

    def with_p(against: BaselineComparison | None) -> BaselineComparison | None:
        if against is None or against.p is None:
            return against
        p = next(adjusted)
        verdict = "not_significant" if against.verdict == "above" and p > levels.ALPHA else against.verdict
        return replace(against, p=p, tests=len(p_values), verdict=verdict)

    def of_cell(cell: CellSummary | None) -> CellSummary | None:
        if cell is None:
            return None
        cell = replace(cell, against=with_p(cell.against))
        by_class = cell.balanced
        return cell if by_class is None else replace(cell, balanced=replace(by_class, against=with_p(by_class.against)))

    return [replace(s, cells=tuple(map(of_cell, s.cells))) for s in sets]


def _tested(cell: CellSummary) -> list[BaselineComparison]:
    """The comparisons of a cell: by its metric, and by balanced accuracy where a class is rare."""
    comparisons = (cell.against, None if cell.balanced is None else cell.balanced.against)
    return [against for against in comparisons if against is not None]


def _verdict(gain: float, p: float | None) -> Verdict:
    if gain <= 0:  # whatever its p-value: what is not higher cannot be significantly better
        return "below"
    if p is None:
        return "untested"
    return "above" if p <= levels.ALPHA else "not_significant"


@dataclass(frozen=True)
class PairedTest:
    """A paired test of two systems."""

    p: float
    """Two-sided."""
    detectable: float | None
    """Of accuracies, unless there is no variance: the difference that is detected four times out of five."""


def _test(run: Run, scored: Scored, baseline: Scored, metric: str, notes: list[str]) -> PairedTest | None:
    try:
        return paired_test(run, scored.results, baseline.results, metric)
    except SentProbeError as e:
        notes.append(
            f"{scored.name} could not be compared with {baseline.name} on {scored.results[0].cell.dataset}: {e}"
        )
        return None


def paired_test(
    run: Run, first: Sequence[Result], second: Sequence[Result], metric: str = DEFAULT_METRIC
) -> PairedTest:
    """Test two systems on the same test rows, each with the results of its seeds."""
    part = metric_named(metric)
    if part.right_or_wrong:
        sides = systems_of(run, (first, second), row_clusters(run, first[0]))
        apart = sides.difference(0, 1)
        return PairedTest(system_p(sides, 0, 1), detectable_by(apart) if apart.variance > 0 else None)
    return PairedTest(score_difference(run, first, second, part).p, None)


# What is shown of it


def verdict_of(cell: CellSummary | None) -> Verdict | None:
    """How a cell compares with the best baseline; None where there is no number, or no baseline."""
    return cell.against.verdict if cell is not None and cell.against is not None else None


def is_significant(cell: CellSummary | None) -> bool:
    """Whether a cell differs from the best baseline, in either direction."""
    return (
        cell is not None and cell.against is not None and cell.against.p is not None and cell.against.p <= levels.ALPHA
    )


def mark_of(cell: CellSummary | None) -> str:
    """The mark of a number that is not significantly better than the best baseline."""
    return MARK if verdict_of(cell) in ("not_significant", "below") else ""


def is_best_of(cell: CellSummary | None, block: Sequence[CellSummary], *, higher_is_better: bool) -> bool:
    """Whether a number is bold in a block: not significantly different from its best, and above the best baseline."""
    scored = [rival for rival in block if rival.score.value is not None]
    if cell is None or cell.score.value is None or verdict_of(cell) != "above" or len(scored) < 2:
        return False
    top = (max if higher_is_better else min)(scored, key=lambda rival: rival.score.value or 0.0)
    return cell is top or not set(cell.letters or "").isdisjoint(top.letters or "")


def footnotes(summary: Summary) -> Iterator[str]:
    """What bold and the mark mean, if they occur in a table."""
    cells = [cell for s in summary.sets for cell in s.cells if cell is not None]
    if any(cell.best for cell in cells):
        yield BOLD_NOTE
    if any(map(mark_of, cells)):
        yield mark_note(summary)


def mark_note(summary: Summary) -> str:
    """What the mark means, in a sentence for each kind of test."""
    if summary.kind.mark_note:
        return levels.with_levels(summary.kind.mark_note)
    marked = {s.scored_by for s in summary.sets if any(map(mark_of, s.cells))}
    notes = dict.fromkeys(_mark_note(name, requested=not summary.by_set_metric) for name in sorted(marked))
    return " ".join(map(levels.with_levels, notes or [MARK_NOTE]))


def _mark_note(name: str, *, requested: bool) -> str:
    metric = metric_named(name)
    if metric.has_paired_test and not metric.right_or_wrong:
        return PREDICTIONS_MARK_NOTE
    if requested and not metric.has_paired_test:
        return f"{MARK} no better than the best baseline on the same rows; there is no paired test of {metric.title}."
    return MARK_NOTE
