"""run.json: what was requested, by which commands, and how far the last one got."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sentprobe.core.checksum import CHECKSUM, is_intact, other_format, read_document
from sentprobe.errors import RunError
from sentprobe.result import Cell, Failure, Result

INFO = "run.json"
FORMAT = 3

Record = TypeVar("Record", Result, Failure)


def read_info(folder: Path) -> dict[str, Any] | None:
    """The content of run.json; None if it is missing or damaged."""
    return info_or_damage(folder)[0]


def info_or_damage(folder: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The content of run.json, or what is wrong with it: nothing of a damaged file is used."""
    path = folder / INFO
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None, f"There is no {path}."
    except OSError as e:
        raise RunError(f"{path} cannot be read: {e.strerror}.") from e
    try:
        found = read_document(content)
    except ValueError as e:
        return None, f"{path} cannot be read: {e}."
    if CHECKSUM not in found and "format" in found and found["format"] != FORMAT:
        raise RunError(f"{other_format(path, found['format'], FORMAT)} Choose a new folder.")
    if not is_intact(found):
        return None, f"{path} is damaged: its checksum does not match."
    if found.get("format") != FORMAT:
        raise RunError(f"{other_format(path, found.get('format'), FORMAT)} Choose a new folder.")
    del found[CHECKSUM]
    return found, None


def rebuild_info(results: Iterable[Result], failures: Iterable[Failure] = ()) -> dict[str, Any]:
    """Reconstruct run.json from the results; commands and descriptions of sets are lost."""
    found = list(results)
    cells = [result.cell for result in found]
    datasets = {
        (r.cell.dataset, r.cell.data): {
            "name": r.cell.dataset, "task": r.cell.task, "version": r.cell.version, "language": r.language,
            "digest": r.cell.data, "labels": list(r.labels), "source": None,
        } for r in found
    }  # fmt: skip
    return {
        "format": FORMAT,
        "encoders": list(dict.fromkeys(cell.encoder for cell in cells)),
        "probes": list(dict.fromkeys(cell.probe for cell in cells if cell.probe)),
        "seeds": list(dict.fromkeys(cell.seed for cell in cells)),
        "datasets": list(datasets.values()),
        "command": max((failure.command for failure in failures), default=0),
    }


def is_bare(described: Mapping[str, Any]) -> bool:
    """Whether the description of a set was made by ``rebuild_info``."""
    return "rows" not in described and described.get("source") is None


def request_of(cell: Cell) -> Cell:
    """A cell regardless of the identity of its encoder and the version of sentprobe."""
    return replace(cell, identity=None, sentprobe="")


def dataset_failure_cell(task: str, name: str) -> Cell:
    """The cell under which a set that cannot be used is recorded."""
    return Cell(task=task, version=0, dataset=name, data="", encoder="")


def in_order(records: Iterable[Record], info: Mapping[str, Any]) -> tuple[Record, ...]:
    """Records in the order in which they were requested."""
    return tuple(sorted(records, key=_Order(info).of))


class _Order:
    """Sort key by the order of requests; anything else comes last, by name."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        self.sets = {(d["name"], d["digest"]): i for i, d in enumerate(info.get("datasets", ()))}
        self.encoders = {name: i for i, name in enumerate(info.get("encoders", ()))}
        self.probes = {name: i for i, name in enumerate(info.get("probes", ()))}
        self.seeds = {seed: i for i, seed in enumerate(info.get("seeds", ()))}

    def of(self, record: Result | Failure) -> tuple[Any, ...]:
        cell, last = record.cell, 1 << 30
        return (
            self.encoders.get(cell.encoder, last), cell.encoder, self.sets.get((cell.dataset, cell.data), last),
            cell.dataset, cell.variant or "", _layer(cell.layer), self.probes.get(cell.probe or "", last),
            cell.probe or "", cell.limit or last,
            self.seeds.get(cell.seed, last), cell.seed, cell.device or "", cell.sentprobe, record.key,
        )  # fmt: skip


def _layer(name: str | None) -> tuple[int, str]:
    return (int(name), "") if name is not None and name.isdecimal() else (-1, name or "")
