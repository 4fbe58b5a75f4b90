"""Accuracy against the size of the vectors, and against the length of training: which columns make a curve.

    dimension  encoders whose names differ only in their size, such as static: and static:?dim=64, or in a number to
               which their sizes are proportional: trained:nli-512 and trained:nli-1024 of 1,024 and 2,048 dimensions
    epoch      encoders whose names differ in a number after the word epoch, checkpoint or step

The series of a point is the encoder's name without that number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from sentprobe.errors import SentProbeError
from sentprobe.probes import parse
from sentprobe.probes.probe import PairFeatures
from sentprobe.report.types import CellSummary, Column, CurvePoint, Curves, SetSummary, Summary
from sentprobe.results.metric import metric_named
from sentprobe.transfer.pairs import TASK_PAIRS, pair_features

SIZE_OPTIONS = ("dim", "dimensions", "truncate_dim")
"""What the schemes of encoders call the size of their vectors."""
WILDCARD = "*"
_NUMBER = re.compile(r"\d{1,9}")
_TIME = re.compile(r"(?<![a-z])((?:epoch|checkpoint|step)s?[-_=. ]*)(\d+)", re.IGNORECASE)

SeriesPositions = dict[int, tuple[str, int]]
"""The series and the x of columns, by their number."""


def curves(summary: Summary) -> Curves:
    """The points of both kinds of curves in a summary; only series with at least two different x."""
    epochs = _by_time([column.encoder for column in summary.columns])
    return Curves(
        dimension=tuple(_points(summary, _with_several_points(summary.columns, _by_size(summary)))),
        epoch=tuple(_points(summary, _with_several_points(summary.columns, epochs))),
    )


def _with_several_points(columns: Sequence[Column], positions: SeriesPositions) -> SeriesPositions:
    """Series named with what else distinguishes their columns, such as the probe; those with one point are dropped."""
    named = {i: (", ".join((name, *columns[i].label[1:])), x) for i, (name, x) in positions.items()}
    several = {name for name, _ in named.values() if len({x for series, x in named.values() if series == name}) > 1}
    return {i: (name, x) for i, (name, x) in named.items() if name in several}


def _points(summary: Summary, positions: SeriesPositions) -> Iterator[CurvePoint]:
    for number, s in enumerate(summary.sets):
        for i, (series, x) in sorted(positions.items(), key=lambda item: (*item[1], item[0])):
            score = cell.score if (cell := s.cells[i]) is not None else None
            if score is not None and score.value is not None:
                yield CurvePoint(
                    series=series, x=x, column=i, set=number, value=score.value, low=score.low, high=score.high
                )


def _by_size(summary: Summary) -> SeriesPositions:
    positions: SeriesPositions = {}
    for i, column in enumerate(summary.columns):
        size = next((size for s in summary.sets if (size := _size(s, s.cells[i], column.probe))), None)
        if size:
            positions[i] = (_without_size(column.encoder, size), size)
    return positions | _proportional({i: (summary.columns[i].encoder, size) for i, (_, size) in positions.items()})


def _proportional(sized: Mapping[int, tuple[str, int]]) -> SeriesPositions:
    """Columns whose names differ in one number, such as the units of a layer, to which their sizes are proportional."""
    groups: dict[tuple[str, Fraction], dict[int, int]] = {}
    for i, (encoder, size) in sized.items():
        name, mark, query = encoder.partition("?")
        for match in _NUMBER.finditer(name):
            if number := int(match[0]):
                series = f"{name[: match.start()]}{WILDCARD}{name[match.end() :]}{mark}{query}"
                groups.setdefault((series, Fraction(size, number)), {})[i] = size
    positions: SeriesPositions = {}
    for (series, _), group in groups.items():
        if len(set(group.values())) > 1:
            positions |= {i: (series, size) for i, size in group.items()}
    return positions


def _size(s: SetSummary, cell: CellSummary | None, probe: str | None) -> int | None:
    """The size of the vectors, if the probe's input shows it: for a pair that is two or four times as large."""
    if cell is None or not cell.dimension:
        return None
    if not s.inputs or not metric_named(s.scored_by).trained:  # the cosines of two vectors as they are
        return cell.dimension
    if s.task not in TASK_PAIRS:
        return None
    return cell.dimension // (2 if pair_features(s.task, _pairs(probe)) == "two" else 4)


def _pairs(probe: str | None) -> PairFeatures:
    """How a probe combines pairs; as usual for the task, if only a later version knows the probe."""
    with suppress(SentProbeError):
        return "task" if probe is None else parse(probe)[1].pairs
    return "task"


def _without_size(encoder: str, size: int) -> str:
    """The name of an encoder without the option for its size, and with a star where that number occurs elsewhere."""
    name, mark, query = encoder.partition("?")
    options = [part for part in query.split("&") if part.partition("=")[0] not in SIZE_OPTIONS] if mark else []
    name = re.sub(rf"(?<!\d){size}(?!\d)", WILDCARD, name)
    return f"{name}?{'&'.join(options)}" if options else name


def _by_time(encoders: Sequence[str]) -> SeriesPositions:
    groups: dict[str, dict[int, list[int]]] = {}
    for i, encoder in enumerate(encoders):
        numbers = [int(match[2]) for match in _TIME.finditer(encoder)]
        if numbers:
            groups.setdefault(_TIME.sub(rf"\1{WILDCARD}", encoder), {})[i] = numbers
    positions: SeriesPositions = {}
    for name, group in groups.items():
        # of epoch=3-step=900, the number that tells most of them apart
        different = [len(set(column)) for column in zip(*group.values(), strict=True)]
        at = different.index(max(different))
        unique = different[at] == len({encoders[i] for i in group})
        positions |= {i: (name if unique else _with_star(encoders[i], at), numbers[at]) for i, numbers in group.items()}
    return positions


def _with_star(encoder: str, at: int) -> str:
    """The name of an encoder with a star for one of its numbers."""
    start, end = list(_TIME.finditer(encoder))[at].span(2)
    return f"{encoder[:start]}{WILDCARD}{encoder[end:]}"
