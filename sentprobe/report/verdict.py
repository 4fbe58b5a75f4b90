"""How a score compares with the best baseline, and what it shows, by baselines, controls and measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sentprobe.core.formatting import POINTS
from sentprobe.errors import SentProbeError
from sentprobe.report.cells import estimate_of, value_of
from sentprobe.report.types import (
    BaselineComparison,
    CellSummary,
    Column,
    Meaning,
    MeaningKind,
    SetSummary,
    Summary,
    Verdict,
)
from sentprobe.report.variants import part_of
from sentprobe.results.inference import detectable_by, row_clusters, system_p, systems_of
from sentprobe.results.metric import DEFAULT_METRIC, metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.scores import score_difference
from sentprobe.run.variant import Objection, PlainScore, VariantSummary
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
    f"{MARK} {NOT_SIGNIFICANT} on the same rows (paired test, as sentprobe compare makes it; Holm over the encoders of "
    "a set, {alpha})."
)

PREDICTIONS_MARK_NOTE = (
    f"{MARK} {NOT_SIGNIFICANT} on the same rows (paired test of the trained probes, which swaps the predictions of the "
    "two at random; Holm over the encoders of a set, {alpha})."
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
    """How each number compares with the best baseline on the same rows of one set; all None if there is no baseline."""
    part = metric_named(metric)
    # the best of several is partly luck on a small set: the bar is a little too high there
    best = (max if part.higher_is_better else min)(baselines, key=lambda scored: scored.value, default=None)
    if best is None or not part.compared:
        return [None] * len(numbers)
    tests = [None if not part.has_paired_test else _test(run, scored, best, metric, notes) for scored in numbers]
    tested = [i for i, test in enumerate(tests) if test is not None]
    # over the encoders of one set, as tables are read row by row; `many-comparisons` warns about many sets
    p_values = [test.p for test in tests if test is not None]
    adjusted = dict(zip(tested, holm(p_values).tolist(), strict=True)) if tested else {}
    return [
        BaselineComparison(
            best.name,
            best.value,
            _verdict(part.gain(scored.value, best.value), adjusted.get(i)),
            adjusted.get(i),
            len(tested),
            None if test is None else test.detectable,
        )
        for i, (scored, test) in enumerate(zip(numbers, tests, strict=True))
    ]


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


# What a score shows


MAX_HALF_WIDTH = 0.1
"""With a wider interval, a score at chance says little."""
MIN_DETECTABLE = 0.05
"""A comparison that would miss a larger difference than this has too few rows."""
BASELINE_KINDS: Mapping[str, MeaningKind] = {
    "length": "length",
    "nb-uni": "words",
    "nb-bi": "words",
    "baseline:hash": "words",
    "overlap": "words",
    "tf-idf": "words",
    "majority": "chance",
    "chance": "chance",
    "baseline:random": "chance",
}
"""What it means that a baseline is as good."""
MEANINGS: Mapping[MeaningKind, tuple[str, str]] = {
    "holds": ("✓", "holds"),
    "above": ("✓", "above baselines"),
    "words": ("≈", "explained by words"),
    "length": ("≈", "explained by length"),
    "baseline": ("≈", "no better than the baseline"),
    "below": ("▽", "below the baseline"),
    "memorised": ("✎", "memorised"),
    "untrained": ("◇", "untrained does as well"),
    "leak": ("!", "labels leak"),
    "chance": ("○", "at chance"),
    "few": ("?", "too few rows"),
    "untested": ("–", "not tested"),
}
"""A mark and a few words for each verdict."""
DEFINITIONS: Mapping[MeaningKind, str] = {
    "holds": "significantly above the best baseline, and no control or measure that was run explains it otherwise",
    "above": "significantly above the best baseline; no control or measure that could explain it otherwise was run",
    "words": "no better than a baseline that reads words alone, or a control or measure says that words are enough",
    "length": "no better than the length alone, or a control or measure says that length is enough",
    "baseline": "not significantly above the best baseline, with enough test rows to detect "
    f"{100 * MIN_DETECTABLE:g} points; or no higher than it",
    "below": "significantly worse than the best baseline, or untested and more than "
    f"{100 * MIN_DETECTABLE:g} points worse",
    "memorised": "above the best baseline, but random labels of the same words are learned as well",
    "untrained": "above the best baseline, but no better than the same architecture with random weights",
    "leak": "a control that can only be at chance is far above it: do not trust any score of this set",
    "chance": "not distinguishable from the most frequent label",
    "few": f"not significant, but with these test rows a difference of {100 * MIN_DETECTABLE:g} points would have been "
    f"missed, or the interval at chance is wider than ±{100 * MAX_HALF_WIDTH:g} points",
    "untested": "there is no baseline on the same rows, or no test",
}
"""What each verdict means, in a clause."""
PRECEDENCE = ("leak", "words", "length", "memorised", "untrained")
"""Which objection is shown if there are several."""


def meanings(s: SetSummary, columns: Sequence[Column], baselines: Sequence[Column]) -> tuple[Meaning | None, ...]:
    """What the score of each column on a set shows; None where there is none, or it is not an accuracy of a probe."""
    metric = metric_named(s.scored_by)
    if not metric.has_paired_test or not metric.higher_is_better or metric.unit != "points":
        return (None,) * len(columns)
    column_meanings = []
    for i, (column, cell) in enumerate(zip(columns, s.cells, strict=True)):
        majority = next(
            (
                value_of(baseline_cell)
                for baseline, baseline_cell in zip(baselines, s.baselines, strict=True)
                if baseline_cell is not None and baseline.encoder == "majority" and baseline.sample == column.sample
            ),
            None,
        )
        # controls and measures are scored by accuracy
        variants = s.variants[i] if s.variants and metric.right_or_wrong else ()
        # a correlation says something about an encoder next to that of a baseline only
        unsaid = cell is None or value_of(cell) is None or (metric.family == "correlation" and cell.against is None)
        column_meanings.append(None if cell is None or unsaid else _meaning(cell, variants, majority))
    return tuple(column_meanings)


def _meaning(cell: CellSummary, variants: Sequence[VariantSummary], majority: float | None) -> Meaning:
    objections = sorted(
        _objections(cell, variants, majority), key=lambda objection: PRECEDENCE.index(objection.explanation)
    )
    # before anything else: with a leak, no other comparison on this set means what it seems to
    if objections and objections[0].explanation == "leak":
        return Meaning("leak", objections[0].reason)
    against, score = cell.against, _score(cell)
    value, low, high = cell.score.value or 0.0, cell.score.low, cell.score.high
    wide = low is not None and high is not None and high - low > 2 * MAX_HALF_WIDTH
    at_chance = majority is not None and low is not None and low <= majority
    if at_chance and (against is None or against.verdict != "above"):
        return Meaning("few" if wide else "chance", f"{score}, majority {POINTS.number(majority or 0)}")
    if against is None:
        return Meaning("untested", "no baseline on the same rows")
    than = f"{against.baseline} {POINTS.number(against.value)}"
    if against.verdict == "below" and _is_far_below(cell, against):
        return Meaning("below", f"{score}, {than}")
    if against.verdict == "below":
        return Meaning(BASELINE_KINDS.get(against.baseline, "baseline"), than)
    if against.verdict == "untested":
        return Meaning("untested", than)
    if against.verdict == "not_significant":
        return Meaning("few" if _would_miss(cell, against) else "baseline", f"{score}, {than}")
    if objections:
        return Meaning(objections[0].explanation, objections[0].reason)
    could_object = any(getattr(part_of(v.of), "objection", None) is not None for v in variants)
    return Meaning("holds" if could_object else "above", f"{POINTS.number(value - against.value, sign=True)} to {than}")


def _is_far_below(cell: CellSummary, against: BaselineComparison) -> bool:
    """Whether a score is significantly below the baseline, or without a test by a difference that counts."""
    if against.p is not None:
        return against.p <= levels.ALPHA
    return against.value - (cell.score.value or 0.0) > MIN_DETECTABLE


def _would_miss(cell: CellSummary, against: BaselineComparison) -> bool:
    """Whether a difference that counts may have been missed; without a detectable one, by the interval."""
    if against.detectable is not None:
        return against.detectable > MIN_DETECTABLE
    low, high = cell.score.low, cell.score.high
    return low is None or high is None or high - low > 2 * MIN_DETECTABLE


def _objections(cell: CellSummary, variants: Sequence[VariantSummary], majority: float | None) -> Iterator[Objection]:
    value, low, high = estimate_of(cell)
    if value is None or low is None or high is None:
        return
    plain = PlainScore(value=value, low=low, high=high, majority=majority)
    for variant in variants:
        part = part_of(variant.of)
        if (
            part is not None
            and part.objection is not None
            and (objection := part.objection(variant, plain)) is not None
        ):
            yield objection


def _score(cell: CellSummary) -> str:
    value, low, high = estimate_of(cell)
    return " ".join(filter(None, (POINTS.number(value), POINTS.half_width(low, high))))
