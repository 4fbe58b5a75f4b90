"""Everything that is shown of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sentprobe.report.types.analyses import CorrelationMatrix, Curves, LanguageComparison, WordSpaces
from sentprobe.report.types.cell import Cell
from sentprobe.report.types.errors import SetErrors
from sentprobe.report.types.sets import SetSummary

VERSION = 5
"""The version of the summary as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """An encoder, or a baseline, with the probe and sample it was run with."""

    encoder: str
    label: tuple[str, ...]
    """The encoder, and what distinguishes the column from others."""
    probe: str | None = None
    limit: int | None = None
    device: str | None = None
    sentprobe: str = ""
    identity: str | None = None
    """The digest of the encoder's identity."""

    @property
    def name(self) -> str:
        """The label on one line."""
        return ", ".join(self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferMean:
    """The mean over transfer tasks of a column."""

    tasks: tuple[str, ...]
    macro: float
    micro: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingScore:
    """How well an encoder does what it was trained for, on held-out data."""

    metric: str
    """Accuracy, BLEU, perplexity, …"""
    value: float
    """As it is usually printed: accuracy and BLEU from 0 to 100."""
    maximise: bool
    """Whether more is better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerTable:
    """Every layer of one column on every set."""

    column: int
    names: tuple[str | None, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    """By layer and set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """A sign that an encoder is dead or broken, or taken on trust."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was observed about an encoder when it was run."""

    name: str
    symptoms: tuple[Symptom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureSummary:
    """A cell that failed."""

    encoder: str | None
    dataset: str | None
    variant: str | None
    layer: str | None
    probe: str | None
    seed: int | None
    kind: str
    error: str
    alias: str | None = None
    """The name that the encoder was given, if any."""

    @property
    def name(self) -> str | None:
        """What the encoder is called."""
        return self.alias or self.encoder


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCells:
    """What the last command requested of an encoder or a baseline, and neither finished nor failed."""

    encoder: str
    sets: tuple[str, ...]
    """Names of the sets without a result."""
    requested: int
    """Sets that were requested."""
    alias: str | None = None
    """The name that the encoder was given, if any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What a methodological check found."""

    code: str
    level: Literal["issue", "tip", "passed"]
    title: str
    text: str
    where: tuple[str, ...] = ()
    docs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """How to reproduce the numbers."""

    commands: tuple[str, ...]
    signatures: int
    versions: Mapping[str, tuple[str, ...]]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """Time by stage, all cells together."""

    encode: float
    fit: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Everything that is shown of a run."""

    version: int = VERSION
    folder: str
    metric: str
    columns: tuple[Column, ...]
    baselines: tuple[Column, ...]
    sets: tuple[SetSummary, ...]
    transfer: tuple[TransferMean | None, ...]
    """Per column."""
    training: tuple[TrainingScore | None, ...] = ()
    """Per column; None for encoders that state no training score."""
    layers: tuple[LayerTable, ...]
    """Of columns with several layers."""
    interpretations: Mapping[str, str]
    """How to read each control and measure, in a sentence, by name."""
    diagnoses: tuple[Diagnosis, ...]
    failures: tuple[FailureSummary, ...]
    missing: tuple[MissingCells, ...] = ()
    """What was requested and has no result; empty: the run is complete."""
    notes: tuple[str, ...]
    """What is missing, and why."""
    days: tuple[str, ...] = ()
    """When commands of the run were started, as days in UTC (ISO 8601); none for runs that did not record it."""
    versions: Mapping[str, tuple[str, ...]]
    """By program, all versions that were used."""
    seconds: Seconds
    hidden_columns: int = 0
    """Columns that a filter left out; numbers and letters are as if they were shown."""
    hidden_sets: int = 0
    # what full_summary adds
    errors: tuple[SetErrors | None, ...] = ()
    """Per set."""
    curves: Curves = field(default_factory=Curves)
    correlations: CorrelationMatrix | None = None
    languages: LanguageComparison | None = None
    word_spaces: WordSpaces | None = None
    """None: nothing is a translation of words."""
    reproduction: Reproduction | None = None
    checks: tuple[CheckResult, ...] = ()
