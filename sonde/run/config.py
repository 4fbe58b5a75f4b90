"""The configuration of a run, and a set that is ready to be probed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sonde.core.progress import Progress
from sonde.encoders.store import Store
from sonde.errors import describe_error
from sonde.probes import Probe
from sonde.result import Cell, Failure
from sonde.run.log import Log
from sonde.run.parts import Parts
from sonde.run.pool import UnitPool
from sonde.run.tally import Tally
from sonde.run.variants import Variant


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
