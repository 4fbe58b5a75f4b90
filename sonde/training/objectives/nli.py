"""Natural language inference: does one sentence follow from another, contradict it, or neither."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sonde.core.settings import Setting, Settings
from sonde.errors import CorpusError
from sonde.networks.encoder import SentenceEncoder
from sonde.training.examples import Examples
from sonde.training.objective import Loss, Objective, Prepared
from sonde.training.plan import Plan
from sonde.training.streams import Stream

LABELS = ("entailment", "neutral", "contradiction")
UNLABELLED = "-"
"""What SNLI has where annotators did not agree."""
FIELDS = ("text1", "text2", "label")
EVALUATION_BATCH = 256


class Batch(NamedTuple):
    """Sentence pairs."""

    first: Tensor
    first_lengths: Tensor
    second: Tensor
    second_lengths: Tensor
    labels: Tensor


class PairClassifier(nn.Module):
    """An encoder, and a classifier on cat(u, v, |u - v|, u * v)."""

    def __init__(self, encoder: SentenceEncoder, settings: Settings, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        head, dropout = int(settings["head"]), float(settings["head_dropout"])
        width = 4 * encoder.size
        if settings["nonlinear"]:
            self.head = nn.Sequential(
                nn.Dropout(dropout), nn.Linear(width, head), nn.Tanh(),
                nn.Dropout(dropout), nn.Linear(head, head), nn.Tanh(),
                nn.Dropout(dropout), nn.Linear(head, classes),
            )  # fmt: skip
        else:
            self.head = nn.Sequential(nn.Linear(width, head), nn.Linear(head, head), nn.Linear(head, classes))

    def logits(self, batch: Batch) -> Tensor:
        """(pairs, classes)."""
        u = self.encoder(batch.first, batch.first_lengths).vectors
        v = self.encoder(batch.second, batch.second_lengths).vectors
        found: Tensor = self.head(torch.cat((u, v, (u - v).abs(), u * v), 1))
        return found

    def forward(self, batch: Batch) -> Loss:
        """The cross-entropy."""
        loss = nn.functional.cross_entropy(self.logits(batch), batch.labels, reduction="sum")
        return Loss(loss, len(batch.labels), int(batch.first_lengths.sum() + batch.second_lengths.sum()))


def prepare(plan: Plan) -> Prepared:
    """Read the pairs and build the classifier."""
    inputs = plan.inputs(lambda: (text for row in plan.rows("train", FIELDS) for text in row.values[:2]))
    ids = inputs.vocabulary.ids

    def read(role: str) -> Examples:
        out = plan.writer(role, ("first", "second"), ("label",))
        unlabelled = 0
        for row in plan.rows(role, FIELDS):
            first, second, label = row.values
            if label == UNLABELLED:
                unlabelled += 1
                continue
            if label not in LABELS:
                raise CorpusError(row.path, row.line, f"the label {label!r}", f"one of {', '.join(LABELS)}, or -")
            out.add((ids(first), ids(second)), (LABELS.index(label),))
        plan.counts[role]["without a label"] = unlabelled
        return out.finish()

    train, dev = read("train"), read("dev")
    # seeded, so that the classifier does not depend on what was drawn before
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.request.options.seed + 1)
        model = PairClassifier(inputs.encoder(), plan.settings, len(LABELS))

    def collate(examples: Examples, rows: NDArray[np.int64]) -> Batch:
        columns = examples.sequences
        labels = torch.from_numpy(examples.numbers["label"][rows].astype(np.int64))
        return Batch(*columns["first"].padded(rows), *columns["second"].padded(rows), labels)

    def evaluate() -> dict[str, float]:
        right = 0
        device = next(model.parameters()).device
        order = np.lexsort((dev.sequences["second"].lengths, dev.sequences["first"].lengths))
        for at in range(0, len(dev), EVALUATION_BATCH):
            batch = Batch(*(part.to(device) for part in collate(dev, order[at : at + EVALUATION_BATCH])))
            right += int((model.logits(batch).argmax(1) == batch.labels).sum())
        return {"accuracy": 100 * right / len(dev)}

    lengths = np.stack((train.sequences["first"].lengths, train.sequences["second"].lengths))
    return Prepared(
        model, (Stream("train", lengths, lambda rows: collate(train, rows)),), evaluate, "accuracy", inputs=inputs
    )


objective = Objective(
    "nli",
    "does one sentence follow from another, contradict it, or neither",
    "pairs with a label (entailment, neutral, contradiction): text1, text2, label",
    prepare,
    {
        "head": Setting(512, "units of the classifier"),
        "nonlinear": Setting(False, "whether the classifier has tanh and dropout between its layers"),
        "head_dropout": Setting(0.0, "dropout of a non-linear classifier", low=0, high=0.99),
    },
    {
        "sgd": {"lr": 0.1, "decay": 0.99, "shrink": 5.0, "min_lr": 1e-5, "clip": 5.0, "clip_lr": True},
        "adam": {"lr": 1e-3, "patience": 2, "consecutive": False, "clip": 5.0, "clip_lr": True},
    },
    order=10,
)
