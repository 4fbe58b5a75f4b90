"""What a control is: one thing that is changed about a set, its vectors or its encoder, and how to read the score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy.typing as npt

from sonde.probes import Probe
from sonde.result import GRID_FIELDS, Result
from sonde.run.parts import Parts

Table = npt.NDArray[Any]
"""Vectors of texts, (texts, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One control. Of ``parts``, ``table`` and ``encoder`` exactly one is there; a seed is their last argument."""

    name: str
    interpretation: str
    """How to read its number, in one sentence."""
    encodes: bool
    """Whether it takes vectors that the set's own texts do not have from this encoder."""
    applies_to: Callable[[Parts], bool]
    """Whether it can be asked of a set; a set with too few rows for it may still raise TooFewError."""
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


def has_train_test_split(parts: Parts) -> bool:
    """Whether one classifier learns labels from one part of a set and is tested on another."""
    return parts.protocol == "split"


def any_set(parts: Parts) -> bool:
    """Any set will do."""
    return True
