"""Random vectors instead of those of the encoder, one per text."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.data.splits import any_set
from sentprobe.run.control import Control, Table
from sentprobe.run.controls._changes import Floats
from sentprobe.run.variant import above_majority


def to_gaussian(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """A Gaussian vector for each text, (n, d), seeded by its hash: the same for equal texts, otherwise independent."""
    from sentprobe.encoders.schemes.baseline import Random

    vectors: Floats = Random(table.shape[1], seed)(texts)
    return vectors


control = Control(
    name="gaussian",
    order=90,
    interpretation=(
        "The score from random vectors of the same dimension, one per text: above the majority class only by chance, "
        "or because texts occur in both train and test."
    ),
    encodes=False,
    applies_to=any_set,
    table=to_gaussian,
    probe="used",
    objection=above_majority,
)
