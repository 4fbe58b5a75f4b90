"""Measures: other quantities computed from the same vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sentprobe.core.plugins import Kind
from sentprobe.data.splits import Splits
from sentprobe.probes import Features, fit
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear
from sentprobe.probes.erase import Moments
from sentprobe.probes.fitting import from_arrays
from sentprobe.probes.standardised_rows import Rows
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import Arrays
from sentprobe.run.cells import saved_arrays
from sentprobe.run.scoring import versions
from sentprobe.run.unit import Unit, shared
from sentprobe.run.variant import ERASED as ERASED
from sentprobe.run.variant import GIVEN as GIVEN
from sentprobe.run.variant import Objection, PlainScore, VariantColumn, VariantSummary, points

MAX_MEASURE_ROWS = 10_000
"""Training rows that measures of where in the vectors a property is use at most by default. On made-up tasks, 40,000
rows give the same rank, the same number of directions by INLP, and the same difference between erased and random
directions, within 0.6 points. What counts rows or bits, or needs many rows to learn, uses all: with 10,000 of them, the
bits that are added to the length differ by a fifth."""
SUBSAMPLED = f"It uses at most {MAX_MEASURE_ROWS:,} training rows by default."
"""What the interpretation of such a measure says about it."""

Finished = tuple[Result, Arrays, Arrays | None]


def plain_probe(unit: Unit, train: Features, dev: Features) -> tuple[float, Linear]:
    """The penalty of the plain linear probe, and the probe; if there is none, it is fitted to the same last bit.

    For a measure that uses some of the training rows only, it is fitted on these.
    """

    def make() -> tuple[float, Linear]:
        parts, plain = unit.parts, unit.plain
        all_rows = plain is not None and len(parts.train) == len(plain.parts.train)
        model = plain.model() if plain is not None and all_rows else None
        if plain is not None and plain.l2 is not None and isinstance(model, Linear):
            return plain.l2, model
        (found,) = fit(
            unit.probe, train, parts.train.labels, dev, parts.dev.labels, len(parts.labels), device=unit.cells[0].device
        )
        kept = from_arrays(saved_arrays(found.model, train))
        assert isinstance(kept, Linear)
        return float(found.chosen["l2"]), kept

    return shared(unit, "plain", 8 * train.shape[1] * len(unit.parts.labels), make)


def moments_of(unit: Unit, train: Features) -> Moments:
    """Mean and covariances of the training vectors of a set, with the maps derived from them."""
    return shared(unit, "moments", 24 * train.shape[1] ** 2, partial(Moments.of, train))


def rows_of(unit: Unit, train: Features) -> Rows:
    """The training rows of a set, as probes on erased vectors read them."""
    labels, classes = unit.parts.train.labels, len(unit.parts.labels)
    size = 4 * math.prod(train.shape)
    size = size if size <= MAX_CACHED_BYTES else 0  # larger ones are not cached
    return shared(unit, "rows", size, lambda: Rows.of(train, labels, classes, moments_of(unit, train)))


def empty_result(cell: Cell, parts: Splits) -> Result:
    """A result to be filled in by a measure that is not an accuracy."""
    return Result(
        key=cell.key, cell=cell, language=parts.language, labels=parts.labels,
        n={"tr": len(parts.train), "va": len(parts.dev), "te": len(parts.test)}, trained_on=parts.trained_on,
        chosen_on=parts.chosen_on, score=0.0, interval=(0.0, 0.0), versions=versions(), synthetic=parts.synthetic,
        split=parts.split, merged_labels=parts.merged_labels,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure, computed from the vectors of a set by ``compute``."""

    name: str
    interpretation: str
    """How to read its value, in a sentence or two."""
    order: int = 1000
    """Its position among the measures."""
    version: int = 1
    """Raise it whenever its results change: a resumed run computes them again. From 2 on it is in the signature."""
    columns: tuple[VariantColumn, ...] = (VariantColumn(("{name}",), points),)
    """Its columns in tables."""
    applies_to: Callable[[Splits], bool]
    """Whether it applies to a set."""
    compute: Callable[[Unit], list[Finished]]
    """Returns its results, one per cell of the unit, each with arrays to save."""
    given: str | tuple[str, ...] | None = None
    """The encoder, or several, that the measure is conditional on."""
    erases: bool = False
    """Whether it has one cell per set whose property is erased."""
    all_layers: bool = False
    """Whether it uses all layers together."""
    max_rows: int | None = None
    """Training rows that it uses at most, unless the user sets another number; None: all, whatever the user sets."""
    objection: Callable[[VariantSummary, PlainScore], Objection | None] | None = None
    """Whether its result explains the score otherwise than by what the encoder knows; None: it never does."""


MEASURES = Kind("measure", "sentprobe.run.measures", Measure)
"""All measures by name; other packages offer theirs as entry points of the group ``sentprobe.measures``."""
