"""Where fit jobs are computed: one after the other, in threads with the largest first, or on a cluster.

Jobs of one encoder may be unfinished while the next one encodes. Only the thread that submits jobs collects their
outcomes, so that it alone writes to the run. A worker of a cluster is sent the rows of a set, and reads their vectors
from the store; only vectors that are not stored are sent.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.cluster import current_cluster
from sentprobe.core.resources import single_threaded
from sentprobe.core.workers import map_in_workers
from sentprobe.encoders.batches import poll_attempts
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.store import Store
from sentprobe.results.result import Result
from sentprobe.run.job import FitJob, PlainCell, Table, TextIndex, Vectors
from sentprobe.run.scoring import PACKAGES_OF_ENCODERS, versions
from sentprobe.run.variants import compute_cells

POLL_SECONDS = 0.2
"""How often a wait is interrupted, where Ctrl-C cannot interrupt it."""

Outcome = tuple[FitJob, Any]
"""A job with its results, or with what it raised."""


class JobPool:
    """Jobs by the name of their encoder, and threads that compute them if there is more than one worker."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.unfinished: Counter[str] = Counter()
        """Jobs that are submitted and not collected, by encoder."""
        self.running: dict[int, FitJob] = {}
        """Jobs that are computed now, by thread."""
        self.on_start: Callable[[], None] = lambda: None
        """Called before a job is computed in this thread."""
        self._bytes: dict[int, dict[int, int]] = {}
        """Of each unfinished job, by its id, the sizes of its tables, by what tells these apart."""
        self._waiting: queue.PriorityQueue[tuple[float, int, FitJob | None]] = queue.PriorityQueue()
        self._finished: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._number = count()
        self._threads: list[threading.Thread] = []
        self._limits = ExitStack()

    def submit(self, jobs: Sequence[FitJob]) -> None:
        """Add jobs to be computed."""
        if not jobs:
            return
        if not self.unfinished.total():
            self._limits.enter_context(single_threaded())  # until no thread needs it: each restores the limit it had
        for job in jobs:
            self.count(job)
            self._waiting.put((-cost_of(job) if self.workers > 1 else 0, next(self._number), job))
        while self.workers > 1 and len(self._threads) < self.workers:
            thread = threading.Thread(target=self._compute, name="fit probes", daemon=True)
            self._threads.append(thread)
            thread.start()

    def count(self, job: FitJob) -> None:
        """Count a job as unfinished, and its vectors as needed."""
        self.unfinished[job.cells[0].encoder] += 1
        self._bytes[id(job)] = {_origin(table): _size(table) for table, _ in job.vectors.tables}

    @property
    def vectors_bytes(self) -> int:
        """The size of the vectors that unfinished jobs need."""
        return sum({origin: size for tables in self._bytes.values() for origin, size in tables.items()}.values())

    def outcomes(self, until: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes of jobs as they finish, until a condition holds or there are no more."""
        while self.unfinished.total() and not until():
            yield self.collected(self._next())

    def ready(self) -> Iterator[Outcome]:
        """The outcomes of jobs that have finished meanwhile."""
        while not self._finished.empty():
            yield self.collected(self._finished.get())

    def close(self) -> None:
        """Drop the jobs that were not begun, and end the threads."""
        with suppress(queue.Empty):
            while True:  # threads take some of them meanwhile
                self._waiting.get_nowait()
        for _ in self._threads:
            self._waiting.put((0, next(self._number), None))
        self._limits.close()

    def _next(self) -> Outcome:
        if self.workers == 1:
            job = self._waiting.get()[2]
            assert job is not None
            return job, self._outcome(job, self.on_start)
        while True:
            try:
                return self._finished.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue

    def collected(self, outcome: Outcome) -> Outcome:
        """An outcome, whose job is finished."""
        self.unfinished -= Counter([outcome[0].cells[0].encoder])
        self._bytes.pop(id(outcome[0]), None)
        if not self.unfinished.total():
            self._limits.close()
        if isinstance(outcome[1], KeyboardInterrupt):
            raise outcome[1]
        return outcome

    def _compute(self) -> None:
        while (job := self._waiting.get()[2]) is not None:
            self._finished.put((job, self._outcome(job)))
            del job  # or its vectors would stay in memory until there is another one

    def _outcome(self, job: FitJob, on_start: Callable[[], None] = lambda: None) -> Any:
        self.running[threading.get_ident()] = job
        on_start()
        try:
            return outcome_of(job)
        finally:
            del self.running[threading.get_ident()]


def outcome_of(job: FitJob) -> Any:
    """The results of a job, computed in one thread, or what it raised: it fails these cells, not the run."""
    try:
        with single_threaded():
            return compute_cells(job)
    except BaseException as e:  # out of memory, or no solution
        return e


def cost_of(job: FitJob) -> float:
    """Roughly how long a job takes, in arbitrary numbers: training rows × dimensions × outputs."""
    classes = len(job.splits.labels)
    return float(len(job.splits.train) * job.vectors.tables[0][0].shape[1] * (classes if classes > 2 else 1))


def _origin(table: Any) -> int:
    """What tells an array apart from others in memory: views of one layer are made for every set."""
    if isinstance(table, np.ndarray):
        return int(table.__array_interface__["data"][0])
    return id(table)


def _size(table: Any) -> int:
    """The size of an array in bytes; of a sparse one, that of its values."""
    return int(getattr(table, "nbytes", None) or table.data.nbytes)


class ClusterPool(JobPool):
    """Jobs that wait until their outcomes are collected, and are then computed on the cluster, the largest first."""

    def __init__(self, workers: int, root: Path | None) -> None:
        super().__init__(workers)
        self._root = root
        self._queued: list[tuple[FitJob, Mapping[str, str]]] = []
        """Jobs, with the versions of what their encoder has loaded."""

    def submit(self, jobs: Sequence[FitJob]) -> None:
        """Add jobs to be computed."""
        for job in jobs:
            self.count(job)
            self._queued.append((job, versions()))

    def outcomes(self, until: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes of all jobs as they finish, unless a condition holds before they are begun."""
        while self._queued and not until():
            queued = sorted(self._queued, key=lambda job_and_versions: -cost_of(job_and_versions[0]))
            self._queued = []
            calls = self._calls([job for job, _ in queued])
            for number, outcome in map_in_workers(_compute, calls, self.workers, in_order=False):
                job = self.running.pop(number)
                if isinstance(outcome, NotStored):
                    outcome = outcome_of(job)
                elif not isinstance(outcome, BaseException):
                    outcome = [(_with_versions(result, queued[number][1]), *arrays) for result, *arrays in outcome]
                yield self.collected((job, outcome))

    def _calls(self, jobs: Sequence[FitJob]) -> Iterator[tuple[int, FitJob, Path | None]]:
        for number, job in enumerate(jobs):
            self.running[number] = job
            yield number, _to_send(job, self._root), self._root

    def close(self) -> None:
        """Drop the jobs that were not begun."""
        self._queued = []


def _with_versions(result: Result, loaded: Mapping[str, str]) -> Result:
    """A result with the versions of what the encoder has loaded here; a worker may have loaded other encoders."""
    of_encoder = () if result.cell.device else PACKAGES_OF_ENCODERS
    versions = {name: version for name, version in result.versions.items() if name not in of_encoder}
    return replace(result, versions={**versions, **{name: loaded[name] for name in of_encoder if name in loaded}})


def pool_for(workers: int, store: Store | None) -> JobPool:
    """Where jobs are computed: here, or on the cluster that was joined."""
    if current_cluster() is None:
        return JobPool(workers)
    return ClusterPool(workers, None if store is None else store.root)


@dataclass(frozen=True)
class NotStored:
    """In place of results: vectors that should be in the store are not, and the job has to be computed elsewhere."""


@dataclass(frozen=True)
class _InStore:
    """In place of a table: where its rows are."""

    identity: Identity


def _to_send(job: FitJob, root: Path | None) -> FitJob:
    """A job with the vectors of its own texts only, or where they are stored."""
    plain = job.plain
    columns = [*job.splits.columns()]
    if plain is not None:
        columns += [*plain.splits.columns(), *(splits.train.texts for splits in plain.erased_sets)]
    texts = list(dict.fromkeys(text for column in columns for text in column))
    reduced = partial(_reduced, texts=texts, root=root)
    if plain is not None:
        layers = plain.layers if plain.layer is None else {}  # else the measure is about one layer
        plain = replace(
            plain,
            layers={name: reduced(vectors) for name, vectors in layers.items()},
            given_vectors=tuple(map(reduced, plain.given_vectors)),
            model=partial(_identity, plain.model()),
        )
    return replace(job, vectors=reduced(job.vectors), plain=plain)


def _reduced(vectors: Vectors, texts: Sequence[str], root: Path | None) -> Vectors:
    """The vectors of these texts only; of those that are stored, where they are."""
    tables: list[Table] = []
    for (table, index), identity in zip(vectors.tables, vectors.stored or [None] * len(vectors.tables), strict=True):
        in_table = [text for text in texts if text in index]
        is_stored = root is not None and identity is not None
        rows = _InStore(identity) if is_stored and identity else table[index.of(in_table)]
        tables.append((rows, TextIndex(in_table)))
    return replace(vectors, tables=tables)


def _identity(value: Any) -> Any:
    return value


def _compute(number: int, job: FitJob, root: Path | None) -> tuple[int, Any]:
    """Compute a job on a worker."""
    read = partial(_with_vectors, root=root)
    try:
        plain: PlainCell | None = job.plain
        if plain is not None:
            layers = {name: read(vectors) for name, vectors in plain.layers.items()}
            plain = replace(plain, layers=layers, given_vectors=tuple(map(read, plain.given_vectors)))
        job = replace(job, vectors=read(job.vectors), plain=plain)
    except LookupError:
        return number, NotStored()
    return number, outcome_of(job)


def _with_vectors(vectors: Vectors, root: Path | None) -> Vectors:
    """The vectors with those that are stored read from the store; LookupError if they are not there."""
    tables: list[Table] = []
    for table, index in vectors.tables:
        if isinstance(table, _InStore) and root is not None:
            tables.append((_read(_store(root), table.identity, list(index)), index))
        else:
            tables.append((table, index))
    return replace(vectors, tables=tables)


def _read(store: Store, identity: Identity, texts: Sequence[str]) -> Any:
    for _ in poll_attempts():
        is_stored, rows = store.read(identity, texts)
        if is_stored.all():
            return rows
    raise LookupError(identity)


@lru_cache(maxsize=1)
def _store(root: Path) -> Store:
    return Store(root)
