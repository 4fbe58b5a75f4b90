"""Classes of sentences, such as the sentiment of SST; as many as the training data have.

The classifier is that of InferSent's comparison with SST: one hidden layer of 512 units without a non-linearity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sentprobe.errors import CorpusError, DataError
from sentprobe.lab.training.objective import Objective, Prepared
from sentprobe.lab.training.objectives._classifier import OPTIMISERS, head_settings, prepare_classifier
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.rows import DataRow

FIELDS = ("text", "label")


def prepare(plan: TrainingPlan) -> Prepared:
    """Read the sentences and build the classifier."""
    label_set: set[str] = set()

    def texts() -> Iterator[str]:
        for row in plan.rows("train", FIELDS):
            label_set.add(row.values[1])
            yield row.values[0]

    inputs = plan.inputs(texts)
    labels = sorted(label_set)
    if len(labels) < 2:
        raise DataError(f"{', '.join(plan.request.train)}: all labels are {labels[0]!r}; expected two classes or more.")
    numbers = {label: number for number, label in enumerate(labels)}

    def number(row: DataRow) -> int:
        label = row.values[1]
        if label not in numbers:
            few = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
            raise CorpusError(row.path, row.line, f"the label {label!r}", f"one of the training data: {few}")
        return numbers[label]

    prepared = prepare_classifier(plan, FIELDS, inputs, len(labels), number)
    return replace(prepared, facts={"classes": labels})


objective = Objective(
    "classify",
    "which class a sentence belongs to",
    "sentences with a label: text, label",
    prepare,
    head_settings(layers=1),
    OPTIMISERS,
    order=20,
)
