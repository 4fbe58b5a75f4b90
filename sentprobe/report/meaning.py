"""What a score shows, by baselines, controls and measures: one verdict for every score.

A verdict is the first that applies, as in docs/reading.md. Three kinds of evidence decide: what says that a score
cannot be trusted (a broken encoder, labels that leak, texts in train and test), how the score compares with chance and
with the best baseline, and what controls and measures say. Sets with a rare class are judged by balanced accuracy, by
which a constant answer has no advantage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sentprobe.core.formatting import BITS, POINTS
from sentprobe.errors import SentProbeError
from sentprobe.probes import parse
from sentprobe.report.cells import estimate_of, value_of
from sentprobe.report.types import BaselineComparison, CellSummary, Column, Meaning, MeaningKind, SetSummary
from sentprobe.report.variants import part_of
from sentprobe.results.metric import metric_named
from sentprobe.run.measure import Measure
from sentprobe.run.variant import Objection, PlainScore, Support, VariantSummary
from sentprobe.stats import level as levels

MAX_HALF_WIDTH = 0.1
"""With a wider interval, a score at chance says little."""
MIN_DETECTABLE = 0.05
"""A comparison that would miss a larger difference than this has too few rows; and a share of test rows that are also
in train that could make such a difference is too large."""
SATURATED = 0.99
"""Where both a score and the best baseline are at least this high, there is nothing left to tell them apart by."""
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
    "nonlinear": ("∿", "not linearly readable"),
    "bits": ("◐", "in the probabilities only"),
    "words": ("≈", "explained by words"),
    "length": ("≈", "explained by length"),
    "baseline": ("≈", "no better than the baseline"),
    "saturated": ("=", "set too easy"),
    "below": ("▽", "below the baseline"),
    "memorised": ("✎", "memorised"),
    "untrained": ("◇", "untrained does as well"),
    "broken": ("!", "broken encoder"),
    "leak": ("!", "labels leak"),
    "shared": ("!", "test texts in train"),
    "chance": ("○", "at chance"),
    "few": ("?", "too few rows"),
    "untested": ("–", "not tested"),
}
"""A mark and a few words for each verdict."""
DEFINITIONS: Mapping[MeaningKind, str] = {
    "holds": "significantly above the best baseline, and no control or measure that was run explains it otherwise",
    "above": "significantly above the best baseline; no control or measure that could explain it otherwise was run",
    "nonlinear": "a linear probe is at chance, but one with a hidden layer is above the best baseline",
    "bits": "predicted labels are at chance, but their probabilities tell something about the labels: bits above 0 by "
    "more than twice their interval",
    "words": "no better than a baseline that reads words alone, or a control or measure says that words are enough",
    "length": "no better than the length alone, or a control or measure says that length is enough",
    "baseline": "not significantly above the best baseline, with enough test rows to detect "
    f"{100 * MIN_DETECTABLE:g} points; or no higher than it",
    "saturated": f"score and best baseline are at least {100 * SATURATED:g}: this set cannot tell encoders apart",
    "below": "significantly worse than the best baseline, or untested and more than "
    f"{100 * MIN_DETECTABLE:g} points worse",
    "memorised": "above the best baseline, but random labels of the same words are learned as well",
    "untrained": "above the best baseline, but no better than the same architecture with random weights",
    "broken": "the encoder is broken: its scores say nothing about what it captures",
    "leak": "a control that can only be at chance is far above it: do not trust any score of this set",
    "shared": "so many test texts are also in train that no score of this set can be trusted",
    "chance": "not distinguishable from the most frequent label",
    "few": f"not significant, but with these test rows a difference of {100 * MIN_DETECTABLE:g} points would have been "
    f"missed, or the interval at chance is wider than ±{100 * MAX_HALF_WIDTH:g} points",
    "untested": "there is no baseline on the same rows, or no test",
}
"""What each verdict means, in a clause."""
PRECEDENCE = ("leak", "words", "length", "memorised", "untrained")
"""Which objection is shown if there are several."""
CONTRADICTED = frozenset({"words", "length", "baseline", "below", "memorised", "untrained", "chance", "few"})
"""Verdicts that a measure may speak against."""
COPIES = frozenset({"same-split", "copies-across-splits"})
"""Codes of audit findings about rows that are in two splits."""
_TEST_IN_TRAIN = re.compile(r"([\d,]+) of the ([\d,]+) test rows .* in train")


@dataclass(frozen=True)
class Judged:
    """A score as it is judged: the accuracy, or in sets with a rare class the balanced accuracy."""

    cell: CellSummary
    """With this score, and this comparison with the best baseline."""
    chance: float | None
    """What a constant answer scores; None if it is not known."""
    chance_name: str = "majority"
    prefix: str = ""
    """What is said before the number where it is not the accuracy."""

    @property
    def text(self) -> str:
        """The score with its margin."""
        value, low, high = estimate_of(self.cell)
        return self.prefix + " ".join(filter(None, (POINTS.number(value), POINTS.half_width(low, high))))

    @property
    def at_chance(self) -> bool:
        """Whether the interval reaches down to chance, and no baseline is beaten."""
        low, against = self.cell.score.low, self.cell.against
        reaches = self.chance is not None and low is not None and low <= self.chance
        return reaches and (against is None or against.verdict != "above")

    @property
    def wide(self) -> bool:
        """Whether the interval is so wide that a score at chance says little."""
        _, low, high = estimate_of(self.cell)
        return low is not None and high is not None and high - low > 2 * MAX_HALF_WIDTH


def meanings(
    s: SetSummary, columns: Sequence[Column], baselines: Sequence[Column], broken: Mapping[str, str] | None = None
) -> tuple[Meaning | None, ...]:
    """What the score of each column on a set shows; None where there is none, or it is not an accuracy of a probe.

    ``broken``: what is wrong with encoders whose scores say nothing.
    """
    metric = metric_named(s.scored_by)
    if not metric.has_paired_test or not metric.higher_is_better or metric.unit != "points":
        return (None,) * len(columns)
    networks = _networks(s, columns)
    column_meanings: list[Meaning | None] = []
    for i, (column, cell) in enumerate(zip(columns, s.cells, strict=True)):
        # a correlation says something about an encoder next to that of a baseline only
        unsaid = cell is None or value_of(cell) is None or (metric.family == "correlation" and cell.against is None)
        if cell is None or unsaid:
            column_meanings.append(None)
            continue
        if column.encoder in (broken or {}):
            column_meanings.append(Meaning("broken", (broken or {})[column.encoder]))
            continue
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
        network = networks.get((column.encoder, column.identity, column.sample), "")
        column_meanings.append(_meaning(s, cell, variants, majority, network))
    return tuple(column_meanings)


def _networks(s: SetSummary, columns: Sequence[Column]) -> dict[object, str]:
    """The probe with a hidden layer that is above the best baseline, with its score, by encoder and sample."""
    networks: dict[object, str] = {}
    for column, cell in zip(columns, s.cells, strict=True):
        if cell is None or cell.against is None or cell.against.verdict != "above" or column.probe is None:
            continue
        with suppress(SentProbeError):  # a probe that only a later version knows
            if any(parse(column.probe)[1].of_task(s.task).hidden):
                key = column.encoder, column.identity, column.sample
                networks.setdefault(key, f"{column.probe} has {POINTS.number(cell.score.value)}")
    return networks


def _meaning(
    s: SetSummary, cell: CellSummary, variants: Sequence[VariantSummary], majority: float | None, network: str
) -> Meaning:
    objections = sorted(
        _objections(cell, variants, majority), key=lambda objection: PRECEDENCE.index(objection.explanation)
    )
    # before anything else: with a leak, no other comparison on this set means what it seems to
    if objections and objections[0].explanation == "leak":
        return Meaning("leak", objections[0].reason)
    if shared := _shared_texts(s, cell):
        return Meaning("shared", shared)
    judged = _judged(cell, majority)
    supports = list(_supports(cell, variants, majority))
    meaning = _against_chance(judged, objections, supports, network) or _against_baseline(s, judged, objections)
    if meaning is None:  # significantly above the best baseline, and nothing objects
        against = judged.cell.against
        assert against is not None
        could_object = any(getattr(part_of(v.of), "objection", None) is not None for v in variants)
        gain = POINTS.number((judged.cell.score.value or 0.0) - against.value, sign=True)
        return Meaning("holds" if could_object else "above", f"{judged.prefix}{gain} to {_baseline(against)}")
    if meaning.kind not in CONTRADICTED:
        return meaning
    reasons = [support.reason for support in supports if support.reason not in meaning.reason]
    return Meaning(meaning.kind, meaning.reason, "; ".join(reasons))


def _judged(cell: CellSummary, majority: float | None) -> Judged:
    """The score that counts: the balanced accuracy where a class is rare."""
    if cell.balanced is None:
        return Judged(cell, majority)
    return Judged(judged_cell(cell), cell.balanced.chance, "a constant answer", "balanced ")


def judged_cell(cell: CellSummary) -> CellSummary:
    """The cell with the score and the comparison that it is judged by."""
    balanced = cell.balanced
    return cell if balanced is None else replace(cell, score=balanced.score, against=balanced.against)


def _against_chance(
    judged: Judged, objections: Sequence[Objection], supports: Sequence[Support], network: str
) -> Meaning | None:
    """A verdict for a score at chance; None for any other.

    At chance is what a linear probe finds: a network may read what it cannot, and probabilities may tell what the
    predicted labels do not.
    """
    if not judged.at_chance:
        return None
    against, reason = judged.cell.against, f"{judged.text}, {judged.chance_name} {POINTS.number(judged.chance or 0)}"
    bar = max(judged.chance or 0.0, against.value if against is not None else 0.0)
    for support in supports:
        if support.network is not None and support.network > bar:
            return Meaning("nonlinear", f"{reason}; {support.reason}")
    if network:
        return Meaning("nonlinear", f"{reason}; {network}")
    information = judged.cell.information
    # by twice its interval, as a run has many scores at chance, of which some exceed their interval by chance
    if information is not None and information.low is not None and 2 * information.low > information.bits:
        by_words = next((o for o in objections if o.explanation in ("words", "length")), None)
        if by_words is not None:
            return Meaning(by_words.explanation, by_words.reason)
        estimate = " ".join((BITS.number(information.bits), BITS.half_width(information.low, information.high)))
        return Meaning("bits", f"{reason}; {estimate} of {information.entropy:.2f} bits")
    return Meaning("few" if judged.wide else "chance", reason)


def _against_baseline(s: SetSummary, judged: Judged, objections: Sequence[Objection]) -> Meaning | None:
    """A verdict by the best baseline and by what objects to a score above it; None if nothing does."""
    against = judged.cell.against
    if against is None:
        return Meaning("untested", "no baseline on the same rows")
    than = _baseline(against)
    if min(judged.cell.score.value or 0.0, against.value) >= SATURATED:
        word = f"; {s.giveaway} gives it away" if s.giveaway else ""
        return Meaning("saturated", f"{judged.text}, {than}{word}")
    if against.verdict == "below" and _is_far_below(judged.cell, against):
        return Meaning("below", f"{judged.text}, {than}")
    if against.verdict == "below":
        return Meaning(BASELINE_KINDS.get(against.baseline, "baseline"), judged.prefix + than)
    if against.verdict == "untested":
        return Meaning("untested", than)
    if against.verdict == "not_significant":
        return Meaning("few" if _would_miss(judged.cell, against) else "baseline", f"{judged.text}, {than}")
    return Meaning(objections[0].explanation, objections[0].reason) if objections else None


def _baseline(against: BaselineComparison) -> str:
    return f"{against.baseline} {POINTS.number(against.value)}"


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


def _shared_texts(s: SetSummary, cell: CellSummary) -> str:
    """How many test texts are also in train, if that could make a difference that counts; in folds they stay together.

    A share of the test rows cannot change a score by more than itself.
    """
    if s.folds is not None:
        return ""
    against, value = cell.against, cell.score.value or 0.0
    gain = value - against.value if against is not None and against.verdict == "above" else MIN_DETECTABLE
    for finding in s.audit or ():
        counts = _TEST_IN_TRAIN.search(finding.message) if finding.code in COPIES else None
        if counts is None:
            continue
        hits, rows = (int(count.replace(",", "")) for count in counts.groups())
        if hits and hits / rows >= min(gain, MIN_DETECTABLE):
            return f"{hits:,} of {rows:,} test texts"
    return ""


def _plain(cell: CellSummary, majority: float | None) -> PlainScore | None:
    value, low, high = estimate_of(cell)
    if value is None or low is None or high is None:
        return None
    return PlainScore(value=value, low=low, high=high, majority=majority)


def _objections(cell: CellSummary, variants: Sequence[VariantSummary], majority: float | None) -> Iterator[Objection]:
    plain = _plain(cell, majority)
    for variant in variants if plain is not None else ():
        part = part_of(variant.of)
        if part is not None and plain is not None and part.objection is not None:
            objection = part.objection(variant, plain)
            # where a class is rare, the accuracy of a control is that of the most frequent label whatever it reads
            by_accuracy = cell.balanced is not None and not isinstance(part, Measure)
            if objection is not None and (objection.explanation == "leak" or not by_accuracy):
                yield objection


def _supports(cell: CellSummary, variants: Sequence[VariantSummary], majority: float | None) -> Iterator[Support]:
    """What measures say for the encoder where its score does not."""
    plain = _plain(cell, majority)
    for variant in variants if plain is not None else ():
        part = part_of(variant.of)
        if isinstance(part, Measure) and plain is not None and part.support is not None:
            support = part.support(variant, plain)
            if support is not None:
                yield support
