"""The results of a run by column and set: what belongs to one cell of a table, and what must be kept apart."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES, WORD_BASELINES
from sentprobe.report.types import Column
from sentprobe.results.result import Cell, Failure, Result
from sentprobe.results.run import Run

BASELINE_NAMES = (*BASELINES, *ENCODER_BASELINES, *WORD_BASELINES)
"""The baselines, in the order of their columns."""

Layers = dict[str | None, list[Result]]
"""Results of one cell by layer, one per seed."""


class ColumnKey(NamedTuple):
    """What the results of a column have in common; they differ in set, layer and seed."""

    encoder: str
    probe: str | None
    limit: int | None
    sentprobe: str
    device: str | None
    identity: str | None

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

    def layers(self, column: ColumnKey, place: SetKey) -> Layers:
        """The results of each layer; none if there are none."""
        return self.results.get(column, {}).get(place, {})

    def failure(self, column: ColumnKey, place: SetKey) -> Failure | None:
        """Why a cell has no result, if it was tried."""
        return self.failed.get((column, place)) or self.failed_encoders.get(column.encoder)


def grid_of(run: Run) -> Grid:
    """Sort the results of a run into cells."""
    results: dict[ColumnKey, dict[SetKey, Layers]] = {}
    for r in run.results:
        by_layer = results.setdefault(_column(r.cell), {}).setdefault(_place(r.cell), {})
        by_layer.setdefault(r.cell.layer, []).append(r)
    _spread(results)
    failed: dict[tuple[ColumnKey, SetKey], Failure] = {}
    for f in run.failures:
        if f.cell.probe and f.cell.variant is None:
            failed.setdefault((_column(f.cell), _place(f.cell)), f)
    columns = dict.fromkeys([*results, *(column for column, _ in failed)])
    sets = dict.fromkeys([place for found in results.values() for place in found] + [place for _, place in failed])
    requested = {name: i for i, name in enumerate(run.info.get("encoders", ()))}
    order = {(d["name"], d["digest"]): i for i, d in enumerate(run.info.get("datasets", ()))}

    def order_of(column: ColumnKey) -> tuple[int, bool]:
        """Partial results come after complete ones."""
        place = (
            BASELINE_NAMES.index(column.encoder)
            if column.encoder in BASELINE_NAMES
            else requested.get(column.encoder, len(requested))
        )
        return place, column.limit is not None

    return Grid(
        columns=sorted((c for c in columns if c.encoder not in BASELINE_NAMES), key=order_of),
        baselines=sorted((c for c in columns if c.encoder in BASELINE_NAMES), key=order_of),
        sets=sorted(sets, key=lambda place: order.get((place.name, place.data), len(order))),
        results=results,
        failed=failed,
        failed_encoders={f.cell.encoder: f for f in run.failures if f.cell.encoder and not f.cell.probe},
    )


def _spread(results: dict[ColumnKey, dict[SetKey, Layers]]) -> None:
    """Add results that need no probe to the columns of the same encoder that have one: words are similar, say, however
    their neighbours are retrieved."""
    for alone in [c for c in results if c.probe is None and c.encoder not in BASELINE_NAMES]:
        others = [c for c in results if c.probe is not None and c._replace(probe=None) == alone]
        for column in others:
            results[column] = {**results[column], **results[alone]}
        if others:
            del results[alone]


def _column(cell: Cell) -> ColumnKey:
    return ColumnKey(cell.encoder, cell.probe, cell.limit, cell.sentprobe, cell.device, cell.identity)


def _place(cell: Cell) -> SetKey:
    return SetKey(cell.dataset, cell.data)


def label_columns(columns: Sequence[ColumnKey], aliases: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    """Columns as they are shown, each labelled with the encoder, or its alias, and with what some columns differ in."""
    several = {
        name for name in ("probe", "device", "sentprobe") if len({getattr(c, name) for c in columns} - {None}) > 1
    }
    if len({c.limit for c in columns}) > 1:
        several.add("limit")
    found = []
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
        if sum(other._replace(identity=None) == c._replace(identity=None) for other in columns) > 1:
            label.append(f"id {digest}")
        found.append(Column(**{**c._asdict(), "identity": digest, "label": tuple(label)}))
    return tuple(found)


def identity_digest(identity: str | None) -> str | None:
    """The identity of an encoder in a few characters."""
    return identity and hashlib.blake2b(identity.encode(), digest_size=4).hexdigest()
