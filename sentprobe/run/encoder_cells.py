"""The cells of an encoder: which a run requests, and which are not finished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sentprobe import __version__
from sentprobe.data.splits import Splits
from sentprobe.encoders import EncoderInfo, encoder_info, load
from sentprobe.probes import Probe, parse
from sentprobe.probes.kind import Preset, ProbeKind, kind_of
from sentprobe.probes.probe import presets
from sentprobe.results.result import Cell
from sentprobe.run.config import PreparedSet, RunConfig
from sentprobe.run.control import CONTROLS, Control
from sentprobe.run.measure import Measure
from sentprobe.run.measures import measure_of
from sentprobe.run.resample import has_enough_resamples
from sentprobe.run.variant import ERASED_ROWS, base_variant


def plain_cells(config: RunConfig, name: str, s: PreparedSet) -> list[Cell]:
    """The cells of an encoder without layers on a set."""
    identity = vectors_identity(encoder_info(load(name)), config.options.half)
    return [cell for probe in config.probes for cell in cells_of(config, name, s, identity, None, probe)]


def encoder_failure(name: str, parts: Splits) -> Cell:
    """The cell under which a failure of an encoder on a whole set, or on a variant of it, is recorded."""
    return Cell(
        task=parts.task, version=0, dataset=parts.name, data=parts.digest, encoder=name, variant=parts.variant
    )  # fmt: skip


def vectors_identity(about: EncoderInfo, half: bool) -> str | None:
    """The identity of the vectors of an encoder, with how they are kept; None if it has none."""
    if about.identity is None:
        return None
    return str(about.identity.with_facts(kept="float16") if half else about.identity)


def part_versions(variant: str | None, probe: str | None) -> str | None:
    """The control, measure, probe and kind of probe whose versions are not the first; None if there are none."""
    used: list[Control | Measure | ProbeKind | Preset] = []
    if variant is not None:
        name = base_variant(variant)
        used.append(CONTROLS[name] if name in CONTROLS else measure_of(name))
    if probe is not None:
        used += [presets()[probe.partition("?")[0]][0], kind_of(parse(probe)[1])]
    return ",".join(f"{part.name}.v{part.version}" for part in used if part.version != 1) or None


def cells_of(
    config: RunConfig, name: str, s: PreparedSet, identity: str | None, layer: str | None, probe: str
) -> list[Cell]:
    """The cells of a layer and a probe on a set: one per seed, or one per name of a variant."""
    parts = s.parts
    if identity is not None and s.variant is not None and s.variant.given:
        identity = f"{identity} given {s.variant.given_identity}"
    cell = Cell(
        task=parts.task, version=parts.version, dataset=parts.name, data=parts.digest, encoder=name,
        identity=identity, layer=layer, probe=probe, limit=config.options.limit, device=config.options.device,
        sentprobe=__version__, variant=parts.variant, parts=part_versions(parts.variant, probe),
    )  # fmt: skip
    if s.plain is None:
        return [replace(cell, seed=seed) for seed in config.seeds]
    names = s.variant.names if s.variant is not None else (parts.variant,)
    return [replace(cell, seed=config.seeds[0], variant=variant) for variant in names]


def requested(config: RunConfig, s: PreparedSet, layers: Sequence[str]) -> Iterator[tuple[str | None, str, Probe]]:
    """The layers and probes requested for a set."""
    probes = config.probes
    if s.variant is not None and s.variant.measures:  # defined for the linear probe only
        probes = dict([parse("linear")])
    all_layers = s.variant is not None and s.variant.all_layers
    for layer in (None,) if all_layers else layers or (None,):
        yield from ((layer, probe, spec) for probe, spec in probes.items())


def all_cells(
    config: RunConfig, name: str, s: PreparedSet, identity: str | None, layers: Sequence[str]
) -> Iterator[Cell]:
    """The cells of a set."""
    if s.variant is not None and s.variant.all_layers and len(layers) < 2:
        return
    for layer, probe, _ in requested(config, s, layers):
        yield from cells_of(config, name, s, identity, layer, probe)


def cells_left(
    config: RunConfig, name: str, s: PreparedSet, identity: str | None, layers: Sequence[str]
) -> Iterator[Cell]:
    """The unfinished cells of a set."""
    every = all_cells(config, name, s, identity, layers)
    return (cell for cell in every if identity is None or not _done(config, s, cell))


def _done(config: RunConfig, s: PreparedSet, cell: Cell) -> bool:
    """Whether a cell has its result, with as many training rows and retrained probes as requested."""
    found = config.log.done.get(cell.key)
    if found is None or (s.variant is not None and s.variant.rows not in (None, found.n["tr"])):
        return False
    if s.variant is not None and s.variant.others:  # what is erased was learned from the rows of another set
        rows = dict(zip(s.variant.names, (len(other.train) for other in s.variant.others), strict=True))
        if found.scores.get(ERASED_ROWS) != rows.get(str(cell.variant)):
            return False
    plain = s.plain is None and s.parts.protocol == "split"
    return not plain or has_enough_resamples(found, config.options.resample)


def key_of_plain(cell: Cell, identity: str | None) -> str:
    """The key of the plain cell that a control or a measure refers to."""
    return replace(cell, variant=None, identity=identity, parts=part_versions(None, cell.probe)).key


def superseded(config: RunConfig, cell: Cell) -> list[str]:
    """The keys of results of the same cell by another version of a control, measure or kind of probe."""
    same = [
        other for r in config.log.done.values()
        if (other := r.cell).parts != cell.parts and (other.data, other.encoder, other.variant, other.probe)
        == (cell.data, cell.encoder, cell.variant, cell.probe)
    ]  # fmt: skip
    return [other.key for other in same if replace(other, parts=cell.parts) == cell]
