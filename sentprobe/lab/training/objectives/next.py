"""The next sentence of a document, from the vector of the one before it, as SkipThought does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from sentprobe.lab.training.objective import Objective
from sentprobe.lab.training.plan import Arrangement, TrainingPlan
from sentprobe.lab.training.rows import DataRow
from sentprobe.lab.training.seq2seq import CODES, OPTIMISERS, SETTINGS, Seq2Seq, prepare

BLOCK = 100
"""Sentences in a row that are held out together."""


def pair_rows(rows: Iterable[DataRow], block: int = 0) -> Iterator[DataRow]:
    """Rows with each sentence of a document and the next one.

    Both are adjacent in the source, whatever is left out later. With a ``block``, documents are cut into parts of so
    many sentences, and no pair reaches from one to the next.
    """
    before: DataRow | None = None
    index = 0
    for row in rows:
        index = index + 1 if before is not None and before.values[0] == row.values[0] else 0
        part = index // block if block else 0
        if before is not None and index and not (block and index % block == 0):
            document, text = before.values
            # the name of the file, since documents may be numbered in each
            name = f"{Path(row.path).name} {document} {part}"
            # where sentences are not the values, both are looked at
            yield before._replace(values=(name, text, row.values[1]), texts=before.texts + row.texts)
        before = row


def _arrange(plan: TrainingPlan) -> Arrangement:
    block = BLOCK if plan.request.held_out else 0
    return Arrangement(("document", "text", "next"), partial(pair_rows, block=block))


KIND = Seq2Seq(
    ("document", "text"),
    lambda row: (row.values[1], row.values[2]),
    "perplexity",
    arrangement=_arrange,
)

objective = Objective(
    "next",
    "the next sentence of a document",
    "documents, sentences in order: CoNLL-U, text with an empty line between documents, or document, text",
    partial(prepare, kind=KIND),
    {**SETTINGS, **CODES},
    OPTIMISERS,
    order=33,
)
