"""What the columns got wrong on the sets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Test rows of similar length, or whose target forms or words are about as frequent, and how many are right."""

    low: int
    high: int
    n: int
    correct: int
    below: float
    above: float
    """Wilson's interval of the share that is right."""
    forms: int | None = None
    """Of bins by target form: how many forms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRow:
    """A test row as it is shown: cut where it is long."""

    tokens: tuple[str, ...]
    marks: tuple[int, ...]
    """Positions of the target, or of what was changed."""
    source: str
    label: str | None = None
    predicted: str | None = None
    confidence: float | None = None
    bits: float | None = None
    """Mean pointwise information over the columns, for rows whose label they find likely or unlikely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """A label that is confused with another."""

    truth: str
    predicted: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnErrors:
    """What one column got wrong on a set, by the first seed and the layer shown."""

    confusion: tuple[tuple[int, ...], ...] | None
    """Rows by truth and predicted label; None with too many labels."""
    pairs: tuple[Confusion, ...]
    """The most frequent confusions."""
    length: tuple[Bin, ...]
    target: tuple[Bin, ...] | None
    errors: tuple[ShownRow, ...]
    """Those with the highest confidence."""
    label_counts: tuple[tuple[int, int], ...] | None
    """Per label, how many rows have it and how many are predicted to have it; None with too many labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetErrors:
    """What the columns got wrong on a set."""

    labels: tuple[str, ...]
    columns: tuple[ColumnErrors | None, ...]
    doubtful: tuple[ShownRow, ...]
    """Rows whose labels all columns together find least likely: these may be wrong."""
    easiest: tuple[ShownRow, ...]
    """Rows whose labels they find most likely."""
