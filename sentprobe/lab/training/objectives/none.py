"""Nothing: the encoder stays as it was initialised, the Untrained of the papers.

Its words are those of the word vectors, or of training data, of which nothing else is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from sentprobe.errors import UsageError
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.training.objective import Objective, Prepared
from sentprobe.lab.training.plan import TrainingPlan

FIELDS = ("text",)


class Untrained(nn.Module):
    """An encoder and nothing else."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        super().__init__()
        self.encoder = encoder


def prepare(plan: TrainingPlan) -> Prepared:
    """Build the encoder."""
    request = plan.request
    if not request.train and not request.vectors:
        raise UsageError(
            "Name word vectors with --vectors, or texts with --train, so that the encoder knows some words."
        )

    def texts() -> Iterator[str]:
        if request.train:
            yield from (row.values[0] for row in plan.rows("train", FIELDS))

    inputs = plan.inputs(texts)
    return Prepared(Untrained(inputs.encoder()), (), dict, "", inputs)


objective = Objective(
    "none",
    "nothing: the encoder as it was initialised",
    "nothing, if word vectors are given; otherwise sentences, for their words: text",
    prepare,
    trains=False,
    needs_dev=False,
    order=100,
)
