"""Accuracy against the size of the vectors, and against how long an encoder was trained: which columns make a curve.

    dimension  encoders of the same name but for their size, such as static: and static:?dim=64
    epoch      encoders whose names differ in a number after the word epoch, checkpoint or step

Each is a list of points: series (the name without that number), x, column and set (their numbers in the summary),
value, low, high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sonde.report.summary import done
from sonde.run.unit import PAIRS
from sonde.transfer.pairs import compare

SIZE_OPTIONS = ("dim", "dimensions")
"""What the schemes of encoders call the size of their vectors."""
WILDCARD = "*"
_TIME = re.compile(r"(?<![a-z])((?:epoch|checkpoint|step)s?[-_=. ]*)(\d+)", re.IGNORECASE)

SeriesPositions = dict[int, tuple[str, int]]
"""The series and the x of columns, by their number."""


def curves(summary: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The points of both kinds of curves in the summary of a run; only series of at least two different x."""
    columns = summary["columns"]
    found = {"dimension": _by_size(summary), "epoch": _by_time([column["encoder"] for column in columns])}
    return {kind: list(_points(summary, _kept(columns, placed))) for kind, placed in found.items()}


def _kept(columns: Sequence[Mapping[str, Any]], placed: SeriesPositions) -> SeriesPositions:
    """Series with what else sets their columns apart, such as the probe; those that are a single point are left out."""
    named = {i: (", ".join((name, *columns[i]["label"][1:])), x) for i, (name, x) in placed.items()}
    several = {name for name, _ in named.values() if len({x for other, x in named.values() if other == name}) > 1}
    return {i: (name, x) for i, (name, x) in named.items() if name in several}


def _points(summary: Mapping[str, Any], placed: SeriesPositions) -> Iterator[dict[str, Any]]:
    for number, set_summary in enumerate(summary["sets"]):
        for i, (series, x) in sorted(placed.items(), key=lambda item: (*item[1], item[0])):
            if done(cell := set_summary["cells"][i]):
                ends = {name: cell["score"][name] for name in ("value", "low", "high")}
                yield {"series": series, "x": x, "column": i, "set": number, **ends}


def _by_size(summary: Mapping[str, Any]) -> SeriesPositions:
    found: SeriesPositions = {}
    for i, column in enumerate(summary["columns"]):
        sizes = (_size(set_summary, set_summary["cells"][i]) for set_summary in summary["sets"])
        size = next((size for size in sizes if size), None)
        if size:
            found[i] = (_without_size(column["encoder"], size), size)
    return found


def _size(set_summary: Mapping[str, Any], cell: Mapping[str, Any] | None) -> int | None:
    """The size of the vectors, if what the probe reads tells it: of a pair it reads two or four times as much."""
    if cell is None or not done(cell) or not cell["dimension"]:
        return None
    whole: int = cell["dimension"]
    if not set_summary["inputs"] or set_summary["scored_by"] == "spearman":  # the cosines of two vectors as they are
        return whole
    combine = PAIRS.get(set_summary["task"])
    return None if combine is None else whole // (2 if combine is compare else 4)


def _without_size(encoder: str, size: int) -> str:
    """The name of an encoder without the option for its size, and with a star where else that number stands."""
    name, mark, query = encoder.partition("?")
    kept = [part for part in query.split("&") if part.partition("=")[0] not in SIZE_OPTIONS] if mark else []
    name = re.sub(rf"(?<!\d){size}(?!\d)", WILDCARD, name)
    return f"{name}?{'&'.join(kept)}" if kept else name


def _by_time(encoders: Sequence[str]) -> SeriesPositions:
    groups: dict[str, dict[int, list[int]]] = {}
    for i, encoder in enumerate(encoders):
        numbers = [int(match[2]) for match in _TIME.finditer(encoder)]
        if numbers:
            groups.setdefault(_TIME.sub(rf"\1{WILDCARD}", encoder), {})[i] = numbers
    found: SeriesPositions = {}
    for name, group in groups.items():
        # of epoch=3-step=900, the number that tells most of them apart
        different = [len(set(column)) for column in zip(*group.values(), strict=True)]
        at = different.index(max(different))
        alone = different[at] == len({encoders[i] for i in group})
        found |= {i: (name if alone else _with_star(encoders[i], at), numbers[at]) for i, numbers in group.items()}
    return found


def _with_star(encoder: str, at: int) -> str:
    """The name of an encoder with a star for one of its numbers."""
    start, end = list(_TIME.finditer(encoder))[at].span(2)
    return f"{encoder[:start]}{WILDCARD}{encoder[end:]}"
