"""The cells of a run: what all of them share, which an encoder has on a set, which are unfinished, and progress.

A cell (``sentprobe.result.Cell``) is one score: encoder × layer × set × probe × seed. A control or measure in place of
the plain probe is its ``variant``. The key of a cell is in the log of the run once it is finished, so the same command
computes only what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sentprobe import __version__
from sentprobe.core.arguments import Progress
from sentprobe.data.splits import Splits
from sentprobe.encoders import EncoderInfo, encoder_info, load
from sentprobe.errors import describe_error
from sentprobe.probes import Probe, parse
from sentprobe.probes.kind import Preset, ProbeKind, kind_of
from sentprobe.probes.probe import presets
from sentprobe.results.log import Log
from sentprobe.results.result import Cell, Failure
from sentprobe.results.run_status import StatusFile
from sentprobe.run.control import CONTROLS, Control
from sentprobe.run.job import FitJob
from sentprobe.run.measure import Measure
from sentprobe.run.measures import measure_of
from sentprobe.run.options import RunOptions
from sentprobe.run.pool import JobPool
from sentprobe.run.resample import has_enough_resamples
from sentprobe.run.variant import ERASED_ROWS, base_variant
from sentprobe.run.variants import Variant


class RunProgress:
    """How many cells a run has and has finished, by encoder, and whom to report that to.

    Cells that failed count as finished. How many layers an encoder has is known when it is loaded, so that the number
    of all cells may change.
    """

    def __init__(
        self, progress: Progress | None, aliases: Mapping[str, str] | None = None, status: StatusFile | None = None
    ) -> None:
        self.progress, self.status = progress, status
        self.aliases = aliases or {}
        self.total: dict[str, int] = {}
        self.unfinished: dict[str, int] = {}

    def expect(self, name: str, total: int, unfinished: int | None = None) -> None:
        """Set how many cells an encoder has, and how many of them are unfinished: by default all."""
        self.total[name], self.unfinished[name] = total, total if unfinished is None else unfinished

    def finish(self, name: str, cells: int | None = None) -> None:
        """Count this many cells of an encoder as finished or failed; by default all."""
        self.unfinished[name] = 0 if cells is None else max(0, self.unfinished.get(name, 0) - cells)

    def report_encoder(self, action: str, name: str) -> None:
        """Report what is done with an encoder, by its alias if it has one."""
        alias = next((a for n, a in self.aliases.items() if name in (n, untrained_name(n))), None)
        title = name if alias is None else untrained_name(alias) if name not in self.aliases else alias
        self.report(f"{action} {title}")

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
        self.report(f"probing {title} on {cell.dataset}{variant}{further}")

    def report(self, action: str) -> None:
        """Report what is being done, and how much of the run is finished."""
        total = sum(self.total.values())
        done = total - sum(self.unfinished.values())
        if self.status:
            self.status.write(done, total, action)
        if self.progress:
            self.progress(f"cells: {action}", done, total)


def untrained_name(name: str) -> str:
    """What the untrained counterpart of an encoder is called in the progress."""
    return f"{name} (untrained)"


def encoder_name(cell: Cell) -> str:
    """What the encoder of a cell is called in the progress."""
    return untrained_name(cell.encoder) if cell.variant == "untrained" else cell.encoder


@dataclass(frozen=True)
class RunContext:
    """What all cells of a run share: its options, and where their results go."""

    log: Log
    options: RunOptions
    probes: Mapping[str, Probe]
    seeds: Sequence[int]
    pool: JobPool
    progress: RunProgress = field(default_factory=lambda: RunProgress(None))
    failures: list[Failure] = field(default_factory=list)

    def fail(self, cell: Cell, error: BaseException) -> None:
        """Record a failure; the run continues."""
        message = str(error) if isinstance(error, Exception) else ""
        message = (message or describe_error(error)).encode(errors="backslashreplace").decode()
        failure = Failure(key=cell.key, cell=cell, error=message, kind=type(error).__name__)
        self.failures.append(failure)
        self.log.add(failure)


@dataclass(frozen=True)
class PreparedSet:
    """A set that is ready to be probed, or a variant of it."""

    splits: Splits
    baselines: Mapping[str, float]
    plain: Splits | None = None
    """For a control or a measure, the unchanged set."""
    variant: Variant | None = None

    def columns(self) -> list[Sequence[str]]:
        """The texts that need vectors; to erase the property of another set, its training texts are needed, too."""
        erased = self.variant.erased_sets if self.variant is not None else ()
        return [*self.splits.columns(), *(splits.train.texts for splits in erased)]


def set_cell(splits: Splits, encoder: str) -> Cell:
    """The cell of an encoder on a set, without further facts."""
    return Cell(
        task=splits.task,
        version=splits.version,
        dataset=splits.name,
        data=splits.digest,
        encoder=encoder,
        folds=splits.fold_count,
    )


def encoder_failure(name: str, splits: Splits) -> Cell:
    """The cell under which a failure of an encoder on a whole set, or on a variant of it, is recorded."""
    return replace(set_cell(splits, name), version=0, variant=splits.variant)


def vectors_identity(info: EncoderInfo, half: bool) -> str | None:
    """The identity of the vectors of an encoder, with how they are rounded; None if it has none."""
    if info.identity is None:
        return None
    return str(info.identity.with_facts(kept="float16") if half else info.identity)


def part_versions(variant: str | None, probe: str | None) -> str | None:
    """The control, measure, probe and kind of probe whose versions are not the first; None if there are none."""
    used: list[Control | Measure | ProbeKind | Preset] = []
    if variant is not None:
        name = base_variant(variant)
        used.append(CONTROLS[name] if name in CONTROLS else measure_of(name))
    if probe is not None:
        used += [presets()[probe.partition("?")[0]][0], kind_of(parse(probe)[1])]
    return ",".join(f"{part.name}.v{part.version}" for part in used if part.version != 1) or None


def plain_cells(context: RunContext, name: str, prepared: PreparedSet) -> list[Cell]:
    """The cells of an encoder without layers on a set."""
    identity = vectors_identity(encoder_info(load(name)), context.options.half)
    return [cell for probe in context.probes for cell in cells_of(context, name, prepared, identity, None, probe)]


def cells_of(
    context: RunContext, name: str, prepared: PreparedSet, identity: str | None, layer: str | None, probe: str
) -> list[Cell]:
    """The cells of a layer and a probe on a set: one per seed, or one per name of a variant."""
    splits, variant = prepared.splits, prepared.variant
    if identity is not None and variant is not None and variant.given_encoders:
        identity = f"{identity} given {variant.given_identity}"
    cell = replace(
        set_cell(splits, name),
        identity=identity,
        layer=layer,
        probe=probe,
        limit=context.options.limit,
        device=context.options.device,
        sentprobe=__version__,
        variant=splits.variant,
        parts=part_versions(splits.variant, probe),
    )
    if prepared.plain is None:
        return [replace(cell, seed=seed) for seed in context.seeds]
    names = variant.names if variant is not None else (splits.variant,)
    return [replace(cell, seed=context.seeds[0], variant=variant_name) for variant_name in names]


def requested_probes(
    context: RunContext, prepared: PreparedSet, layers: Sequence[str]
) -> Iterator[tuple[str | None, str, Probe]]:
    """The layers and probes requested for a set."""
    probes, variant = context.probes, prepared.variant
    if variant is not None and variant.measures:  # defined for the linear probe only
        probes = dict([parse("linear")])
    all_layers = variant is not None and variant.all_layers
    for layer in (None,) if all_layers else layers or (None,):
        yield from ((layer, probe, spec) for probe, spec in probes.items())


def all_cells(
    context: RunContext, name: str, prepared: PreparedSet, identity: str | None, layers: Sequence[str]
) -> Iterator[Cell]:
    """The cells of an encoder on a set."""
    if prepared.variant is not None and prepared.variant.all_layers and len(layers) < 2:
        return
    for layer, probe, _ in requested_probes(context, prepared, layers):
        yield from cells_of(context, name, prepared, identity, layer, probe)


def unfinished_cells(
    context: RunContext, name: str, prepared: PreparedSet, identity: str | None, layers: Sequence[str]
) -> Iterator[Cell]:
    """The cells of an encoder on a set that have no result yet; all of them if the encoder has no identity."""
    cells = all_cells(context, name, prepared, identity, layers)
    return (cell for cell in cells if identity is None or not _is_finished(context, prepared, cell))


def _is_finished(context: RunContext, prepared: PreparedSet, cell: Cell) -> bool:
    """Whether a cell has its result, with as many training rows and retrained probes as requested."""
    result, variant = context.log.done.get(cell.key), prepared.variant
    if result is None or (variant is not None and variant.rows not in (None, result.n["tr"])):
        return False
    if variant is not None and variant.erased_sets:  # what is erased was learned from the rows of another set
        rows = dict(zip(variant.names, (splits.sizes["tr"] for splits in variant.erased_sets), strict=True))
        if round(result.scores.get(ERASED_ROWS, -1)) != rows.get(str(cell.variant)):
            return False
    is_plain = prepared.plain is None and prepared.splits.protocol == "split"
    return not is_plain or has_enough_resamples(result, context.options.resample)


def key_of_plain(cell: Cell, identity: str | None) -> str:
    """The key of the plain cell that a control or a measure refers to."""
    return replace(cell, variant=None, identity=identity, parts=part_versions(None, cell.probe)).key


def superseded(context: RunContext, cell: Cell) -> list[str]:
    """The keys of results of the same cell by another version of a control, measure or kind of probe."""
    facts = (cell.data, cell.encoder, cell.variant, cell.probe)
    earlier = [
        old
        for result in context.log.done.values()
        if (old := result.cell).parts != cell.parts and (old.data, old.encoder, old.variant, old.probe) == facts
    ]
    return [old.key for old in earlier if replace(old, parts=cell.parts) == cell]
