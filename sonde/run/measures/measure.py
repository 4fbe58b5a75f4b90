"""What a measure is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sonde.probes import Features, fit
from sonde.result import Cell, Result
from sonde.run.cells import Unit, versions
from sonde.run.folder import Arrays
from sonde.run.parts import Parts

GIVEN, ERASED = "given:", "erased:"
"""How names of cells begin that take an encoder for given, and of those from whose vectors a property was erased."""

Finished = tuple[Result, Arrays, Arrays | None]


def learned(parts: Parts) -> bool:
    """Whether one classifier learns labels from one part of a set and is tested on another."""
    return parts.protocol == "split"


def penalty(unit: Unit, train: Features, dev: Features) -> float:
    """That of the plain linear probe; or where there is none, what dev would choose for it."""
    if unit.plain is not None and unit.plain.l2 is not None:
        return unit.plain.l2
    parts = unit.parts
    (found,) = fit(
        unit.probe, train, parts.train.labels, dev, parts.dev.labels, len(parts.labels), device=unit.cells[0].device
    )
    return float(found.chosen["l2"])


def blank(cell: Cell, parts: Parts) -> Result:
    """A result without its numbers, which are no share of test rows that are right."""
    return Result(
        key=cell.key, cell=cell, language=parts.language, labels=parts.labels,
        n={"tr": len(parts.train), "va": len(parts.dev), "te": len(parts.test)}, trained_on=parts.trained_on,
        chosen_on=parts.chosen_on, score=0.0, interval=(0.0, 0.0), versions=versions(), synthetic=parts.synthetic,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure."""

    name: str
    reading: str
    """How to read its number, in one sentence."""
    fits: Callable[[Parts], bool]
    """Whether it can be asked of a set."""
    work: Callable[[Unit], list[Finished]]
    """Its results, one per cell of the unit."""
    given: str | None = None
    """The encoder whose vectors are taken for given."""
    erases: bool = False
    """Whether there is a cell for every set whose property is erased."""
    across: bool = False
    """Whether it is about all layers together."""
