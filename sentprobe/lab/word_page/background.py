"""The neighbour means of CSLS, computed in the background: of large vocabularies they take minutes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sentprobe.core.formatting import WHOLE_POINTS
from sentprobe.errors import describe_error
from sentprobe.lab.alignment.maps import MappedRows
from sentprobe.lab.alignment.retrieval import Means, neighbour_means
from sentprobe.lab.alignment.space import Matrix, Rows
from sentprobe.lab.word_page.view import View, ViewSide

REPORT_SECONDS = 15.0
"""Between two lines about the progress."""

Report = Callable[[str], None]
"""Called with a line for the console."""


@dataclass(frozen=True)
class MeansState:
    """How far the neighbour means of a map are."""

    state: Literal["ready", "computing", "waiting", "failed"]
    share: float = 0.0
    """How much of it is done."""
    error: str | None = None


class BackgroundMeans:
    """The neighbour means of each map that was requested, computed once, one map at a time, the last request first."""

    def __init__(self, view: Callable[[str], View], report: Report) -> None:
        self._view, self._report = view, report
        self._ready: dict[str, Means] = {}
        self._failed: dict[str, str] = {}
        self._waiting: list[str] = []
        self._now: str | None = None
        self._share = 0.0
        self._lock = threading.Lock()

    def of(self, name: str) -> Means | None:
        """The means of a map; None if they are not there yet, and then they will be computed."""
        with self._lock:
            if name not in self._ready and name not in self._failed and name != self._now:
                self._waiting = [*(waiting for waiting in self._waiting if waiting != name), name]
                if self._now is None:
                    self._now = self._waiting.pop()
                    threading.Thread(target=self._work, daemon=True).start()
            return self._ready.get(name)

    def state(self, name: str) -> MeansState:
        """How far those of a map are."""
        with self._lock:
            if name in self._ready:
                return MeansState("ready")
            if name in self._failed:
                return MeansState("failed", error=self._failed[name])
            return MeansState("computing", round(self._share, 3)) if name == self._now else MeansState("waiting")

    def _work(self) -> None:
        while (name := self._now) is not None:
            begun = time.monotonic()
            try:
                means = self._compute(name, self._view(name))
            except BaseException as e:  # a thread that ends silently would let the page wait forever
                self._report(f"CSLS of the map {name!r} failed: {describe_error(e)}")
                with self._lock:
                    self._failed[name] = describe_error(e)
            else:
                self._report(f"CSLS of the map {name!r}: ready after {time.monotonic() - begun:.0f} s.")
                with self._lock:
                    self._ready[name] = means
            with self._lock:
                self._now, self._share = self._waiting.pop() if self._waiting else None, 0.0

    def _compute(self, name: str, view: View) -> Means:
        source, target = _WatchedRows(view.source), _WatchedRows(view.target)
        last = time.monotonic()
        self._report(f"CSLS of the map {name!r}: comparing {len(source):,} × {len(target):,} words.")

        def tick() -> None:
            nonlocal last
            begin, end = source.latest
            self._share = (begin + (end - begin) * target.latest[1] / len(target)) / len(source)
            if time.monotonic() - last > REPORT_SECONDS:
                last = time.monotonic()
                self._report(f"CSLS of the map {name!r}: {WHOLE_POINTS.number(self._share)} %.")

        target.tick = tick
        return neighbour_means(source, target)


class _WatchedRows(MappedRows):
    """Rows that know which of them were read last, and say when."""

    def __init__(self, side: ViewSide) -> None:
        super().__init__(side.space.vectors, side.map)
        self.latest = (0, 0)
        """The first row, and the one after the last."""
        self.tick: Callable[[], None] = lambda: None

    def __getitem__(self, rows: slice | Rows) -> Matrix:
        if isinstance(rows, slice):
            begin, end, _ = rows.indices(len(self))
            self.latest = begin, end
            self.tick()
        return super().__getitem__(rows)
