"""The configuration of a run, and a set that is ready to be probed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sentprobe.data.splits import Splits
from sentprobe.errors import describe_error
from sentprobe.probes import Probe
from sentprobe.results.log import Log
from sentprobe.results.result import Cell, Failure
from sentprobe.run.options import RunOptions
from sentprobe.run.pool import UnitPool
from sentprobe.run.tally import Tally
from sentprobe.run.variants import Variant


@dataclass(frozen=True)
class RunConfig:
    """What all cells of a run share: its options, and where their results go."""

    log: Log
    options: RunOptions
    probes: Mapping[str, Probe]
    seeds: Sequence[int]
    pool: UnitPool
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

    parts: Splits
    baselines: Mapping[str, float]
    plain: Splits | None = None
    """For a control or a measure, the unchanged set."""
    variant: Variant | None = None

    def columns(self) -> list[Sequence[str]]:
        """The texts that need vectors; to erase the property of another set, its training texts are needed, too."""
        others = self.variant.others if self.variant is not None else ()
        return [*self.parts.columns(), *(other.train.texts for other in others)]
