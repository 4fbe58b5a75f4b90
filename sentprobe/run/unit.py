"""A unit of work: cells that are fitted together, with their set, its vectors and a probe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import Split, Splits, cluster_ids
from sentprobe.encoders.identity import Identity
from sentprobe.probes import Features, Model, Probe
from sentprobe.probes.convex import TrainingStatistics
from sentprobe.probes.features import dense
from sentprobe.results.result import Cell, Result
from sentprobe.run.shared import SharedCache, TextIndex
from sentprobe.transfer.pairs import PAIR_FEATURES, TASK_PAIRS, pair_features

Table = tuple[Any, TextIndex]
"""Vectors (texts, d), an array of numpy or a sparse one of scipy, and the row of each text."""


T = TypeVar("T")


CENTRE_ROWS = 512
"""Rows whose mean is close enough to the mean of all."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of one layer."""

    tables: Sequence[Table]
    words: Sequence[Table] = ()
    """The encoder's own word vectors, if it has any."""
    stored: Sequence[Identity | None] = ()
    """What each table is stored as, if it is."""

    def features(self, part: Split) -> Features:
        """The input of a probe: the vector of the sentence and those of further inputs, concatenated."""
        found = [_column(self.tables, part.texts)]
        found += [_column(self.words or self.tables, values) for values in part.inputs.values()]
        tables, places = zip(*found, strict=True)
        return Features(tables, places)

    def rows(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """The vectors (n, d) of texts, as a copy."""
        for table, place in self.tables:
            if place.has(texts):
                return dense(table[place.of(texts)])
        first = self.tables[0][0]
        found = np.empty((len(texts), first.shape[1]), first.dtype)
        missing = np.ones(len(texts), bool)
        for table, place in self.tables:
            here = np.array([place.get(text, -1) for text in texts], np.int64)
            new = missing & (here >= 0)
            found[new] = dense(table[here[new]])
            missing &= ~new
        return found


def _column(tables: Sequence[Table], column: Sequence[str]) -> tuple[Any, npt.NDArray[np.int64]]:
    """A table that has all texts of a column, and their rows in it; if none has all, a copy of their vectors."""
    for table, place in tables:
        if place.has(column):
            return table, place.of(column)
    return Vectors(tables).rows(column), np.arange(len(column))


@dataclass(frozen=True)
class Unit:
    """Cells that are fitted together: they differ only in their seed."""

    parts: Splits
    cells: Sequence[Cell]
    probe: Probe
    """With the settings of the task."""
    vectors: Vectors
    baselines: Mapping[str, float]
    encode_seconds: float
    """The set's share of the encoding time."""
    resample: int | None = 0
    """Probes to retrain without some of the training rows; None: the default."""
    plain: Plain | None = None
    """For controls and measures, the plain set and result they refer to."""


@dataclass(frozen=True)
class Plain:
    """What a control or a measure refers to: the plain set, and its result."""

    parts: Splits
    result: Result | None
    """The plain result, if there is one."""
    others: Sequence[Splits] = ()
    """All sets that the encoder is probed on, including this one."""
    layers: Mapping[str, Vectors] = field(default_factory=dict)
    """The vectors of all layers, for a measure across layers."""
    given: tuple[Vectors, ...] = ()
    """The vectors of other encoders, for a measure of what this one adds to them."""
    model: Callable[[], Model | None] = lambda: None
    """Loads the plain probe, if it is finished and was saved."""
    shared: SharedCache = field(default_factory=SharedCache)
    """Intermediate values that cells of the encoder share."""
    layer: str | None = None

    @property
    def l2(self) -> float | None:
        """The penalty chosen for the plain probe, if it has one."""
        return None if self.result is None else self.result.chosen.get("l2")


def features_of(unit: Unit, part: Split) -> Features:
    """The input of the probe: pairs of sentences combined as the probe or the task says, anything else concatenated."""
    name = pair_features(unit.parts.task, unit.probe.pairs)
    # the one further input of another task may be a word, which is never combined with the sentence
    if name is None or len(part.inputs) != 1 or (unit.parts.task not in TASK_PAIRS and unit.parts.words):
        return unit.vectors.features(part)
    one, two = (unit.vectors.features(replace(part, texts=t, inputs={})) for t in (part.texts, *part.inputs.values()))
    return PAIR_FEATURES[name](one, two)


def shared(unit: Unit, what: str, size: int, make: Callable[[], T]) -> T:
    """A value computed from the vectors of a set, once for all cells; ``size`` is its approximate size in bytes."""
    plain, parts = unit.plain, unit.parts
    if plain is None:
        return make()
    key = (what, plain.layer, parts.name, parts.digest, len(parts.train), unit.probe.pairs)
    return plain.shared.get(key, size, make)


def statistics_of(unit: Unit, train: Features) -> TrainingStatistics:
    """What fits on the same training vectors share, whatever their labels."""
    parts, d = unit.parts, train.shape[1]
    make = partial(TrainingStatistics.of, train, parts.train.labels, len(parts.labels), unit.cells[0].device)
    return shared(unit, "ground", 80 * d * d, make)  # including the inverses it keeps for about twenty penalties


def clusters_of(part: Split) -> list[str] | None:
    """The cluster of each row, by a shared target form or sentence; None if rows are independent."""
    return cluster_ids(part.keys, part.texts)
