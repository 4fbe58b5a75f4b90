"""What follows from the scores of a run: curves, correlations, languages, spaces of words."""

from __future__ import annotations

from dataclasses import dataclass

from sentprobe.report.types.errors import Bin


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """A point of accuracy against the size of vectors, or the length of training."""

    series: str
    x: int
    column: int
    set: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Which columns make a curve."""

    dimension: tuple[CurvePoint, ...] = ()
    epoch: tuple[CurvePoint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRef:
    """A set by its number in the summary."""

    set: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationCell:
    """A probing set and a transfer set over encoders."""

    value: float
    low: float
    high: float
    p: float
    adjusted: float
    n: int
    significant: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationMatrix:
    """Every probing set with every transfer set."""

    kind: str
    adjust: str
    n: int
    required: int
    """The number of encoders needed before any cell is called significant."""
    rows: tuple[SetRef, ...]
    columns: tuple[SetRef, ...]
    cells: tuple[tuple[CorrelationCell | None, ...], ...]
    description: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageCorrelation:
    """Two languages, over tasks (of an encoder) or over encoders (of a task)."""

    one: str
    two: str
    spearman: float
    pearson: float
    n: int
    column: int | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilePoint:
    """A column's score on a task in a language."""

    language: str
    task: str
    set: int
    column: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageComparison:
    """Tasks that exist in two languages or more."""

    languages: tuple[str, ...]
    tasks: tuple[str, ...]
    profiles: tuple[ProfilePoint, ...]
    by_encoder: tuple[LanguageCorrelation, ...]
    by_task: tuple[LanguageCorrelation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrequencyCurve:
    """How often words of similar frequency are translated right."""

    set: int
    column: int
    bands: tuple[Bin, ...]
    """By the rank of the source word: 1 is the most frequent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """A map along the way of an alignment, and how well words are translated by it."""

    set: int
    column: int
    alignment: str
    """The system without what names the map."""
    seed: int | None
    """None: the one that was chosen."""
    stage: str
    """epoch, round or refine."""
    number: int
    criterion: float | None
    """The unsupervised criterion: the mean cosine of words and their translations under CSLS."""
    value: float
    low: float | None
    high: float | None
    chosen: bool
    """Whether it is the map of the alignment itself, if that is in the run, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSpaces:
    """Spaces of words by frequency, and along the way of their alignment."""

    frequency: tuple[FrequencyCurve, ...] = ()
    maps: tuple[MapPoint, ...] = ()
