"""A classifier on the vectors of one sentence or of two, as in InferSent; what ``nli`` and ``classify`` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import DataError
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.training.examples import Examples, Stream
from sentprobe.lab.training.objective import Loss, Prepared, guessing
from sentprobe.lab.training.plan import LABEL, EncoderInputs, TrainingPlan
from sentprobe.lab.training.rows import DataRow

EVALUATION_BATCH = 256
OPTIMISERS: dict[str, dict[str, Any]] = {
    "sgd": {"lr": 0.1, "decay": 0.99, "shrink": 5.0, "min_lr": 1e-5, "clip": 5.0, "clip_lr": True},
    "adam": {"lr": 1e-3, "patience": 2, "consecutive": False, "clip": 5.0, "clip_lr": True},
}
"""The schedules of InferSent's train_nli.py, for both of its optimisers."""


class LabelledBatch(NamedTuple):
    """Labelled sentences, or pairs of them."""

    sides: tuple[tuple[Tensor, Tensor], ...]
    """Ids (rows, time) and lengths (rows,), for each sentence of a row."""
    labels: Tensor
    """(rows,)"""


class Classifier(nn.Module):
    """An encoder, and a classifier on the vector u of a sentence, or on cat(u, v, |u - v|, u * v) of a pair."""

    def __init__(self, encoder: SentenceEncoder, settings: Settings, sides: int, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = build_head(encoder.size * (4 if sides == 2 else 1), settings, classes)

    def logits(self, batch: LabelledBatch) -> Tensor:
        """(rows, classes)."""
        logits: Tensor = self.head(features([self.encoder(*side).vectors for side in batch.sides]))
        return logits

    def forward(self, batch: LabelledBatch) -> Loss:
        """The cross-entropy."""
        loss = nn.functional.cross_entropy(self.logits(batch), batch.labels, reduction="sum")
        return Loss(loss, len(batch.labels), sum(int(lengths.sum()) for _, lengths in batch.sides))


def features(vectors: Sequence[Tensor]) -> Tensor:
    """What a classifier sees of the vectors (rows, size) of one sentence, or of the two of a pair."""
    if len(vectors) == 1:
        return vectors[0]
    u, v = vectors
    return torch.cat((u, v, (u - v).abs(), u * v), 1)


def head_settings(layers: int) -> dict[str, Setting]:
    """The settings of a classifier that has this many hidden layers by default."""
    return {
        "head": Setting(512, "units of each hidden layer of the classifier"),
        "head_layers": Setting(layers, "hidden layers of the classifier", low=0),
        "nonlinear": Setting(False, "whether the classifier has dropout and tanh; without, it is linear"),
        "head_dropout": Setting(0.0, "dropout before each layer of a non-linear classifier", low=0, high=0.99),
    }


def build_head(width: int, settings: Settings, classes: int) -> nn.Sequential:
    """A classifier; linear layers follow each other without a non-linearity unless it is requested, as in InferSent."""
    units, depth = int(settings["head"]), int(settings["head_layers"])
    widths = [width, *[units] * depth, classes]
    layers: list[nn.Module] = []
    for number, (before, after) in enumerate(pairwise(widths)):
        if settings["nonlinear"]:
            layers += [nn.Tanh()] if number else []
            layers.append(nn.Dropout(float(settings["head_dropout"])))
        layers.append(nn.Linear(before, after))
    return nn.Sequential(*layers)


def prepare_classifier(
    plan: TrainingPlan,
    fields: Sequence[str],
    inputs: EncoderInputs,
    classes: int,
    number: Callable[[DataRow], int | None],
) -> Prepared:
    """Read the rows and build the model.

    ``fields`` are one text or two, and the label; ``number`` is the class of a row, from 0, or None to leave it out.
    """
    texts = tuple(fields[:-1])
    train, dev = (_read(plan, role, fields, inputs, number) for role in ("train", "dev"))
    # seeded, so that the classifier does not depend on what was drawn before
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(plan.request.options.seed + 1)
        model = Classifier(inputs.encoder(), plan.settings, len(texts), classes)

    def collate(examples: Examples, rows: NDArray[np.int64]) -> LabelledBatch:
        labels = torch.from_numpy(examples.numbers[LABEL][rows].astype(np.int64))
        return LabelledBatch(tuple(examples.sequences[text].padded(rows) for text in texts), labels)

    def evaluate() -> dict[str, float]:
        right = 0
        device = next(model.head.parameters()).device
        order = np.lexsort([dev.sequences[text].lengths for text in reversed(texts)])
        for at in range(0, len(dev), EVALUATION_BATCH):
            batch = collate(dev, order[at : at + EVALUATION_BATCH])
            sides = tuple((ids.to(device), lengths.to(device)) for ids, lengths in batch.sides)
            right += int((model.logits(LabelledBatch(sides, batch.labels)).argmax(1).cpu() == batch.labels).sum())
        # InferSent compares epochs by accuracies rounded like this
        return {"accuracy": round(100 * right / len(dev), 2)}

    lengths = np.stack([train.sequences[text].lengths for text in texts])
    stream = Stream("train", lengths, lambda rows: collate(train, rows))
    largest_class = np.bincount(dev.numbers[LABEL]).max() / len(dev)
    chance = {"accuracy": guessing(float(largest_class), len(dev))}
    return Prepared(model, (stream,), evaluate, "accuracy", inputs, chance=chance)


def _read(
    plan: TrainingPlan, role: str, fields: Sequence[str], inputs: EncoderInputs, number: Callable[[DataRow], int | None]
) -> Examples:
    ids = inputs.vocabulary.ids
    with plan.writer(role, fields[:-1], (LABEL,)) as out:
        for row in plan.rows(role, fields):
            if (label := number(row)) is not None:
                out.add([ids(text) for text in row.values[:-1]], (label,))
        counts = plan.counts[role]
        if unlabelled := counts["used"] - out.count:
            counts["used"], counts["without a label"] = out.count, unlabelled
        if not out.count:
            raise DataError(f"All {unlabelled:,} rows of {role} are without a label.")
        return out.finish()
