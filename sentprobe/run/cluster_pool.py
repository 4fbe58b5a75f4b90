"""The units of a run on the workers of a cluster; the process that submits them collects and writes their results.

A worker is sent the rows of a set, and reads their vectors from the store; only vectors that are not stored are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from sentprobe.core.cluster import current_cluster
from sentprobe.core.workers import map_in_workers
from sentprobe.encoders.batches import poll_attempts
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.store import Store
from sentprobe.results.result import Result
from sentprobe.run.pool import Outcome, UnitPool, attempt, cost_of
from sentprobe.run.scoring import PACKAGES_OF_ENCODERS, versions
from sentprobe.run.shared import TextIndex
from sentprobe.run.unit import Plain, Table, Unit, Vectors


class ClusterPool(UnitPool):
    """Units that wait until their outcomes are collected, and are then computed on the cluster, the largest first."""

    def __init__(self, jobs: int, root: Path | None) -> None:
        super().__init__(jobs)
        self._root = root
        self._queued: list[tuple[Unit, Mapping[str, str]]] = []
        """Units, with the versions of what their encoder has loaded."""

    def submit(self, units: Sequence[Unit]) -> None:
        """Add units to be computed."""
        for unit in units:
            self.count(unit)
            self._queued.append((unit, versions()))

    def outcomes(self, until: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes of all units as they finish, unless a condition holds before they are begun."""
        while self._queued and not until():
            queued = sorted(self._queued, key=lambda each: -cost_of(each[0]))
            self._queued = []
            calls = self._calls([unit for unit, _ in queued])
            for number, outcome in map_in_workers(_compute, calls, self.jobs, in_order=False):
                unit = self.running.pop(number)
                if isinstance(outcome, NotStored):
                    outcome = attempt(unit)
                elif not isinstance(outcome, BaseException):
                    outcome = [(_with_versions(result, queued[number][1]), *arrays) for result, *arrays in outcome]
                yield self.collected((unit, outcome))

    def _calls(self, units: Sequence[Unit]) -> Iterator[tuple[int, Unit, Path | None]]:
        for number, unit in enumerate(units):
            self.running[number] = unit
            yield number, _to_send(unit, self._root), self._root

    def close(self) -> None:
        """Drop the units that were not begun."""
        self._queued = []


def _with_versions(result: Result, loaded: Mapping[str, str]) -> Result:
    """A result with the versions of what the encoder has loaded here; a worker may have loaded other encoders."""
    of_encoder = () if result.cell.device else PACKAGES_OF_ENCODERS
    own = {name: version for name, version in result.versions.items() if name not in of_encoder}
    return replace(result, versions={**own, **{name: loaded[name] for name in of_encoder if name in loaded}})


def pool_for(jobs: int, store: Store | None) -> UnitPool:
    """Where units are computed: here, or on the cluster that was joined."""
    return UnitPool(jobs) if current_cluster() is None else ClusterPool(jobs, None if store is None else store.root)


@dataclass(frozen=True)
class NotStored:
    """In place of results: vectors that should be in the store are not, and the unit has to be computed elsewhere."""


@dataclass(frozen=True)
class _InStore:
    """In place of a table: where its rows are."""

    identity: Identity


def _to_send(unit: Unit, root: Path | None) -> Unit:
    """A unit with the vectors of its own texts only, or where they are stored."""
    plain = unit.plain
    every = [*unit.parts.columns()]
    if plain is not None:
        every += [*plain.parts.columns(), *(other.train.texts for other in plain.others)]
    texts = list(dict.fromkeys(text for column in every for text in column))
    small = partial(_small, texts=texts, root=root)
    if plain is not None:
        layers = plain.layers if plain.layer is None else {}  # else the measure is about one layer
        plain = replace(
            plain,
            layers={name: small(vectors) for name, vectors in layers.items()},
            given=tuple(map(small, plain.given)),
            model=partial(_itself, plain.model()),
        )
    return replace(unit, vectors=small(unit.vectors), plain=plain)


def _small(vectors: Vectors, texts: Sequence[str], root: Path | None) -> Vectors:
    tables: list[Table] = []
    for (table, place), identity in zip(vectors.tables, vectors.stored or [None] * len(vectors.tables), strict=True):
        own = [text for text in texts if text in place]
        stored = root is not None and identity is not None
        tables.append((_InStore(identity) if stored and identity else table[place.of(own)], TextIndex(own)))
    return replace(vectors, tables=tables)


def _itself(value: Any) -> Any:
    return value


def _compute(number: int, unit: Unit, root: Path | None) -> tuple[int, Any]:
    """Compute a unit on a worker."""
    read = partial(_with_vectors, root=root)
    try:
        plain: Plain | None = unit.plain
        if plain is not None:
            layers = {name: read(vectors) for name, vectors in plain.layers.items()}
            plain = replace(plain, layers=layers, given=tuple(map(read, plain.given)))
        unit = replace(unit, vectors=read(unit.vectors), plain=plain)
    except LookupError:
        return number, NotStored()
    return number, attempt(unit)


def _with_vectors(vectors: Vectors, root: Path | None) -> Vectors:
    tables: list[Table] = []
    for table, place in vectors.tables:
        if isinstance(table, _InStore) and root is not None:
            tables.append((_read(_store(root), table.identity, list(place)), place))
        else:
            tables.append((table, place))
    return replace(vectors, tables=tables)


def _read(store: Store, identity: Identity, texts: Sequence[str]) -> Any:
    for _ in poll_attempts():
        found, rows = store.read(identity, texts)
        if found.all():
            return rows
    raise LookupError(identity)


@lru_cache(maxsize=1)
def _store(root: Path) -> Store:
    return Store(root)
