"""What a run is asked to do, and a set that is ready to be probed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sonde.encoders.embed import Progress
from sonde.encoders.store import Store
from sonde.errors import describe_error
from sonde.probes import Probe
from sonde.result import Cell, Failure
from sonde.run.log import Log
from sonde.run.parts import Parts
from sonde.run.variants import Variant


@dataclass(frozen=True)
class RunConfig:
    """What does not change over the loop."""

    log: Log
    probes: Mapping[str, Probe]
    seeds: Sequence[int]
    limit: int | None
    device: str | None
    store: Store | None
    half: bool
    batch_size: int | None
    jobs: int
    resample: int | None
    progress: Progress | None
    failed: list[Failure] = field(default_factory=list)

    def fail(self, cell: Cell, error: BaseException) -> None:
        """Write down that something could not be done, and go on."""
        said = str(error) if isinstance(error, Exception) else ""
        said = (said or describe_error(error)).encode(errors="backslashreplace").decode()
        failure = Failure(key=cell.key, cell=cell, error=said, kind=type(error).__name__)
        self.failed.append(failure)
        self.log.add(failure)


@dataclass(frozen=True)
class PreparedSet:
    """A set, ready to be probed; or a variant of it."""

    parts: Parts
    baselines: Mapping[str, float]
    plain: Parts | None = None
    """Of a control or a measure, the set as it is."""
    variant: Variant | None = None

    def columns(self) -> list[Sequence[str]]:
        """What it needs vectors of; properties of other sets are erased by the vectors of these."""
        others = self.variant.others if self.variant is not None else ()
        return [*self.parts.columns(), *(other.train.texts for other in others)]
