"""What the task of a set says about it: what the set should look like, and which sentences its rows were made from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentprobe.data.dataset import Dataset
from sentprobe.errors import DataError
from sentprobe.tasks import Example, LabelIssue, Task, is_task_name, load_task


@dataclass(frozen=True, slots=True)
class Expectations:
    """What a set should be, according to its manifest or the task of its name."""

    task: str | None = None
    labels: tuple[str, ...] | None = None
    solved_by: frozenset[str] = frozenset()
    disjoint: bool = False
    """Target forms must not be shared between splits."""
    changes: str = ""
    inputs: tuple[str, ...] = ()
    declared_inputs: tuple[str, ...] | None = None
    """The extra inputs that the task of that name declares, whatever they are called here."""
    natural_balance: bool = False
    """Classes are as frequent as in the corpus."""
    label_issues: Callable[[Sequence[Example]], list[LabelIssue]] | None = None
    """Finds labels that the tokens contradict."""
    doubts: Callable[[Sequence[Example], str | None], list[str]] | None = None
    """Finds targets whose forms speak against the label."""
    label_errors: Mapping[str, Any] | str | None = None
    """How often labels of the annotator are wrong, as the manifest has it, or why that is not known; None: people
    annotated the corpus, or nothing is known of it."""
    language: str | None = None
    classes: bool = True
    """Whether labels are classes, not scores or image numbers."""


def task_expectations(task: Task, disjoint: bool, language: str | None, natural_balance: bool = False) -> Expectations:
    """What a task expects of every set made for it."""
    return Expectations(
        task=task.name,
        labels=task.labels if isinstance(task.labels, tuple) else None,
        solved_by=task.solved_by,
        disjoint=disjoint,
        changes=task.changes,
        inputs=task.inputs,
        declared_inputs=task.inputs,
        natural_balance=natural_balance,
        label_issues=task.label_issues,
        doubts=task.doubts,
        language=language,
    )


NUMBERED = ("relatedness", "similarity", "retrieval")
"""Protocols of transfer sets whose labels are not classes."""


def expectations_for(dataset: Dataset, task: Task | None = None) -> Expectations:
    """What the task (given, or that of the set's name) and the manifest say."""
    manifest = dataset.manifest
    if task is None and is_task_name(dataset.task):  # never a path or a module: the name comes with the data
        task = load_task(dataset.task)
    if task is None:
        of_task = Expectations(language=dataset.language)
    else:
        of_task = task_expectations(task, any(p.disjoint for p in task.policies.values()), dataset.language)
    policy = manifest.get("policy", {})
    solved_by, inputs = manifest.get("solved_by", of_task.solved_by), manifest.get("inputs", of_task.inputs)
    if not isinstance(policy, dict) or not all(isinstance(x, list | tuple | frozenset) for x in (solved_by, inputs)):
        raise DataError(f"The manifest of {dataset.name} was altered: its policy, solved_by or inputs are not as made.")
    errors = manifest.get("label_errors")
    if not isinstance(errors, dict | str | None) or (isinstance(errors, dict) and not _are_errors(errors)):
        raise DataError(f"The manifest of {dataset.name} was altered: its label_errors are not as made.")
    return replace(
        of_task,
        solved_by=frozenset(map(str, solved_by)),
        disjoint=bool(policy.get("disjoint", of_task.disjoint)),
        inputs=tuple(map(str, inputs)),
        natural_balance=policy.get("balance") == "natural",
        label_errors=errors,
        classes=manifest.get("protocol") not in NUMBERED,
    )


def _are_errors(errors: Mapping[str, Any]) -> bool:
    """Whether this is what ``sentprobe make`` writes of the errors of labels."""
    labels = errors.get("labels")
    return isinstance(labels, dict) and all(
        isinstance(counts, dict) and all(isinstance(n, int) and n >= 0 for n in counts.values())
        for counts in labels.values()
    )


# The sentences that rows were made from: tasks that change sentences leave marks, by which the change is undone


def origins(dataset: Dataset) -> Iterator[tuple[Example, str | None]]:
    """Every row, with the text of its sentence before it was changed; None if the row does not show it.

    Where clauses were exchanged, capital letters may differ: that of the first word may be its own or not.
    """
    # never a path or a module: the name comes with the data
    task = load_task(dataset.task) if is_task_name(dataset.task) else None
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
