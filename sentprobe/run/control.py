"""Controls: one thing is changed about a set, its vectors or its encoder, to see what the plain score depends on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy.typing as npt

from sentprobe.core.plugins import Kind, part_repr
from sentprobe.data.splits import Splits, any_set
from sentprobe.probes import Probe
from sentprobe.results.result import GRID_FIELDS, Result
from sentprobe.run.variant import Objection, PlainScore, VariantColumn, VariantSummary, points

Table = npt.NDArray[Any]
"""Vectors of texts, (texts, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One control: exactly one of ``splits``, ``table`` and ``encoder`` is given; their last argument is a seed.

    Parameters
    ----------
    name
        As in ``sentprobe run --controls NAME``.
    interpretation
        How to read its score, in a sentence or two.
    order
        Its position among the controls.
    version
        Raise it whenever its results change: a resumed run computes them again. From 2 on it is in the signature.
    columns
        Its columns in tables.
    encodes
        Whether it needs vectors of texts that are not in the set.
    applies_to
        Whether it applies to a set; a set with too few rows may still raise TooFewError.
    splits
        Returns the set with other labels, rows or texts, to be probed like any set.
    table
        Returns changed vectors (n, any) of n texts, given their vectors (n, d). Only sentences are changed: if the
        probe also reads words, these keep their vectors.
    encoder
        Returns the name of another encoder to probe instead, or None if there is no such counterpart.
    probe
        ``tuned``: the probe is tuned on dev like the plain one; otherwise a drop could be due to the penalty. ``used``:
        it has the settings of the plain probe, for controls of what that very probe can learn. ``trained``: the plain
        probe itself, as it was trained.
    same_test
        Whether its test rows are those of the set: only then may it be subtracted from the score.
    objection
        Whether its result explains the score otherwise than by what the encoder knows; None: it never does.

    Examples
    --------
    >>> import numpy as np
    >>> from sentprobe.extend import Control
    >>> def to_first_half(table, texts, seed):
    ...     return table[:, : table.shape[1] // 2]
    >>> control = Control(name="first_half", interpretation="The score of half the dimensions.", table=to_first_half)
    >>> control
    Control('first_half')
    >>> control.table(np.ones((3, 8)), ["a", "b", "c"], 0).shape
    (3, 4)
    """

    name: str
    interpretation: str
    order: int = 1000
    version: int = 1
    columns: tuple[VariantColumn, ...] = (VariantColumn(("{name}",), points),)
    encodes: bool = False
    applies_to: Callable[[Splits], bool] = any_set
    splits: Callable[[Splits, int], Splits] | None = None
    table: Callable[[Table, Sequence[str], int], Table] | None = None
    encoder: Callable[[str, int], str | None] | None = None
    probe: Literal["tuned", "used", "trained"] = "tuned"
    same_test: bool = True
    objection: Callable[[VariantSummary, PlainScore], Objection | None] | None = None

    __repr__ = part_repr


def has_training_rows(splits: Splits) -> bool:
    """Whether anything is trained on a set."""
    return len(splits.train) > 0


def with_chosen_settings(probe: Probe, result: Result) -> Probe:
    """The probe restricted to the settings chosen for a result."""
    chosen: dict[str, Any] = {name: (result.chosen[name],) for name in GRID_FIELDS if name in result.chosen}
    return replace(probe, **chosen)


CONTROLS = Kind("control", "sentprobe.run.controls", Control)
"""All controls by name; other packages offer theirs as entry points of the group ``sentprobe.controls``."""
