"""A set, and every column on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sentprobe.published.sets import Extent
from sentprobe.report.types.cell import Cell, Meaning
from sentprobe.report.types.people import HumanResult
from sentprobe.run.variant import VariantSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """A finding of a set's audit."""

    code: str
    severity: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedResult:
    """An accuracy that a paper printed; for sets that are scored otherwise, a score of that kind."""

    model: str
    kind: str
    accuracy: float
    paper: str
    table: str
    compared: bool = False
    """Whether it is the one that differences are from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSummary:
    """A set, and every column on it."""

    name: str
    label: str
    """Its name, and where two sets share one the start of the digest."""
    data: str
    """Its digest."""
    task: str
    version: int
    language: str | None
    classes: int
    n: Mapping[str, int]
    """Rows by split."""
    label_names: Mapping[str, str] = field(default_factory=dict)
    """What labels that are codes mean, where the task says so: ``{"NNS": "plural"}``."""
    scored_by: str
    synthetic: bool
    question: str | None
    corpus: str | None
    """The name of the corpus it was made from."""
    source: str | None
    """Where it came from, in a few words."""
    inputs: tuple[str, ...]
    """What the probe is given besides the sentence."""
    audit: tuple[AuditFinding, ...] | None
    """None: the set was not audited."""
    redundancy: Mapping[str, float] = field(default_factory=dict)
    """Shares of the test rows by what other words say about the target: majority, alone, tie, minority."""
    printed_for: Extent | None
    """What published numbers are for: this set, the whole set, another set, other vectors; None: there are none."""
    human: PublishedResult | None
    """What a paper printed for people."""
    people: HumanResult | None = None
    """What one's own annotators judged, by `sentprobe judge`."""
    published: tuple[PublishedResult, ...]
    cells: tuple[Cell | None, ...] = ()
    """Per column; None where nothing was run, or all failed."""
    baselines: tuple[Cell | None, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    """Errors, by column."""
    failed_baselines: Mapping[int, str] = field(default_factory=dict)
    letters_about: str | None = None
    """What the letters are about; None where there are none."""
    variants: tuple[tuple[VariantSummary, ...], ...] = ()
    """Controls and measures, per column."""
    meanings: tuple[Meaning | None, ...] = ()
    """What the scores show, per column; None where there is no score."""
