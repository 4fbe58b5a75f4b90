"""Controls: one thing is changed about a set, its vectors or its encoder, to see what the plain score depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy.typing as npt

from sentprobe.core.plugins import Kind
from sentprobe.data.splits import Splits, any_set
from sentprobe.probes import Probe
from sentprobe.results.result import GRID_FIELDS, Result
from sentprobe.run.variant import Objection, PlainScore, VariantColumn, VariantSummary, points

Table = npt.NDArray[Any]
"""Vectors of texts, (texts, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One control: exactly one of ``splits``, ``table`` and ``encoder`` is given; their last argument is a seed."""

    name: str
    interpretation: str
    """How to read its score, in a sentence or two."""
    order: int = 1000
    """Its position among the controls."""
    version: int = 1
    """Raise it whenever its results change: a resumed run computes them again. From 2 on it is in the signature."""
    columns: tuple[VariantColumn, ...] = (VariantColumn(("{name}",), points),)
    """Its columns in tables."""
    encodes: bool = False
    """Whether it needs vectors of texts that are not in the set."""
    applies_to: Callable[[Splits], bool] = any_set
    """Whether it applies to a set; a set with too few rows may still raise TooFewError."""
    splits: Callable[[Splits, int], Splits] | None = None
    """Returns the set with other labels, rows or texts, to be probed like any set."""
    table: Callable[[Table, Sequence[str], int], Table] | None = None
    """Returns changed vectors (n, any) of n texts, given their vectors (n, d). Only sentences are changed: if the probe
    also reads words, these keep their vectors."""
    encoder: Callable[[str, int], str | None] | None = None
    """Returns the name of another encoder to probe instead, or None if there is no such counterpart."""
    probe: Literal["tuned", "used", "trained"] = "tuned"
    """``tuned``: the probe is tuned on dev like the plain one; otherwise a drop could be due to the penalty. ``used``:
    it has the settings of the plain probe, for controls of what that very probe can learn. ``trained``: the plain probe
    itself, as it was trained."""
    same_test: bool = True
    """Whether its test rows are those of the set: only then may it be subtracted from the score."""
    objection: Callable[[VariantSummary, PlainScore], Objection | None] | None = None
    """Whether its result explains the score otherwise than by what the encoder knows; None: it never does."""


def has_training_rows(splits: Splits) -> bool:
    """Whether anything is trained on a set."""
    return len(splits.train) > 0


def with_chosen_settings(probe: Probe, result: Result) -> Probe:
    """The probe restricted to the settings chosen for a result."""
    chosen: dict[str, Any] = {name: (result.chosen[name],) for name in GRID_FIELDS if name in result.chosen}
    return replace(probe, **chosen)


CONTROLS = Kind("control", "sentprobe.run.controls", Control)
"""All controls by name; other packages offer theirs as entry points of the group ``sentprobe.controls``."""
