"""Published results from papers, to compare with: rows.csv, with references in sources.toml.

Accuracy, F1, recall, precision, BLEU and correlations are fractions of one, whatever the paper printed; median ranks
are ranks; numbers of tokens, perplexities, distances and p-values are as printed. A result is comparable only on the
paper's own set, not on a set made from another corpus for the same task; those of word spaces depend on the vectors,
too.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass, field
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
"""The tasks of the suite ``transfer``: those of SentEval by its names, and the Polish CDS corpus and XNLI."""

WORDS = ("word_translation", "sentence_retrieval", "word_similarity", "word_by_word")
"""The tasks of the suite ``words``, evaluations of word spaces; their language is a pair, as in ``en-fr``."""

TRAINING = ("translate", "tree", "autoencode")
"""The tasks of the suite ``training``: objectives of `sentprobe train`, whose scores depend on the text."""

XNLI_CORPUS = ("xnli_tokens", "xnli_translation", "xnli_votes", "xnli_agreement")
"""The tasks of the suite ``xnli``: what `sentprobe data xnli` and `… translate` compute about the corpus."""

OTHER = ("unsupervised_translation", "supervised_translation", "language_model", "word_vectors", "aggregate")
"""The tasks of the suite ``other``: what no verb computes, which findings of `sentprobe replicate` are about."""


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One published result."""

    paper: str
    """A key of ``papers()``."""
    table: str
    model: str
    kind: Kind
    language: str
    suite: str
    """The probing suite whose sets were used, ``transfer``, ``words``, ``training``, ``xnli`` or ``other``."""
    task: str
    metric: str
    value: float
    note: str = ""
    """What distinguishes it from others of its table; of the suite ``words``, how neighbours were scored, if that is
    known: nn, csls or isf."""


@dataclass(frozen=True, slots=True)
class Paper:
    """The source of published results."""

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int
    pages: str
    """Empty if the venue has no page numbers."""
    url: str
    tables: dict[str, str]
    """The topic of each table that results were taken from."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Why nothing, or nothing else, was taken from other tables."""


def published(task: str, *, suite: str | None = None, language: str | None = None) -> list[PublishedRow]:
    """The published results of a task, for all suites and languages by default; none for your own task."""
    return [
        row for row in _rows() if row.task == task and suite in (None, row.suite) and language in (None, row.language)
    ]


def human(task: str, suite: str) -> PublishedRow | None:
    """Human performance on the set of a suite, if its paper reports it."""
    return next((row for row in published(task, suite=suite) if row.kind == "human"), None)


def rows_of(paper: str, table: str) -> list[PublishedRow]:
    """The results that were taken from a table."""
    return [row for row in _rows() if (row.paper, row.table) == (paper, table)]


def papers() -> dict[str, Paper]:
    """The papers that results come from, by key."""
    entries = tomllib.loads(files(__name__).joinpath("sources.toml").read_text("utf-8"))
    return {key: Paper(**{**entry, "authors": tuple(entry["authors"])}) for key, entry in entries.items()}


@cache
def _rows() -> tuple[PublishedRow, ...]:
    """Every row, in the order of the tables."""
    lines = files(__name__).joinpath("rows.csv").read_text("utf-8").splitlines()
    return tuple(_row(**cells) for cells in csv.DictReader(lines))


def _row(*, kind: str, value: str, **cells: str) -> PublishedRow:
    return PublishedRow(**cells, kind=cast("Kind", kind), value=float(value))
