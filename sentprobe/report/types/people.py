"""How people do on a set, beside the encoders."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShare:
    """How often an answer is given, on the sentences that people judged."""

    label: str
    truth: float
    """The share of the sentences that have this label."""
    people: float
    """By majority vote."""
    columns: tuple[float | None, ...]
    """Per column, over seeds; None where there are no predictions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanResult:
    """The majority vote of one's own annotators, and the encoders on the same sentences."""

    n: int
    """Sentences with a majority."""
    ties: int
    accuracy: float
    low: float
    high: float
    single: float
    """The share of single judgments that are right."""
    judgments: int
    annotators: int
    dropped: int
    """Annotators who failed the controls."""
    controls: int
    alpha: float | None
    """Krippendorff's alpha."""
    columns: tuple[float | None, ...]
    """The accuracy of each column on the same sentences, over seeds."""
    answers: tuple[AnswerShare, ...]
    """Response bias; empty for sets of many classes."""
