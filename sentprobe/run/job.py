"""A fit job: cells that are fitted together, with the rows of their set, the vectors of its texts, and a probe.

    texts ──encode──▶ EmbeddingPool ──▶ Vectors (one layer) ──features_of──▶ Features (rows, d) of a split

Vectors stay in the tables they were encoded in and are never copied; a split reads its rows of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import Split, Splits, cluster_ids
from sentprobe.encoders.embed import Embeddings
from sentprobe.encoders.identity import Identity
from sentprobe.errors import ShapeError
from sentprobe.probes import Features, Model, Probe
from sentprobe.probes.convex import TrainingStatistics
from sentprobe.probes.features import dense
from sentprobe.results.result import Cell, Result
from sentprobe.transfer.pairs import PAIR_FEATURES, TASK_PAIRS, pair_features

T = TypeVar("T")
Ints = npt.NDArray[np.int64]

MAX_CACHE_BYTES = 2**28
"""Size of the cache of what can be computed again."""


class TextIndex(dict[str, int]):
    """The row of each text in a table. Each column is looked up once."""

    def __init__(self, texts: Iterable[str]) -> None:
        super().__init__((text, i) for i, text in enumerate(texts))
        self._columns: dict[int, tuple[Sequence[str], Ints]] = {}

    def __reduce__(self) -> tuple[type[TextIndex], tuple[list[str]]]:
        return TextIndex, (list(self),)  # in another process, columns have other ids

    def of(self, column: Sequence[str]) -> Ints:
        """The rows of texts; KeyError if one of them is missing."""
        # the column is kept alive, so that no other one can have its id
        cached = self._columns.get(id(column))
        if cached is None:
            cached = column, np.fromiter(map(self.__getitem__, column), np.int64, len(column))
            self._columns[id(column)] = cached
        return cached[1]

    def has(self, column: Sequence[str]) -> bool:
        """Whether all texts of a column are in the table."""
        try:
            self.of(column)
        except KeyError:
            return False
        return True


Table = tuple[Any, TextIndex]
"""Vectors (texts, d), an array of numpy or a sparse one of scipy, and the row of each text."""


@dataclass(frozen=True)
class EmbeddingPool:
    """Vectors of texts, in tables as they were encoded; no vectors are copied."""

    tables: tuple[tuple[Embeddings, TextIndex], ...] = ()
    """Each with the rows of its texts; if a text is in several, the first counts."""

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers, if there are several."""
        return self.tables[0][0].layers if self.tables else ()

    def plus(self, table: Embeddings) -> EmbeddingPool:
        """The pool with another table."""
        for first, _ in self.tables[:1]:
            expected, got = (np.delete(t.vectors.shape, -2).tolist() for t in (first, table))
            if expected != got:
                raise ShapeError(
                    f"Expected vectors of shape {expected} (layers, dimension), as before; got {got} for "
                    f"{table.texts[0][:60]!r}."
                )
        return EmbeddingPool((*self.tables, (table, TextIndex(table.texts))))

    def missing(self, columns: Sequence[Sequence[str]]) -> list[str]:
        """The distinct texts of columns that have no vectors, in order."""
        candidates: dict[str, None] = {}
        for column in columns:
            if not any(index.has(column) for _, index in self.tables):
                candidates |= dict.fromkeys(column)
        texts = list(candidates)
        for _, index in self.tables:
            texts = [text for text in texts if text not in index]
        return texts

    def seconds(self, columns: Sequence[Sequence[str]]) -> float:
        """The time it took to encode the distinct texts of columns."""
        for table, index in self.tables:
            if all(map(index.has, columns)):
                return table.seconds * len(np.unique(np.concatenate([*map(index.of, columns)]))) / len(table.texts)
        texts, spent = list(dict.fromkeys(text for column in columns for text in column)), 0.0
        for table, index in self.tables:
            remaining = [text for text in texts if text not in index]
            spent += table.seconds * (len(texts) - len(remaining)) / max(1, len(table.texts))
            texts = remaining
        return spent


@dataclass(frozen=True)
class Vectors:
    """The vectors of one layer."""

    tables: Sequence[Table]
    words: Sequence[Table] = ()
    """The encoder's own word vectors, if it has any."""
    stored: Sequence[Identity | None] = ()
    """What each table is stored as, if it is."""

    def features(self, split: Split) -> Features:
        """The input of a probe: the vector of the sentence and those of further inputs, concatenated."""
        columns = [_column(self.tables, split.texts)]
        columns += [_column(self.words or self.tables, values) for values in split.inputs.values()]
        tables, rows = zip(*columns, strict=True)
        return Features(tables, rows)

    def rows(self, texts: Sequence[str]) -> npt.NDArray[Any]:
        """The vectors (n, d) of texts, as a copy."""
        for table, index in self.tables:
            if index.has(texts):
                return dense(table[index.of(texts)])
        first = self.tables[0][0]
        vectors = np.empty((len(texts), first.shape[1]), first.dtype)
        missing = np.ones(len(texts), bool)
        for table, index in self.tables:
            rows = np.array([index.get(text, -1) for text in texts], np.int64)
            new = missing & (rows >= 0)
            vectors[new] = dense(table[rows[new]])
            missing &= ~new
        return vectors


