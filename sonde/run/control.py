"""What a control is: one thing that is changed about a set, its vectors or its encoder, and how to read the score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy.typing as npt

from sonde.core.plugins import Kind
from sonde.probes import Probe
from sonde.result import GRID_FIELDS, Result
from sonde.run.parts import Parts, any_set
from sonde.run.variant import VariantColumn, points

Table = npt.NDArray[Any]
"""Vectors of texts, (texts, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One control. Of ``parts``, ``table`` and ``encoder`` exactly one is there; a seed is their last argument."""

    name: str
    interpretation: str
    """How to read its number, in one sentence."""
    order: int = 1000
    """Its place among the controls."""
    columns: tuple[VariantColumn, ...] = (VariantColumn(("{name}",), points),)
    """What tables show of it."""
    encodes: bool = False
    """Whether it needs vectors of texts that are not in the set."""
    applies_to: Callable[[Parts], bool] = any_set
    """Whether it makes sense for a set; a set with too few rows for it may still raise TooFewError."""
    parts: Callable[[Parts, int], Parts] | None = None
    """The set with other labels, rows or texts, to be probed like any set."""
    table: Callable[[Table, Sequence[str], int], Table] | None = None
    """The vectors (n, d) of n texts changed to (n, any). They are those of sentences: where the probe is given words as
    well, these keep the vectors they have."""
    encoder: Callable[[str, int], str | None] | None = None
    """The text that names the other encoder, or None if this one has no such counterpart."""
    probe: Literal["tuned", "used", "trained"] = "tuned"
    """What is probed with. A control that takes something from the vectors is tuned on dev like the plain probe, or the
    loss could be one of the penalty. One that asks what the probe itself can learn takes it as it was used, with the
    plain one's penalty; and one may take the plain probe as it was trained."""
    same_test: bool = True
    """Whether its test rows are those of the set, in the same split: only then may the score be subtracted from."""


def with_chosen_settings(probe: Probe, result: Result) -> Probe:
    """A probe with the settings that were chosen for a result, and no others."""
    chosen: dict[str, Any] = {name: (result.chosen[name],) for name in GRID_FIELDS if name in result.chosen}
    return replace(probe, **chosen)


CONTROLS = Kind("control", "sonde.run.controls", Control)
"""All controls by name; other packages offer theirs as entry points of the group ``sonde.controls``."""
