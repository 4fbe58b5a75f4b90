"""How far a run is: its cells by encoder, what is in work, and how long the rest takes by what was measured."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from sentprobe.core.arguments import Progress
from sentprobe.core.formatting import duration

if TYPE_CHECKING:
    from sentprobe.results.result import Cell
    from sentprobe.results.run_status import StatusFile
    from sentprobe.run.job import FitJob

Kind = tuple[str, str | None, str | None]
"""Cells that cost about the same: of one set, with one variant and one probe."""
MIN_MEASURED_CELLS = 3
"""Of fewer cells, nothing is said about the rest."""
CHEAP_SCHEME = "baseline:"
"""Encoders that take no time, and need not be measured first."""


class RunProgress:
    """How many cells a run has and has finished, by encoder, and whom to report that to.

    Cells that failed count as finished. How many layers an encoder has is known when it is loaded, so that the number
    of all cells may change.

    Cells of one set cost the same again with the next layer, seed or encoder, and those of another set or of a control
    do not: the time left is that of what was measured, cell by cell. What an encoder costs that has not begun is not
    known, so that as long as there is one, the time is a lower bound.
    """

    def __init__(
        self,
        progress: Progress | None,
        aliases: Mapping[str, str] | None = None,
        workers: int = 1,
        status: StatusFile | None = None,
    ) -> None:
        self.progress, self.status = progress, status
        self.aliases = aliases or {}
        self.workers = workers
        self.total: dict[str, int] = {}
        self.unfinished: dict[str, Counter[Kind]] = {}
        self._encoded: set[str] = set()
        self._seconds: Counter[Kind] = Counter()
        self._measured: Counter[Kind] = Counter()
        self._encoding: tuple[str, float, int] = ("", 0.0, 0)
        self._encoding_left = 0.0

    def expect(self, name: str, cells: Iterable[Cell], unfinished: Iterable[Cell] | None = None) -> None:
        """Set which cells an encoder has, and which of them are unfinished: by default all."""
        kinds = Counter(map(_kind, cells))
        self.total[name] = kinds.total()
        self.unfinished[name] = kinds if unfinished is None else Counter(map(_kind, unfinished))

    def finish(self, name: str, cells: Iterable[Cell] | None = None, seconds: float | None = None) -> None:
        """Count these cells of an encoder as finished or failed, by default all; ``seconds``: how long they took."""
        if cells is None:
            self.unfinished[name] = Counter()
            return
        kinds = Counter(map(_kind, cells))
        self.unfinished[name] = self.unfinished.get(name, Counter()) - kinds  # which keeps no negative counts
        if seconds is not None:
            self._measured.update(kinds)
            for kind, count in kinds.items():
                self._seconds[kind] += seconds * count / kinds.total()  # type: ignore[assignment]

    def report_encoder(self, action: str, name: str) -> None:
        """Report what is done with an encoder, by its alias if it has one."""
        alias = next((a for n, a in self.aliases.items() if name in (n, untrained_name(n))), None)
        title = name if alias is None else untrained_name(alias) if name not in self.aliases else alias
        self.report(f"{action} {title}")

    def report_encoding(self, name: str, done: int, total: int | None) -> None:
        """The same while an encoder encodes, with how many texts it has encoded."""
        now = time.monotonic()
        if self._encoding[0] != name or done < self._encoding[2]:
            self._encoding = name, now, done
        _, started, first = self._encoding
        self._encoding_left = (now - started) * ((total or done) - done) / (done - first) if done > first else 0.0
        if done > first:
            self._encoded.add(name)
        self.report_encoder("encoding with", name)

    def report_jobs(self, jobs: Sequence[FitJob]) -> None:
        """Report what is computed: the encoder and the set; of several jobs, those of the first."""
        if not jobs:
            self.report("saving")
            return
        cell = jobs[0].cells[0]
        variant = f" ({cell.variant})" if cell.variant and cell.variant != "untrained" else ""
        further = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
        alias = self.aliases.get(cell.encoder, cell.encoder)
        title = untrained_name(alias) if cell.variant == "untrained" else alias
        self._encoded.add(untrained_name(cell.encoder) if cell.variant == "untrained" else cell.encoder)
        self.report(f"probing {title} on {cell.dataset}{variant}{further}")

    def report(self, action: str) -> None:
        """Report what is being done, how much of the run is finished, and how long the rest takes."""
        total = sum(self.total.values())
        done = total - sum(kinds.total() for kinds in self.unfinished.values())
        if self.status:
            self.status.write(done, total, action)
        if self.progress:
            self.progress(f"cells: {action}{self._time_left()}", done, total)

    def remaining_seconds(self) -> float | None:
        """How long the cells take that are not finished, by those that are; None where too few are."""
        if self._measured.total() < MIN_MEASURED_CELLS:
            return None
        mean = sum(self._seconds.values()) / self._measured.total()
        rates = {kind: self._seconds[kind] / count for kind, count in self._measured.items()}
        fitting = sum(
            count * rates.get(kind, mean) for kinds in self.unfinished.values() for kind, count in kinds.items()
        )
        return fitting / max(1, self.workers) + self._encoding_left

    def _time_left(self) -> str:
        seconds = self.remaining_seconds()
        if seconds is None or not any(kinds.total() for kinds in self.unfinished.values()):
            return ""
        unknown = [
            name
            for name, kinds in self.unfinished.items()
            if kinds.total() and name not in self._encoded and not name.startswith(CHEAP_SCHEME)
        ]
        return f", {'at least' if unknown else 'about'} {duration(seconds)} left"


def _kind(cell: Cell) -> Kind:
    return cell.data, cell.variant, cell.probe


def untrained_name(name: str) -> str:
    """What the untrained counterpart of an encoder is called in the progress."""
    return f"{name} (untrained)"