def _column(tables: Sequence[Table], column: Sequence[str]) -> tuple[Any, Ints]:
    """A table that has all texts of a column, and their rows in it; if none has all, a copy of their vectors."""
    for table, index in tables:
        if index.has(column):
            return table, index.of(column)
    return Vectors(tables).rows(column), np.arange(len(column))


class SharedCache:
    """Values by name, computed on first use; safe for threads."""

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._values: dict[Hashable, tuple[int, object]] = {}
        self._locks: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[SharedCache], tuple[int]]:
        return SharedCache, (self._max_bytes,)  # in another process, an empty one

    def get(self, name: Hashable, size: int, make: Callable[[], T]) -> T:
        """The value of this name, or else that of ``make``, of about ``size`` bytes.

        The least recently used values are dropped when the cache is full.
        """
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:  # one thread computes it, the others wait
            with self._lock:
                cached = self._values.pop(name, None)
                if cached is not None:
                    self._values[name] = cached  # most recently used
                    return cached[1]  # type: ignore[return-value]
            value = make()
            with self._lock:
                if size <= self._max_bytes:
                    self._values[name] = size, value
                while sum(nbytes for nbytes, _ in self._values.values()) > self._max_bytes:
                    del self._values[next(iter(self._values))]
        return value


@dataclass(frozen=True)
class FitJob:
    """Cells that are fitted together: they differ only in their seed."""

    splits: Splits
    cells: Sequence[Cell]
    probe: Probe
    """With the settings of the task."""
    vectors: Vectors
    baselines: Mapping[str, float]
    encode_seconds: float
    """The set's share of the encoding time."""
    resample: int | None = 0
    """Probes to retrain without some of the training rows; None: the default."""
    plain: PlainCell | None = None
    """For controls and measures, the plain set and result they refer to."""

    def of_fold(self, number: int) -> FitJob:
        """The job of one fold of the set, which is a set with a train, dev and test split like any other."""
        splits = replace(self.splits.folds[number], variant=self.splits.variant)
        plain = None if self.plain is None or not self.plain.splits.folds else self.plain.of_fold(number)
        return replace(self, splits=splits, plain=plain)


@dataclass(frozen=True)
class PlainCell:
    """What a control or a measure refers to: the plain set, and its result."""

    splits: Splits
    result: Result | None
    """The plain result, if there is one."""
    erased_sets: Sequence[Splits] = ()
    """For erasure, the sets whose property is erased, including this one."""
    layers: Mapping[str, Vectors] = field(default_factory=dict)
    """The vectors of all layers, for a measure across layers."""
    given_vectors: tuple[Vectors, ...] = ()
    """The vectors of other encoders, for a measure of what this one adds to them."""
    model: Callable[[], Model | None] = lambda: None
    """Loads the plain probe, if it is finished and was saved."""
    shared: SharedCache = field(default_factory=SharedCache)
    """Intermediate values that cells of the encoder share."""
    layer: str | None = None

    def of_fold(self, number: int) -> PlainCell:
        """One fold of the plain set: with the settings that were chosen in it; its probe is not saved."""
        result = self.result
        if result is not None and result.chosen_by_fold:
            result = replace(result, chosen=result.chosen_by_fold[number])
        return replace(
            self,
            splits=self.splits.folds[number],
            result=result,
            erased_sets=[erased.folds[number] if erased.folds else erased for erased in self.erased_sets],
            model=_no_model,
        )

    @property
    def l2(self) -> float | None:
        """The penalty chosen for the plain probe, if it has one."""
        return None if self.result is None else self.result.chosen.get("l2")


def _no_model() -> None:
    """The probe of a fold, which a run does not save."""


def features_of(job: FitJob, split: Split) -> Features:
    """The input of the probe: pairs of sentences combined as the probe or the task says, anything else concatenated."""
    name = pair_features(job.splits.task, job.probe.pairs)
    # the one further input of another task may be a word, which is never combined with the sentence
    if name is None or len(split.inputs) != 1 or (job.splits.task not in TASK_PAIRS and job.splits.words):
        return job.vectors.features(split)
    first, second = (
        job.vectors.features(replace(split, texts=texts, inputs={})) for texts in (split.texts, *split.inputs.values())
    )
    return PAIR_FEATURES[name](first, second)


def split_features(job: FitJob) -> tuple[Features, Features, Features]:
    """The input of the probe for the train, dev and test rows of the set."""
    train, dev, test = (features_of(job, split) for split in (job.splits.train, job.splits.dev, job.splits.test))
    return train, dev, test


def shared(job: FitJob, what: str, size: int, make: Callable[[], T]) -> T:
    """A value computed from the vectors of a set, once for all cells; ``size`` is its approximate size in bytes."""
    plain, splits = job.plain, job.splits
    if plain is None:
        return make()
    key = (what, plain.layer, splits.name, splits.digest, splits.nth_fold, len(splits.train), job.probe.pairs)
    return plain.shared.get(key, size, make)


def statistics_of(job: FitJob, train: Features) -> TrainingStatistics:
    """What fits on the same training vectors share, whatever their labels."""
    splits, d = job.splits, train.shape[1]
    make = partial(TrainingStatistics.of, train, splits.train.labels, len(splits.labels), job.cells[0].device)
    return shared(job, "statistics", 80 * d * d, make)  # including the inverses it keeps for about twenty penalties


def clusters_of(split: Split) -> list[str] | None:
    """The cluster of each row, by a shared target form or sentence; None if rows are independent."""
    return cluster_ids(split.keys, split.texts)
