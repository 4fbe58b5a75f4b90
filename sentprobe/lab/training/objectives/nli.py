"""Natural language inference: does one sentence follow from another, contradict it, or neither.

The schedule, the loss and the classifier are those of InferSent's ``train_nli.py``: SGD, or Adam with another rule for
stopping. Its default classifier has two hidden layers of 512 units without a non-linearity. Conneau et al. (2018) have
``head=100 head_layers=1 nonlinear=yes``, and XNLI ``head=128 head_layers=1 nonlinear=yes head_dropout=0.1``.
"""

from __future__ import annotations

from pathlib import Path

from torch import nn

from sentprobe.encoders import Spec
from sentprobe.errors import CorpusError, UsageError
from sentprobe.lab.networks.folder import open_folder
from sentprobe.lab.schemes.trained import checkpoint_of
from sentprobe.lab.training.objective import Objective, Prepared
from sentprobe.lab.training.objectives._classifier import OPTIMISERS, build_head, head_settings, prepare_classifier
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.rows import DataRow

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


def load_nli_head(name: str, why: str) -> tuple[nn.Module, int]:
    """The classifier of ``trained:FOLDER``, on ``features`` of two vectors, and the size of these vectors.

    It is that of the checkpoint that is named. ``why`` begins the message if there is none.
    """
    spec = Spec.parse(name)
    folder = open_folder(Path(spec.path).expanduser()) if spec.scheme == "trained" else None
    request = folder.config.get("request", {}) if folder else {}
    if folder is None or request.get("objective") != "nli":
        raise UsageError(f"{why} needs an encoder that was trained with nli, and {name} was not.")
    if options := sorted({"layer", "pool", "random"} & dict(spec.options).keys()):
        raise UsageError(f"{why} needs the vectors that the classifier was trained on: leave {options[0]} out.")
    size = int(folder.config["size"])
    head = build_head(4 * size, request["objective_settings"], len(LABELS))
    weights = folder.weights(checkpoint_of(spec, folder))
    head.load_state_dict(
        {key.removeprefix("head."): value for key, value in weights.items() if key.startswith("head.")}
    )
    return head.eval(), size
