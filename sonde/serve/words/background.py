"""The neighbour means of CSLS, computed in the background: of large vocabularies they take minutes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from sonde.alignment.retrieval import Means, neighbour_means
from sonde.console import printable
from sonde.errors import describe_error
from sonde.serve.words.view import View

Report = Callable[[str], None]
"""Called with a line for the console."""


@dataclass(frozen=True)
class MeansState:
    """How far the neighbour means of a map are."""

    state: str
    """``ready``, ``computing``, ``waiting`` or ``failed``."""
    seconds: float = 0.0
    """Since it was begun."""
    error: str | None = None


class BackgroundMeans:
    """The neighbour means of each map that was asked for, computed once, one map at a time, the last request first."""

    def __init__(self, view: Callable[[str], View], report: Report) -> None:
        self._view, self._report = view, report
        self._ready: dict[str, Means] = {}
        self._failed: dict[str, str] = {}
        self._waiting: list[str] = []
        self._now: tuple[str, float] | None = None
        self._lock = threading.Lock()

    def of(self, name: str) -> Means | None:
        """The means of a map; None if they are not there yet, and then they will be computed."""
        with self._lock:
            if name in self._ready:
                return self._ready[name]
            if name not in self._failed and (self._now is None or self._now[0] != name):
                self._waiting = [*(other for other in self._waiting if other != name), name]
                if self._now is None:
                    self._now = self._next()
                    threading.Thread(target=self._work, daemon=True).start()
            return None

    def state(self, name: str) -> MeansState:
        """How far those of a map are."""
        with self._lock:
            if name in self._ready:
                return MeansState("ready")
            if name in self._failed:
                return MeansState("failed", error=self._failed[name])
            if self._now is not None and self._now[0] == name:
                return MeansState("computing", round(time.monotonic() - self._now[1], 1))
            return MeansState("waiting")

    def _next(self) -> tuple[str, float] | None:
        return (self._waiting.pop(), time.monotonic()) if self._waiting else None

    def _work(self) -> None:
        while self._now is not None:
            name, begun = self._now
            try:
                view = self._view(name)
                one, two = view.source.rows(), view.target.rows()
                self._report(f"Computing neighbours for CSLS ({printable(name)}, {len(one):,} × {len(two):,} words).")
                found = neighbour_means(one, two)
            except BaseException as e:  # a thread that ends silently would let the page wait forever
                self._end(name, error=describe_error(e))
                self._report(f"CSLS is not available for {printable(name)}: {describe_error(e)}")
            else:
                self._end(name, found)
                self._report(f"CSLS is ready for {printable(name)} after {time.monotonic() - begun:.0f} s.")

    def _end(self, name: str, found: Means | None = None, error: str = "") -> None:
        with self._lock:
            if found is None:
                self._failed[name] = error
            else:
                self._ready[name] = found
            self._now = self._next()
