"""Results that the papers printed, to be shown beside our own: rows.csv, with the references in sources.toml.

Accuracy, F1, recall and correlations are shares of one, whatever the paper printed; median ranks are ranks. A number is
comparable only where the set is the paper's own: a set made from another corpus asks the same question of other
sentences.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, cast

Kind = Literal["model", "baseline", "human", "bound"]
"""An encoder; chance, words or pooled word vectors; people; a system trained on the task itself."""

TRANSFER = (
    "MR", "CR", "SUBJ", "MPQA", "SST2", "SST5", "TREC", "MRPC", "SNLI", "SICKEntailment", "SICKRelatedness",
    "STSBenchmark", "STS12", "STS13", "STS14", "STS15", "STS16", "ImageCaptionRetrieval",
    "CDSEntailment", "CDSRelatedness", "XNLI",
)  # fmt: skip
"""The tasks of the suite ``transfer``: by SentEval's names, and the Polish CDS corpus and XNLI, which it has not."""


@dataclass(frozen=True, slots=True)
class Row:
    """One printed number."""

    paper: str
    """A key of ``papers()``."""
    table: str
    model: str
    kind: Kind
    language: str
    suite: str
    """The probing suite whose sets were used, or ``transfer``."""
    task: str
    metric: str
    value: float
    note: str = ""
    """What sets the number apart from others of its table."""


@dataclass(frozen=True, slots=True)
class Paper:
    """Where rows come from."""

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    pages: str
    """Empty where the venue counts none."""
    url: str
    tables: dict[str, str]
    """What each table that rows were taken from is about."""


def published(task: str, *, suite: str | None = None, language: str | None = None) -> list[Row]:
    """The printed results of a task, of all suites and languages unless one is named; none for a task of one's own."""
    return [
        row for row in _rows()
        if row.task == task and suite in (None, row.suite) and language in (None, row.language)
    ]  # fmt: skip


def human(task: str, suite: str) -> Row | None:
    """What people reach on the set of a suite, if its paper says so."""
    return next((row for row in published(task, suite=suite) if row.kind == "human"), None)


def papers() -> dict[str, Paper]:
    """The papers that rows come from, by key."""
    found = tomllib.loads(files(__name__).joinpath("sources.toml").read_text("utf-8"))
    return {key: Paper(**{**said, "authors": tuple(said["authors"])}) for key, said in found.items()}


@cache
def _rows() -> tuple[Row, ...]:
    """Every row, in the order of the tables."""
    lines = files(__name__).joinpath("rows.csv").read_text("utf-8").splitlines()
    return tuple(_row(**cells) for cells in csv.DictReader(lines))


def _row(*, kind: str, value: str, **cells: str) -> Row:
    return Row(**cells, kind=cast("Kind", kind), value=float(value))
