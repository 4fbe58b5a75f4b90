"""What controls and measures have in common: how their results are shown.

A control or measure is one object in one file. Its computation fills a ``Result``; tables and pages show the object's
own ``columns``, so that no other file needs to change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sentprobe.core.formatting import BITS, POINTS
from sentprobe.core.table import CellText

GIVEN, ERASED = "given:", "erased:"
"""Prefixes of variants: measures conditional on another encoder, and scores after a property was erased."""
ERASED_ROWS = "erased_rows"
"""Among the scores of such a result: the training rows of the set whose property was erased."""


def base_variant(variant: str) -> str:
    """The control or measure of a variant: ``erasure`` for ``erased:…``."""
    return "erasure" if variant.startswith(ERASED) else variant


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """The result of one control or measure on one set, for one column of a report."""

    name: str
    """As in the signature: ``key``, ``online``, ``given:length``; for an erasure, the label of the erased set."""
    of: str
    """The control or measure: ``key``, ``online``, ``given:length``, ``erasure``."""
    kind: Literal["control", "measure"]
    value: float
    low: float | None = None
    high: float | None = None
    """Its interval."""
    n: int = 0
    """Test rows."""
    lost: float | None = None
    """The plain score minus this one; None for measures, and if the test rows are not the same."""
    lost_low: float | None = None
    lost_high: float | None = None
    """Its interval, from the same test rows; None where predictions cannot be read."""
    lost_p: float | None = None
    """Of a paired test, adjusted by Holm over all controls of the encoder on all sets."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Further values, by name."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Settings chosen on dev."""
    points: tuple[Mapping[str, Any], ...] = ()
    """A curve: blocks, training sizes, ranks, layers, …"""
    baselines: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Curves of baselines to compare with, by name."""


Explanation = Literal["words", "length", "memorised", "untrained", "leak"]
"""What explains a score other than that the encoder knows the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainScore:
    """The score that a control or measure is about."""

    value: float
    low: float
    high: float
    """Its interval."""
    majority: float | None = None
    """What the most frequent label scores on the same rows."""


@dataclass(frozen=True, slots=True)
class Objection:
    """Why a score does not show that the encoder knows the answer."""

    explanation: Explanation
    reason: str
    """With the numbers, in a few words."""


@dataclass(frozen=True, slots=True)
class Support:
    """What a measure finds in the vectors that the score does not show."""

    reason: str
    """With the numbers, in a few words."""
    network: float | None = None
    """The lower end of what a probe that is not linear scores; None: the measure is about something else."""


@dataclass(frozen=True, slots=True)
class VariantColumn:
    """One column of the table of controls, of measures or of erasures."""

    heading: tuple[str, ...]
    """Lines of the heading; ``{name}`` stands for the name of the variant, as in ``given:length``."""
    text: Callable[[VariantSummary], CellText | None]
    """The text of a cell; None: empty."""


# Objections


def scores_as_high(explanation: Explanation, what: str) -> Callable[[VariantSummary, PlainScore], Objection | None]:
    """An objection if the control scores within the interval of the plain score, or above it."""

    def object_to(v: VariantSummary, plain: PlainScore) -> Objection | None:
        if v.value < plain.low:
            return None
        return Objection(explanation, f"{what} has {POINTS.number(v.value)}")

    return object_to


def above_majority(v: VariantSummary, plain: PlainScore) -> Objection | None:
    """An objection if a control that can only be at chance is far above the majority.

    By twice its interval: a run has many such controls, of which some exceed their interval by chance.
    """
    if plain.majority is None or v.low is None or v.value - plain.majority <= 2 * (v.value - v.low):
        return None
    return Objection("leak", f"{v.name} has {POINTS.number(v.value)}, the majority {POINTS.number(plain.majority)}")


def adds_nothing(explanation: Explanation, what: str) -> Callable[[VariantSummary, PlainScore], Objection | None]:
    """An objection if the bits that the vectors add to something are not above 0 by more than their interval."""

    def object_to(v: VariantSummary, plain: PlainScore) -> Objection | None:
        if v.low is None or v.low > 0:
            return None
        estimate = bits(v)
        return Objection(explanation, f"adds {estimate.text} {estimate.margin} bits to {what}".replace("-", "\u2212"))

    return object_to


def adds_bits(what: str) -> Callable[[VariantSummary, PlainScore], Support | None]:
    """A support if the bits that the vectors add to something are above 0 by more than their interval."""

    def speak_for(v: VariantSummary, plain: PlainScore) -> Support | None:
        if v.low is None or v.low <= 0:
            return None
        estimate = bits(v)
        return Support(f"adds {estimate.text} {estimate.margin} bits to {what}")

    return speak_for


# Formatting


def percent(value: float | None) -> CellText | None:
    """A proportion in percent."""
    return None if value is None else CellText(POINTS.number(value))


def points(v: VariantSummary) -> CellText:
    """The score in percent, with its interval."""
    return CellText(POINTS.number(v.value), POINTS.half_width(v.low, v.high))


def bits(v: VariantSummary) -> CellText:
    """The score in bits, with its interval."""
    return CellText(BITS.number(v.value), BITS.half_width(v.low, v.high))


def estimate(v: VariantSummary, name: str) -> CellText | None:
    """One of ``scores`` in percent, with the interval in ``NAME_low`` and ``NAME_high``."""
    if name not in v.scores:
        return None
    return CellText(
        POINTS.number(v.scores[name]), POINTS.half_width(v.scores.get(f"{name}_low"), v.scores.get(f"{name}_high"))
    )
