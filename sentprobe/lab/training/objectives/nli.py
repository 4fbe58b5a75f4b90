"""Natural language inference: does one sentence follow from another, contradict it, or neither.

The schedule, the loss and the classifier are those of InferSent's ``train_nli.py``: SGD, or Adam with another rule for
stopping. Its default classifier has two hidden layers of 512 units without a non-linearity. Conneau et al. (2018) have
``head=100 head_layers=1 nonlinear=yes``, and XNLI ``head=128 head_layers=1 nonlinear=yes head_dropout=0.1``.
"""

from __future__ import annotations

from sentprobe.errors import CorpusError
from sentprobe.lab.training.objective import Objective, Prepared
from sentprobe.lab.training.objectives._classifier import OPTIMISERS, head_settings, prepare_classifier
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.reading import DataRow

LABELS = ("entailment", "neutral", "contradiction")
UNLABELLED = "-"
"""What SNLI has where annotators did not agree."""
FIELDS = ("text1", "text2", "label")


def prepare(plan: TrainingPlan) -> Prepared:
    """Read the pairs and build the classifier."""
    inputs = plan.inputs(lambda: (text for row in plan.rows("train", FIELDS) for text in row.values[:2]))
    return prepare_classifier(plan, FIELDS, inputs, len(LABELS), label_number)


def label_number(row: DataRow) -> int | None:
    """The class of a row, from 0; None if it has no label."""
    label = row.values[2]
    if label == UNLABELLED:
        return None
    if label not in LABELS:
        raise CorpusError(row.path, row.line, f"the label {label!r}", f"one of {', '.join(LABELS)}, or -")
    return LABELS.index(label)


objective = Objective(
    "nli",
    "does one sentence follow from another, contradict it, or neither",
    "pairs with a label (entailment, neutral, contradiction): text1, text2, label",
    prepare,
    head_settings(layers=2),
    OPTIMISERS,
    order=10,
)
