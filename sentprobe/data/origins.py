"""The sentences that rows were made from, for tasks that change sentences: the change is undone by the row's marks."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.data.dataset import Dataset
from sentprobe.data.expected import expectations_for
from sentprobe.task import Example
from sentprobe.tasks import is_name, load


def origins(dataset: Dataset) -> Iterator[tuple[Example, str | None]]:
    """Every row, with the text of its sentence before it was changed; None if the row does not show it.

    Where clauses were exchanged, capital letters may differ: that of the first word may be its own or not.
    """
    # never a path or a module: the name comes with the data
    task = load(dataset.task) if is_name(dataset.task) else None
    for _, row in dataset:
        yield row, row.text if task is None or task.original is None else task.original(row)


def sentences_of(dataset: Dataset) -> Iterator[str]:
    """All sentences in the rows of a set: as text, as tokens, before they were changed, and in extra columns."""
    extra = expectations_for(dataset).inputs
    for row, source in origins(dataset):
        yield row.text
        yield " ".join(row.tokens)
        yield source or row.text
        yield from (value for name, value in row.extra if name in extra)
