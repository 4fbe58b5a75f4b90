"""The results of a run by column and set: what belongs to one cell of a table, and which cells are missing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sentprobe.core.formatting import count_of
from sentprobe.probes.baselines import ALL_BASELINES
from sentprobe.report.names import listed, short_names
from sentprobe.report.types import Column, MissingCells, Summary
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.records import read_aliases
from sentprobe.results.result import Cell, Failure, Result
from sentprobe.results.run import Run

Layers = dict[str | None, list[Result]]
"""Results of one cell by layer, one per encoder of a recipe and seed of the probe."""


class ColumnKey(NamedTuple):
    """What the results of a column have in common; they differ in set, layer and seed."""

    encoder: str
    """Or the recipe that several encoders are trainings of, which has no identity."""
    probe: str | None
    limit: int | None
    sentprobe: str
    device: str | None
    identity: str | None
    trainings: tuple[str, ...] = ()

    @property
    def sample(self) -> tuple[int | None, str]:
        """Columns with the same sample were tested on the same rows."""
        return self.limit, self.sentprobe


class SetKey(NamedTuple):
    """A set, by name and by what is in it."""

    name: str
    data: str


@dataclass(frozen=True)
class Grid:
    """What a run holds, by column and set, both in the order in which they were requested."""

    columns: Sequence[ColumnKey]
    baselines: Sequence[ColumnKey]
    sets: Sequence[SetKey]
    results: Mapping[ColumnKey, Mapping[SetKey, Layers]]
    failed: Mapping[tuple[ColumnKey, SetKey], Failure]
    """The first failure of each cell."""
    failed_encoders: Mapping[str, Failure]
    """Encoders that failed on all sets."""

    def layers(self, column: ColumnKey, set_key: SetKey) -> Layers:
        """The results of each layer; none if there are none."""
        return self.results.get(column, {}).get(set_key, {})

    def failure(self, column: ColumnKey, set_key: SetKey) -> Failure | None:
        """Why a cell has no result, if it was tried."""
        return self.failed.get((column, set_key)) or self.failed_encoders.get(column.encoder)


def grid_of(run: Run) -> Grid:
    """Sort the results of a run into cells."""
    results: dict[ColumnKey, dict[SetKey, Layers]] = {}
    recipes = run.recipes
    for r in run.results:
        by_layer = results.setdefault(_column(r.cell, recipes), {}).setdefault(_set_key(r.cell), {})
        by_layer.setdefault(r.cell.layer, []).append(r)
    _spread(results)
    failed: dict[tuple[ColumnKey, SetKey], Failure] = {}
    for f in run.failures:
        if f.cell.probe and f.cell.variant is None:
            failed.setdefault((_column(f.cell, recipes), _set_key(f.cell)), f)
    columns = dict.fromkeys([*results, *(column for column, _ in failed)])
    sets = dict.fromkeys(
        [set_key for by_set in results.values() for set_key in by_set] + [set_key for _, set_key in failed]
    )
    requested: dict[str, int] = {}
    for i, name in enumerate(run.info.get("encoders", ())):
        requested.setdefault(recipes.get(name, name), i)
    failed_encoders = {f.cell.encoder: f for f in run.failures if f.cell.encoder and not f.cell.probe}
    order = {(d["name"], d["digest"]): i for i, d in enumerate(run.info.get("datasets", ()))}

    def order_of(column: ColumnKey) -> tuple[int, bool]:
        """Partial results come after complete ones."""
        position = (
            ALL_BASELINES.index(column.encoder)
            if column.encoder in ALL_BASELINES
            else requested.get(column.encoder, len(requested))
        )
        return position, column.limit is not None

    return Grid(
        columns=sorted((c for c in columns if c.encoder not in ALL_BASELINES), key=order_of),
        baselines=sorted((c for c in columns if c.encoder in ALL_BASELINES), key=order_of),
        sets=sorted(sets, key=lambda set_key: order.get((set_key.name, set_key.data), len(order))),
        results=results,
        failed=failed,
        failed_encoders={**{recipes.get(name, name): f for name, f in failed_encoders.items()}, **failed_encoders},
    )


def _spread(results: dict[ColumnKey, dict[SetKey, Layers]]) -> None:
    """Add results that need no probe to the columns of the same encoder that have one: words are similar, say, however
    their neighbours are retrieved."""
    for unprobed in [c for c in results if c.probe is None and c.encoder not in ALL_BASELINES]:
        probed = [c for c in results if c.probe is not None and c._replace(probe=None) == unprobed]
        for column in probed:
            results[column] = {**results[column], **results[unprobed]}
        if probed:
            del results[unprobed]


def _column(cell: Cell, recipes: Mapping[str, str]) -> ColumnKey:
    column = ColumnKey(cell.encoder, cell.probe, cell.limit, cell.sentprobe, cell.device, cell.identity)
    recipe = recipes.get(cell.encoder)
    if recipe is None:
        return column
    return column._replace(encoder=recipe, identity=None, trainings=tuple(e for e, r in recipes.items() if r == recipe))


def _set_key(cell: Cell) -> SetKey:
    return SetKey(cell.dataset, cell.data)


def label_columns(columns: Sequence[ColumnKey], aliases: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    """Columns as they are shown, each labelled with the encoder, or its alias, and with what some columns differ in."""
    several = {
        name for name in ("probe", "device", "sentprobe") if len({getattr(c, name) for c in columns} - {None}) > 1
    }
    if len({c.limit for c in columns}) > 1:
        several.add("limit")
    labelled = []
    for c in columns:
        digest = identity_digest(c.identity)
        words = {
            "probe": c.probe,
            "limit": f"partial, {c.limit:,} rows a split" if c.limit is not None else None,
            "device": c.device,
            "sentprobe": f"sentprobe {c.sentprobe}",
        }
        label = [
            (aliases or {}).get(c.encoder, c.encoder),
            *(word for name, word in words.items() if word and name in several),
        ]
        if sum(column._replace(identity=None) == c._replace(identity=None) for column in columns) > 1:
            label.append(f"id {digest}")
        labelled.append(Column(**{**c._asdict(), "identity": digest, "label": tuple(label)}))
    return tuple(labelled)


def identity_digest(identity: str | None) -> str | None:
    """The identity of an encoder in a few characters."""
    return identity and hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()


# Missing cells


MAX_NAMED = 4
"""Up to this many encoders or sets are named."""
IDENTICAL = "not run yet, or the same as another encoder or set of this run, whose results are shown under its name"


def missing_cells(run: Run, grid: Grid) -> tuple[MissingCells, ...]:
    """What the last command requested that neither finished nor failed, by encoder.

    A result has one name, the last that it was requested by: an encoder that is the same as another is missing, too.
    """
    requested: Mapping[str, Any] = run.info.get("asked", {})  # by the last command
    datasets = run.info.get("datasets", ())
    selected = requested.get("datasets", [d["digest"] for d in datasets])
    names = {d["digest"]: d["name"] for d in datasets if d["digest"] in selected}
    split = {r.cell.data for r in run.results if (r.metric, r.trained_on, r.chosen_on) == (DEFAULT_METRIC, "tr", "va")}
    several = len({run.folder_of(r) for r in run.results}) > 1  # runs that were joined request different things
    done: dict[str, set[str]] = {}
    for cell in [r.cell for r in run.results] + [f.cell for f in run.failures if f.cell.probe and not f.cell.variant]:
        done.setdefault(cell.encoder, set()).add(cell.data)
    missing, aliases = [], read_aliases(run.info)
    for encoder in requested.get("encoders", run.info.get("encoders", ())):
        if encoder in grid.failed_encoders or (several and encoder in done):
            continue
        # baselines are run on sets that are split and scored by accuracy only
        wanted = {d: name for d, name in names.items() if encoder not in ALL_BASELINES or d in split}
        sets = [name for digest, name in wanted.items() if digest not in done.get(encoder, ())]
        if sets or not (names or encoder in done):
            alias = aliases.get(encoder)
            missing.append(MissingCells(encoder=encoder, alias=alias, sets=tuple(sets), requested=len(wanted)))
    return tuple(missing)


def missing_notes(missing: Sequence[MissingCells], sets: Sequence[str]) -> Iterator[str]:
    """The same as notes of a table; ``sets`` are the names of those that have results."""
    absent = [gap.alias or gap.encoder for gap in missing if len(gap.sets) == gap.requested]
    nobody = dict.fromkeys(name for gap in missing for name in gap.sets if name not in sets)
    if absent or nobody:
        yield f"There are no results for {', '.join([*absent, *nobody])}: {IDENTICAL}."
    for gap in missing:
        set_names = [name for name in gap.sets if name in sets]
        if set_names and len(gap.sets) < gap.requested:
            yield f"There are no results of {gap.alias or gap.encoder} for {', '.join(set_names)}: {IDENTICAL}."


def missing_line(summary: Summary) -> str:
    """In a sentence, for the top of a page: what of the run is missing; empty if it is complete."""
    if not summary.missing:
        return ""
    encoders = list(dict.fromkeys([*(c.encoder for c in summary.columns), *(gap.encoder for gap in summary.missing)]))
    short = dict(zip(encoders, short_names(encoders), strict=True))
    short |= {gap.encoder: gap.alias for gap in summary.missing if gap.alias}
    cells = sum(len(gap.sets) for gap in summary.missing)
    parts = [
        f"{short[gap.encoder]} on {'all sets' if len(gap.sets) == gap.requested else _sets(gap)}"
        for gap in summary.missing
    ]
    count = f"{count_of(cells, 'requested cell')} {'has' if cells == 1 else 'have'} no result"
    return (
        f"{count if cells else 'nothing was finished'}. "
        f"Missing: {listed(parts, most=2 * MAX_NAMED, remainder='more')}. Run the same command again to finish "
        "it. Results of two identical encoders are under the last name, and the other one is listed here."
    )


def _sets(gap: MissingCells) -> str:
    return listed([name.rsplit("/", 1)[-1] for name in gap.sets], most=MAX_NAMED, remainder="more sets")
