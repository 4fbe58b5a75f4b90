"""What one piece of work needs: cells to fill, a set, its vectors and a probe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sonde.probes import Features, Model, Probe
from sonde.probes.convex import TrainingStatistics
from sonde.result import Cell, Result
from sonde.run.parts import Part, Parts, cluster_ids
from sonde.run.shared import SharedCache, TextIndex
from sonde.transfer.pairs import compare, juxtapose

Table = tuple[npt.NDArray[Any], TextIndex]
"""Vectors (texts, d), and where each text's are."""


T = TypeVar("T")


PAIRS = {
    **dict.fromkeys(("MRPC", "SICKEntailment", "SICKRelatedness", "STSBenchmark", "STSBenchmark-fix"), compare),
    **dict.fromkeys(("SNLI", "XNLI", "CDSEntailment"), juxtapose),
    "CDSRelatedness": compare,
}
"""What the probe reads of two sentences, by task."""


CENTRE_ROWS = 512
"""Rows whose mean is near enough to the centre of all."""


@dataclass(frozen=True)
class Vectors:
    """The vectors of one layer."""

    tables: Sequence[Table]
    words: Sequence[Table] = ()
    """Vectors of words as the encoder has them itself, if it does."""

    def features(self, part: Part) -> Features:
        """What a probe reads: the sentence's vector and those of further inputs, side by side."""
        found = [_column(self.tables, part.texts)]
        found += [_column(self.words or self.tables, values) for values in part.inputs.values()]
        tables, places = zip(*found, strict=True)
        return Features(tables, places)

    def rows(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """The vectors (n, d) of texts, as a copy."""
        for table, place in self.tables:
            if all(map(place.__contains__, texts)):
                copied: npt.NDArray[Any] = table[np.fromiter(map(place.__getitem__, texts), np.int64, len(texts))]
                return copied
        first = self.tables[0][0]
        found = np.empty((len(texts), first.shape[1]), first.dtype)
        missing = np.ones(len(texts), bool)
        for table, place in self.tables:
            here = np.array([place.get(text, -1) for text in texts], np.int64)
            new = missing & (here >= 0)
            found[new] = table[here[new]]
            missing &= ~new
        return found


def _column(tables: Sequence[Table], column: Sequence[str]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """A table that has all texts of a column, and their places in it; where none has all, a copy of their vectors."""
    for table, place in tables:
        if place.has(column):
            return table, place.of(column)
    return Vectors(tables).rows(column), np.arange(len(column))


@dataclass(frozen=True)
class Unit:
    """Cells that are fitted together: they differ in their seed only."""

    parts: Parts
    cells: Sequence[Cell]
    probe: Probe
    """As used for the task."""
    vectors: Vectors
    baselines: Mapping[str, float]
    encode_seconds: float
    """The set's share of the time the encoder took."""
    resample: int | None = 0
    """Probes to train again without parts of the training rows; None: as many as is usual."""
    plain: Plain | None = None
    """Of controls and measures, what they are to be read beside."""


@dataclass(frozen=True)
class Plain:
    """What a control or a measure is about."""

    parts: Parts
    result: Result | None
    """The plain result, if it is there."""
    others: Sequence[Parts] = ()
    """All sets that the encoder is probed on, this one included."""
    layers: Mapping[str, Vectors] = field(default_factory=dict)
    """The vectors of all layers, of a measure across layers."""
    given: Vectors | None = None
    """The vectors of another encoder, of a measure of what this one adds to it."""
    model: Callable[[], Model | None] = lambda: None
    """The plain probe, if it is done and was kept."""
    shared: SharedCache = field(default_factory=SharedCache)
    """What cells of the encoder have in common."""
    layer: str | None = None

    @property
    def l2(self) -> float | None:
        """The penalty that was chosen for the plain probe, if it is one with penalties."""
        return None if self.result is None else self.result.chosen.get("l2")


def features_of(unit: Unit, part: Part) -> Features:
    """What the probe reads of a part: pairs of sentences as SentEval puts them together, all else side by side."""
    combine = PAIRS.get(unit.parts.task)
    if combine is None or not part.inputs:
        return unit.vectors.features(part)
    one, two = (unit.vectors.features(replace(part, texts=t, inputs={})) for t in (part.texts, *part.inputs.values()))
    return combine(one, two)


def shared(unit: Unit, what: str, size: int, make: Callable[[], T]) -> T:
    """Something that follows from the vectors of a set, made once for all cells; about so many bytes."""
    plain, parts = unit.plain, unit.parts
    return make() if plain is None else plain.shared.get((what, plain.layer, parts.name, parts.digest), size, make)


def statistics_of(unit: Unit, train: Features) -> TrainingStatistics:
    """What fits on the training rows of a set share, whatever their labels."""
    parts, d = unit.parts, train.shape[1]
    make = partial(TrainingStatistics.of, train, parts.train.labels, len(parts.labels), unit.cells[0].device)
    return shared(unit, "ground", 80 * d * d, make)  # with the inverses of some twenty penalties, which it keeps


def clusters_of(part: Part) -> list[str] | None:
    """What rows of a part share, by which they stand and fall together."""
    return cluster_ids(part.keys, part.texts)
