"""What a score shows: one verdict per set and encoder, from baselines, controls and measures.

In this order, the first that applies; intervals are those of the table, and nothing is tested anew:

    leak         a control that can only be at chance is far above the majority: no score of the set can be trusted
    chance       the interval of the score reaches down to the majority, and the score is not above the best baseline
    below        the score is significantly below that of the best baseline, or untested and far below
    baseline,    the score is no higher than that of the best baseline: a baseline that reads words or counts
    words,       them explains it
    length
    few          the score is higher than the best baseline, but not significantly, and a difference of
                 ``MIN_DETECTABLE`` would have been missed; or at chance with an interval of more than
                 ``MAX_HALF_WIDTH`` points: more test rows might tell
    baseline     the score is higher than the best baseline, but not significantly, and such a difference would have
                 been found
    untested     there is no baseline, or no test
    words, length, memorised, untrained
                 the score is significantly above the best baseline, but a control or measure objects: see
                 ``objection`` of each in ``sentprobe.run``
    holds        significantly above the best baseline, and no control or measure that was run objects
    above        significantly above the best baseline, and none was run that could object

That no control objects does not prove that an encoder uses what it encodes. A control objects when it cannot be ruled
out at the level of intervals; controls are not adjusted for their number, which makes *holds* harder, not easier, to
reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sentprobe.core.formatting import POINTS
from sentprobe.report.types import BaselineComparison, Cell, Column, Meaning, MeaningKind, SetSummary
from sentprobe.report.variant_results import part_of
from sentprobe.results.result import RIGHT_OR_WRONG
from sentprobe.run.variant import Objection, PlainScore, VariantSummary
from sentprobe.stats import level as levels

MAX_HALF_WIDTH = 0.1
"""With a wider interval, a score at chance says little."""
MIN_DETECTABLE = 0.05
"""A comparison that would miss a larger difference than this has too few rows."""
BASELINE_KINDS: Mapping[str, MeaningKind] = {
    "length": "length", "nb-uni": "words", "nb-bi": "words", "baseline:hash": "words", "majority": "chance",
    "baseline:random": "chance",
}  # fmt: skip
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
    "above": "significantly above the best baseline; no control or measure that could object was run",
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


def meanings(own: SetSummary, columns: Sequence[Column], baselines: Sequence[Column]) -> tuple[Meaning | None, ...]:
    """What the score of each column on a set shows; None where there is none, or it is not an accuracy of a probe."""
    if own.scored_by not in RIGHT_OR_WRONG:
        return (None,) * len(columns)
    found = []
    for i, (column, cell) in enumerate(zip(columns, own.cells, strict=True)):
        majority = next(
            (
                other.accuracy
                for base, other in zip(baselines, own.baselines, strict=True)
                if other is not None and base.encoder == "majority" and _sample(base) == _sample(column)
            ),
            None,
        )
        found.append(None if cell is None else _meaning(cell, own.variants[i] if own.variants else (), majority))
    return tuple(found)


def _sample(column: Column) -> tuple[int | None, str]:
    return column.limit, column.sentprobe


def _meaning(cell: Cell, variants: Sequence[VariantSummary], majority: float | None) -> Meaning:
    objections = sorted(_objections(cell, variants, majority), key=lambda each: PRECEDENCE.index(each.explanation))
    if objections and objections[0].explanation == "leak":
        return Meaning("leak", objections[0].reason)
    against, score = cell.against, _score(cell)
    wide = cell.low is not None and cell.high is not None and cell.high - cell.low > 2 * MAX_HALF_WIDTH
    at_chance = majority is not None and cell.low is not None and cell.low <= majority
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
    asked = any(getattr(part_of(v.of), "objection", None) is not None for v in variants)
    return Meaning(
        "holds" if asked else "above", f"{POINTS.number(cell.accuracy - against.value, sign=True)} to {than}"
    )


def _is_far_below(cell: Cell, against: BaselineComparison) -> bool:
    """Whether a score is significantly below the baseline, or without a test by a difference that counts."""
    return against.value - cell.accuracy > MIN_DETECTABLE if against.p is None else against.p <= levels.ALPHA


def _would_miss(cell: Cell, against: BaselineComparison) -> bool:
    """Whether a difference that counts may have been missed; without a detectable one, by the interval."""
    if against.detectable is not None:
        return against.detectable > MIN_DETECTABLE
    return cell.low is None or cell.high is None or cell.high - cell.low > 2 * MIN_DETECTABLE


def _objections(cell: Cell, variants: Sequence[VariantSummary], majority: float | None) -> Iterator[Objection]:
    if cell.low is None or cell.high is None:
        return
    plain = PlainScore(value=cell.accuracy, low=cell.low, high=cell.high, majority=majority)
    for variant in variants:
        part = part_of(variant.of)
        if part is not None and part.objection is not None and (found := part.objection(variant, plain)) is not None:
            yield found


def _score(cell: Cell) -> str:
    return " ".join(filter(None, (POINTS.number(cell.accuracy), POINTS.half_width(cell.low, cell.high))))
