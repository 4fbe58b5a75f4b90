"""The records of a run: run.json, and results.jsonl with a line per finished or failed cell.

run.json says what was requested, by which commands, and how far results.jsonl goes: it seals the folder of the job
(``core/job_folder.py``). If several lines are about one cell, the last one counts. Every line has a checksum and its
own number. A damaged line is left out, and with it whatever it may have superseded: a score that no longer counted must
not come back. Lines count in the order of their numbers, each once. Anything after the lines that run.json records, up
to a torn last line, belongs to a command that is still running or was killed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from sentprobe.core.job_folder import JobFolder, SalvagedLog
from sentprobe.core.seal import is_sealed, seal_line
from sentprobe.errors import DataError, RunError
from sentprobe.results.result import Cell, Failure, Result

INFO, RESULTS = "run.json", "results.jsonl"
ALIASES = "aliases"
"""The key in run.json of the names that users give to encoders."""
RECIPES = "recipes"
"""The key in run.json of the recipes that encoders are trainings of."""
FORMAT = 5
RETRACTED = "gone"
"""The kind of a record that retracts earlier records of its cell."""
REDO_MISSING = "The command that made the run computes what is missing."
SHOWN = 3
"""Damaged lines that are reported one by one."""
_KEY = re.compile(rb'"key":"([0-9a-f]{16})"')

Record = TypeVar("Record", Result, Failure)


def run_job(folder: Path) -> JobFolder:
    """The folder of a run, whose damage is reported, and computed again."""
    return JobFolder(folder, "sentprobe run", seal=INFO, format=FORMAT, lock=".lock", salvages=True, error=RunError)


def info_or_damage(job: JobFolder) -> tuple[dict[str, Any] | None, str | None]:
    """What run.json says, or what is wrong with it: nothing of a damaged file is used."""
    info, problem, path = job.facts, job.problem, job.path / INFO
    if problem is None:
        return info, None
    if isinstance(problem, OSError):
        return None, f"There is no {path}."
    return None, f"{path} {'cannot be read' if isinstance(problem, msgspec.DecodeError) else 'is damaged'}: {problem}."


def read_info(folder: Path) -> dict[str, Any] | None:
    """What run.json says; None if it is missing or damaged."""
    return info_or_damage(run_job(folder))[0]


@dataclass
class Records:
    """The records of the cells of a run."""

    results: dict[str, Result] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    lines: list[Result | Failure] = field(default_factory=list)
    """All intact records that no damaged line may have superseded, the oldest first."""
    damaged: list[str] = field(default_factory=list)
    """What is damaged, and what to do about it."""

    def note(self, record: Result | Failure) -> None:
        """Add a record, which supersedes earlier ones of its cell."""
        self.results.pop(record.key, None)
        self.failures.pop(record.key, None)
        if isinstance(record, Result):
            self.results[record.key] = record
        elif record.kind != RETRACTED:
            self.failures[record.key] = record

    def forget(self, line: bytes) -> None:
        """Drop whatever a damaged line may have superseded: its own cell, and, unless the line has an identity, results
        of encoders without an identity, which every command recomputes."""
        key = _KEY.search(line)
        superseded = {key[1].decode()} if key else set()
        if b'"identity":"' not in line:
            superseded |= self._unnamed()
        self._drop(superseded)

    def report_moved_lines(self, path: Path, expected: int, lines: int) -> None:
        """Report that lines are missing or moved; one of them may have superseded something."""
        self._drop(self._unnamed())
        if expected == lines:
            what = "its lines were changed or reordered."
        else:
            what = f"expected {expected} lines, got {lines}. Lines were removed, repeated or moved."
        self.damaged.append(f"{path} is damaged: {what} {REDO_MISSING}")

    def drop_unowned(self, owns: Callable[[Result], bool]) -> None:
        """Drop the results of other runs from a damaged file."""
        if self.damaged:
            self._drop({key for key, result in self.results.items() if not owns(result)})

    def _unnamed(self) -> set[str]:
        """The results of encoders without an identity."""
        return {key for key, result in self.results.items() if result.cell.identity is None}

    def _drop(self, keys: set[str]) -> None:
        self.results = {key: result for key, result in self.results.items() if key not in keys}
        self.failures = {key: failure for key, failure in self.failures.items() if key not in keys}
        self.lines = [record for record in self.lines if record.key not in keys]


def read_records(path: Path, log: SalvagedLog) -> Records:
    """The records that count among the lines of results.jsonl, which is ``path``."""
    parsed = [from_line(line) for line in log.lines]
    # a damaged line is assumed to be in its place
    numbers = [index if record is None else record[1] for index, record in enumerate(parsed)]
    records = Records()
    seen: set[int] = set()
    for index in sorted(range(len(parsed)), key=numbers.__getitem__):
        numbered = parsed[index]
        if numbered is None:
            records.forget(log.lines[index])
        elif numbered[1] not in seen:
            seen.add(numbered[1])
            records.note(numbered[0])
            records.lines.append(numbered[0])
    wrong = [index for index, numbered in enumerate(parsed) if numbered is None]
    for index in wrong[:SHOWN]:
        records.damaged.append(f"{path}:{index + 1}: this line is damaged and left out. {REDO_MISSING}")
    if len(wrong) > SHOWN:
        records.damaged.append(f"{path}: {len(wrong) - SHOWN} more lines are damaged. {REDO_MISSING}")
    if numbers != list(range(len(parsed))):
        records.report_moved_lines(path, max(*numbers, log.recorded.lines - 1) + 1, len(parsed))
    elif not wrong and not log.is_as_recorded:
        records.report_moved_lines(path, log.recorded.lines, len(parsed))
    return records


# A result or failure as one line of results.jsonl


class _Line(msgspec.Struct, omit_defaults=True):
    number: int
    result: Result | None = None
    failure: Failure | None = None


def to_line(record: Result | Failure, number: int) -> bytes:
    """A record as line ``number`` (from 0) of results.jsonl, with its checksum and without the newline."""
    line = _Line(number, result=record) if isinstance(record, Result) else _Line(number, failure=record)
    what = f"The record of {record.cell.encoder} on {record.cell.dataset}"
    if not _is_own(record):
        raise DataError(f"{what} has the key {record.key!r}; expected that of its cell, {record.cell.key!r}.")
    try:
        sealed = seal_line(msgspec.json.encode(line))
    except (TypeError, UnicodeEncodeError, msgspec.EncodeError) as e:
        raise DataError(f"{what} cannot be encoded as JSON: {e}") from e
    if from_line(sealed) is None:  # NaN and infinity are written as null
        raise DataError(f"{what} has a number that is not finite, and could not be read back.")
    return sealed


def from_line(line: bytes) -> tuple[Result | Failure, int] | None:
    """The record and its line number; None if the line is damaged."""
    if not is_sealed(line):
        return None
    try:
        decoded = msgspec.json.decode(line, type=_Line)
    except (ValueError, RecursionError):
        return None
    record = decoded.result or decoded.failure
    return (record, decoded.number) if record is not None and _is_own(record) else None


def _is_own(record: Result | Failure) -> bool:
    """Whether the key of a record is that of its cell. Paths are made of the key and of the digest of the set: a record
    from elsewhere must not point outside its folder."""
    return record.key == record.cell.key and (record.cell.data or "a").replace("-", "a").isalnum()


# What was requested


def rebuild_info(results: Iterable[Result], failures: Iterable[Failure] = ()) -> dict[str, Any]:
    """Reconstruct run.json from the results; commands and descriptions of sets are lost."""
    results = list(results)
    cells = [result.cell for result in results]
    datasets = {
        (r.cell.dataset, r.cell.data): {
            "name": r.cell.dataset, "task": r.cell.task, "version": r.cell.version, "language": r.language,
            "digest": r.cell.data, "labels": list(r.labels), "source": None,
        } for r in results
    }  # fmt: skip
    return {
        "encoders": list(dict.fromkeys(cell.encoder for cell in cells)),
        "probes": list(dict.fromkeys(cell.probe for cell in cells if cell.probe)),
        "seeds": list(dict.fromkeys(cell.seed for cell in cells)),
        "datasets": list(datasets.values()),
        "command": max((failure.command for failure in failures), default=0),
    }


def read_aliases(info: Mapping[str, Any]) -> dict[str, str]:
    """The alias of each encoder that has one; the last that it was given."""
    return {encoder: alias for alias, encoder in info.get(ALIASES, ())}


class Recipe(NamedTuple):
    """What an encoder is a training of."""

    name: str
    typed: str = ""
    """As it was typed, with its name and all its trainings; empty: it was not typed."""


def read_recipes(info: Mapping[str, Any]) -> dict[str, Recipe]:
    """By encoder, the recipe that it is a training of, if it is of any; the last that it was given."""
    return {encoder: Recipe(recipe, typed) for recipe, encoder, typed in info.get(RECIPES, ())}


def recipe_entries(recipes: Mapping[str, Recipe]) -> list[list[str]]:
    """The same as run.json has it: lists of the recipe, the encoder, and what was typed."""
    return [[recipe.name, encoder, recipe.typed] for encoder, recipe in recipes.items()]


def is_bare(described: Mapping[str, Any]) -> bool:
    """Whether the description of a set was made by ``rebuild_info``."""
    return "rows" not in described and described.get("source") is None


def request_of(cell: Cell) -> Cell:
    """A cell regardless of the identity of its encoder and the version of sentprobe."""
    return replace(cell, identity=None, sentprobe="")


def protocol_text(folds: int | None) -> str:
    """How a set is tested, after its name."""
    return "on its test split" if folds is None else f"in {folds} folds"


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
            cell.probe or "", cell.limit or last, cell.folds or 0,
            self.seeds.get(cell.seed, last), cell.seed, cell.device or "", cell.sentprobe, record.key,
        )  # fmt: skip


def _layer(name: str | None) -> tuple[int, str]:
    return (int(name), "") if name is not None and name.isdecimal() else (-1, name or "")
