"""Measures: other quantities computed from the same vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from sentprobe.core.plugins import Kind, part_repr
from sentprobe.data.splits import Splits, has_train_test_split
from sentprobe.probes import Features, fit
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear
from sentprobe.probes.erase import VectorMoments
from sentprobe.probes.fitting import from_arrays
from sentprobe.probes.standardised_rows import StandardisedRows
from sentprobe.results.result import Cell, Result
from sentprobe.run.fit import Finished, saved_arrays
from sentprobe.run.job import FitJob, shared
from sentprobe.run.scoring import versions
from sentprobe.run.variant import Objection, PlainScore, Support, VariantColumn, VariantSummary, points

OverFolds = Literal["first", "rows", "mean", "pooled"]
"""How a measure is computed on a set in folds.

first    in the first fold only
rows     in every fold, and averaged; its interval is about test rows, and gets narrower with their number
mean     in every fold, and averaged; its interval is about something else
pooled   once on all rows, as nothing is trained
"""
MAX_MEASURE_ROWS = 10_000
"""Training rows that measures of where in the vectors a property is use at most by default. On made-up tasks, 40,000
rows give the same rank, the same number of directions by INLP, and the same difference between erased and random
directions, within 0.6 points. What counts rows or bits, or needs many rows to learn, uses all: with 10,000 of them, the
bits that are added to the length differ by a fifth."""
SUBSAMPLED = f"It uses at most {MAX_MEASURE_ROWS:,} training rows by default."
"""What the interpretation of such a measure says about it."""


def classifies_sentences(splits: Splits) -> bool:
    """Whether a set is classified by its sentences alone: pairs and word inputs have other vectors."""
    return has_train_test_split(splits) and not splits.train.inputs


def plain_probe(job: FitJob, train: Features, dev: Features) -> tuple[float, Linear]:
    """The penalty of the plain linear probe, and the probe; if there is none, it is fitted to the same last bit.

    For a measure that uses some of the training rows only, it is fitted on these.
    """

    def make() -> tuple[float, Linear]:
        splits, plain = job.splits, job.plain
        all_rows = plain is not None and len(splits.train) == len(plain.splits.train)
        model = plain.model() if plain is not None and all_rows else None
        if plain is not None and plain.l2 is not None and isinstance(model, Linear):
            return plain.l2, model
        (fitted,) = fit(
            job.probe,
            train,
            splits.train.labels,
            dev,
            splits.dev.labels,
            len(splits.labels),
            device=job.cells[0].device,
        )
        rounded = from_arrays(saved_arrays(fitted.model, train))
        assert isinstance(rounded, Linear)
        return float(fitted.chosen["l2"]), rounded

    return shared(job, "plain", 8 * train.shape[1] * len(job.splits.labels), make)


def moments_of(job: FitJob, train: Features) -> VectorMoments:
    """Mean and covariances of the training vectors of a set, with the maps derived from them."""
    return shared(job, "moments", 24 * train.shape[1] ** 2, partial(VectorMoments.of, train))


def rows_of(job: FitJob, train: Features) -> StandardisedRows:
    """The training rows of a set, as probes on erased vectors read them."""
    labels, classes = job.splits.train.labels, len(job.splits.labels)
    size = 4 * math.prod(train.shape)
    size = size if size <= MAX_CACHED_BYTES else 0  # larger ones are not cached
    return shared(job, "rows", size, lambda: StandardisedRows.of(train, labels, classes, moments_of(job, train)))


def empty_result(cell: Cell, splits: Splits) -> Result:
    """A result to be filled in by a measure that is not an accuracy."""
    return Result(
        key=cell.key,
        cell=cell,
        language=splits.language,
        labels=splits.labels,
        n=splits.sizes,
        trained_on=splits.trained_on,
        chosen_on=splits.chosen_on,
        score=0.0,
        interval=(0.0, 0.0),
        versions=versions(),
        synthetic=splits.synthetic,
        split=splits.split,
        merged_labels=splits.merged_labels,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure, computed from the vectors of a set by ``compute``.

    Parameters
    ----------
    name
        As in ``sentprobe run --measures NAME``.
    interpretation
        How to read its value, in a sentence or two.
    order
        Its position among the measures.
    version
        Raise it whenever its results change: a resumed run computes them again. From 2 on it is in the signature.
    columns
        Its columns in tables.
    applies_to
        Whether it applies to a set.
    compute
        Returns its results, one per cell of the job, each with arrays to save.
    given
        The encoder, or several, that the measure is conditional on.
    erases
        Whether it has one cell per set whose property is erased.
    all_layers
        Whether it uses all layers together.
    over_folds
        How it is computed on a set in folds.
    max_rows
        Training rows that it uses at most, unless the user sets another number; None: all, whatever the user sets.
    objection
        Whether its result explains the score otherwise than by what the encoder knows; None: it never does.
    support
        Whether its result shows that the vectors hold what the score does not show; None: it never does. A verdict that
        it speaks against says so.

    Examples
    --------
    >>> from sentprobe.extend import Measure, has_train_test_split
    >>> def compute(job):
    ...     ...  # a Result for each of job.cells, with arrays to save
    >>> Measure(name="centroid", interpretation="Accuracy of the nearest class centroid.",
    ...         applies_to=has_train_test_split, compute=compute)
    Measure('centroid')
    """

    name: str
    interpretation: str
    order: int = 1000
    version: int = 1
    columns: tuple[VariantColumn, ...] = (VariantColumn(("{name}",), points),)
    applies_to: Callable[[Splits], bool]
    compute: Callable[[FitJob], list[Finished]]
    given: str | tuple[str, ...] | None = None
    erases: bool = False
    all_layers: bool = False
    over_folds: OverFolds = "first"
    max_rows: int | None = None
    objection: Callable[[VariantSummary, PlainScore], Objection | None] | None = None
    support: Callable[[VariantSummary, PlainScore], Support | None] | None = None

    __repr__ = part_repr


MEASURES = Kind("measure", "sentprobe.run.measures", Measure)
"""All measures by name; other packages offer theirs as entry points of the group ``sentprobe.measures``."""
