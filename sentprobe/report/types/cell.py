"""One number of a table: a column on a set, with what it was compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["above", "not_significant", "below", "untested"]
"""How a number compares with the best baseline; ``sentprobe.report.verdict`` has the rule."""


MeaningKind = Literal[
    "holds", "above", "words", "length", "memorised", "untrained", "leak", "chance", "below", "baseline", "few",
    "untested",
]  # fmt: skip
"""What a score shows; ``sentprobe.report.meaning`` has the rule."""


@dataclass(frozen=True, slots=True)
class Score:
    """A metric over the seeds of one cell; shares of one, or bits."""

    value: float | None = None
    """The mean; None for a loss without probabilities."""
    low: float | None = None
    high: float | None = None
    """Its interval; None for macro-averaged F1, and for a constant prediction, whose score is a fact."""
    sd: float | None = None
    """Standard deviation over seeds; None for a single one."""


@dataclass(frozen=True, slots=True)
class BaselineComparison:
    """How a number compares with the best baseline on the same rows."""

    baseline: str
    value: float
    """The score of that baseline."""
    verdict: Verdict
    p: float | None = None
    """Two-sided, adjusted over ``tests`` encoders; None where nothing was tested."""
    tests: int = 0
    detectable: float | None = None
    """Of accuracies: the difference that a comparison like this one detects four times out of five."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a score shows, by baselines, controls and measures."""

    kind: MeaningKind
    reason: str
    """Why, with the numbers, in a few words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Information:
    """Usable information about the label, in bits."""

    bits: float
    low: float | None
    high: float | None
    entropy: float
    """Of the labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A column on a set: the layer that dev chose, over all seeds."""

    score: Score
    """The summary's metric."""
    calibrated: Score | None = None
    """The calibrated bits, in addition to the raw ones: for the metric log2_loss only."""
    accuracy: float
    low: float | None
    high: float | None
    """The interval of the accuracy; None for a prediction that is the same for every row, whose score is a fact."""
    interval: str
    """How the interval was computed: wilson, cluster, constant, …"""
    about: Literal["encoder", "probe"]
    """What the interval is about: the encoder, over samples of training rows too; or the trained probe."""
    probe_low: float | None
    probe_high: float | None
    training_sd: float | None
    clusters: int | None
    sd: float | None
    """Of the accuracy over seeds."""
    seeds: int
    n: int
    """Test rows."""
    macro_f1: float | None
    log2_loss: float | None
    log2_loss_calibrated: float | None
    temperature: float | None
    dev_score: float | None
    layer: str | None
    layers: int = 1
    """How many layers dev chose from."""
    information: Information | None
    dimension: int | None
    train_n: int
    edge: Literal["weakest", "strongest"] | None
    """Where dev chose the L2 at an end of the grid."""
    chosen: tuple[Mapping[str, Any], ...]
    """Settings chosen on dev, by seed."""
    partial: bool
    signatures: tuple[str, ...]
    """By seed."""
    against: BaselineComparison | None = None
    letters: str | None = None
    """Encoders that share a letter on a set are not significantly different."""
    best: bool = False
    """Shown in bold: not significantly different from the best of the set, and above the baselines."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Of spaces of words, by the first seed: further scores, counts of what was left out, and what chance gives."""
    by_dev: bool = True
    """Of cells of one layer: whether dev chose this layer."""
