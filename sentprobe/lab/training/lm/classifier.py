"""A Transformer that classifies pairs of sentences, as XLM on XNLI: a linear layer on the state of the first token.

Weights have the names that `transformers` has for them in ``XLMForSequenceClassification``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from sentprobe.lab.networks.kernels import drop
from sentprobe.lab.networks.xlm import XLM, Sizes
from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.tokens import END, PAD
from sentprobe.lab.training.objective import Loss


class PairBatch(NamedTuple):
    """Labelled pairs of one language."""

    ids: Tensor
    """(pairs, time): ``</s> premise </s> </s> hypothesis </s>``."""
    languages: Tensor
    """(pairs, 1)."""
    lengths: Tensor
    labels: Tensor
    """(pairs,)."""


class PairClassifier(nn.Module):
    """A Transformer and a classifier."""

    def __init__(self, sizes: Sizes, classes: int) -> None:
        super().__init__()
        self.transformer = XLM(sizes)
        self.sequence_summary = nn.ModuleDict({"summary": nn.Linear(sizes.hidden, classes)})
        self.rate = sizes.dropout

    @property
    def encoder(self) -> XLM:
        """The part without the classifier."""
        return self.transformer

    def logits(self, batch: PairBatch) -> Tensor:
        """(pairs, classes)."""
        pairs, time = batch.ids.shape
        first = torch.arange(0, pairs * time, time, device=batch.ids.device)
        states = self.transformer(batch.ids, batch.languages, None, batch.lengths, places=first)
        logits: Tensor = self.sequence_summary["summary"](drop(states, self.rate if self.training else 0.0))
        return logits

    def forward(self, batch: PairBatch) -> Loss:
        """The cross-entropy."""
        loss = nn.functional.cross_entropy(self.logits(batch), batch.labels, reduction="sum")
        return Loss(loss, len(batch.labels), int(batch.lengths.sum()))


def collate(first: Sequences, second: Sequences, labels: Any, language: int, rows: Sequence[int]) -> PairBatch:
    """A batch of some pairs; positions go on from the first sentence to the second."""
    texts = [(first[row], second[row]) for row in rows]
    lengths = [len(premise) + len(hypothesis) + 4 for premise, hypothesis in texts]
    ids = np.full((len(texts), max(lengths)), PAD, np.int64)
    for line, (premise, hypothesis) in zip(ids, texts, strict=True):
        joined = np.concatenate(([END], premise, [END, END], hypothesis, [END]))
        line[: len(joined)] = joined
    return PairBatch(
        torch.from_numpy(ids),
        torch.full((len(texts), 1), language),
        torch.tensor(lengths),
        torch.as_tensor(np.asarray(labels)[list(rows)].astype(np.int64)),
    )
