"""The units of a run, computed one after the other, or in threads with the largest first.

Units of one encoder may be unfinished while the next one encodes. Only the thread that submits units collects their
outcomes, so that it alone writes to the run.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from typing import Any

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.run.unit import Unit
from sentprobe.run.variants import worker_for

POLL_SECONDS = 0.2
"""How often a wait is interrupted, where Ctrl-C cannot interrupt it."""

Outcome = tuple[Unit, Any]
"""A unit with its results, or with what it raised."""


class UnitPool:
    """Units by the name of their encoder, and threads that compute them if there is more than one job."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.unfinished: Counter[str] = Counter()
        """Units that are submitted and not collected, by encoder."""
        self.running: dict[int, Unit] = {}
        """Units that are computed now, by thread."""
        self.on_start: Callable[[], None] = lambda: None
        """Called before a unit is computed in this thread."""
        self._bytes: dict[int, dict[int, int]] = {}
        """Of each unfinished unit, by its id, the sizes of its tables, by what tells these apart."""
        self._waiting: queue.PriorityQueue[tuple[float, int, Unit | None]] = queue.PriorityQueue()
        self._finished: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._number = count()
        self._threads: list[threading.Thread] = []
        self._limits = ExitStack()

    def submit(self, units: Sequence[Unit]) -> None:
        """Add units to be computed."""
        if not units:
            return
        if not self.unfinished.total():
            self._limits.enter_context(single_threaded())  # until no thread needs it: each restores what it found
        for unit in units:
            self.count(unit)
            self._waiting.put((-cost_of(unit) if self.jobs > 1 else 0, next(self._number), unit))
        while self.jobs > 1 and len(self._threads) < self.jobs:
            thread = threading.Thread(target=self._compute, name="fit probes", daemon=True)
            self._threads.append(thread)
            thread.start()

    def count(self, unit: Unit) -> None:
        """Count a unit as unfinished, and its vectors as needed."""
        self.unfinished[unit.cells[0].encoder] += 1
        self._bytes[id(unit)] = {_origin(table): _size(table) for table, _ in unit.vectors.tables}

    @property
    def vectors_bytes(self) -> int:
        """The size of the vectors that unfinished units need."""
        return sum({origin: size for tables in self._bytes.values() for origin, size in tables.items()}.values())

    def outcomes(self, until: Callable[[], bool]) -> Iterator[Outcome]:
        """The outcomes of units as they finish, until a condition holds or there are no more."""
        while self.unfinished.total() and not until():
            yield self.collected(self._next())

    def ready(self) -> Iterator[Outcome]:
        """The outcomes of units that are finished by now."""
        while not self._finished.empty():
            yield self.collected(self._finished.get())

    def close(self) -> None:
        """Drop the units that were not begun, and end the threads."""
        with suppress(queue.Empty):
            while True:  # threads take some of them meanwhile
                self._waiting.get_nowait()
        for _ in self._threads:
            self._waiting.put((0, next(self._number), None))
        self._limits.close()

    def _next(self) -> Outcome:
        if self.jobs == 1:
            unit = self._waiting.get()[2]
            assert unit is not None
            return unit, self._attempt(unit, self.on_start)
        while True:
            try:
                return self._finished.get(timeout=POLL_SECONDS)
            except queue.Empty:
                continue

    def collected(self, outcome: Outcome) -> Outcome:
        """An outcome, whose unit is finished."""
        self.unfinished -= Counter([outcome[0].cells[0].encoder])
        self._bytes.pop(id(outcome[0]), None)
        if not self.unfinished.total():
            self._limits.close()
        if isinstance(outcome[1], KeyboardInterrupt):
            raise outcome[1]
        return outcome

    def _compute(self) -> None:
        while (unit := self._waiting.get()[2]) is not None:
            self._finished.put((unit, self._attempt(unit)))
            del unit  # or its vectors would stay in memory until there is another one

    def _attempt(self, unit: Unit, on_start: Callable[[], None] = lambda: None) -> Any:
        self.running[threading.get_ident()] = unit
        on_start()
        try:
            return attempt(unit)
        finally:
            del self.running[threading.get_ident()]


def attempt(unit: Unit) -> Any:
    """The results of a unit, computed in one thread, or what it raised: it fails these cells, not the run."""
    try:
        with single_threaded():
            return worker_for(unit)(unit)
    except BaseException as e:  # out of memory, or no solution
        return e


def cost_of(unit: Unit) -> float:
    """Roughly how long a unit takes, in any unit: training rows × dimensions × outputs."""
    classes = len(unit.parts.labels)
    return float(len(unit.parts.train) * unit.vectors.tables[0][0].shape[1] * (classes if classes > 2 else 1))


def _origin(table: Any) -> int:
    """What tells an array apart from others in memory: views of one layer are made for every set."""
    if isinstance(table, np.ndarray):
        return int(table.__array_interface__["data"][0])
    return id(table)


def _size(table: Any) -> int:
    """The size of an array in bytes; of a sparse one, that of its values."""
    return int(getattr(table, "nbytes", None) or table.data.nbytes)
