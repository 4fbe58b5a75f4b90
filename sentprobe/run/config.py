"""The configuration of a run, and a set that is ready to be probed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sentprobe.core.progress import Progress
from sentprobe.encoders.store import Store
from sentprobe.errors import describe_error
from sentprobe.probes import Probe
from sentprobe.result import Cell, Failure
from sentprobe.run.log import Log
from sentprobe.run.parts import Parts
from sentprobe.run.pool import UnitPool
from sentprobe.run.tally import Tally
from sentprobe.run.variants import Variant


@dataclass(frozen=True)
class RunConfig:
    """The options of a run, which all cells share."""

    log: Log
    probes: Mapping[str, Probe]
    seeds: Sequence[int]
    limit: int | None
    device: str | None
    store: Store | None
    half: bool
    batch_size: int | None
    pool: UnitPool
    resample: int | None
    progress: Progress | None
    tally: Tally = field(default_factory=lambda: Tally(None))
    failed: list[Failure] = field(default_factory=list)

    def fail(self, cell: Cell, error: BaseException) -> None:
        """Record a failure; the run continues."""
        message = str(error) if isinstance(error, Exception) else ""
        message = (message or describe_error(error)).encode(errors="backslashreplace").decode()
        failure = Failure(key=cell.key, cell=cell, error=message, kind=type(error).__name__)
        self.failed.append(failure)
        self.log.add(failure)


@dataclass(frozen=True)
class PreparedSet:
    """A set that is ready to be probed, or a variant of it."""

    parts: Parts
    baselines: Mapping[str, float]
    plain: Parts | None = None
    """For a control or a measure, the unchanged set."""
    variant: Variant | None = None

    def columns(self) -> list[Sequence[str]]:
        """The texts that need vectors; to erase the property of another set, its training texts are needed, too."""
        others = self.variant.others if self.variant is not None else ()
        return [*self.parts.columns(), *(other.train.texts for other in others)]
