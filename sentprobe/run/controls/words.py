"""The word inputs of a task without its sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentprobe.data.splits import Splits
from sentprobe.run.control import Control, Table
from sentprobe.run.controls._changes import Floats
from sentprobe.run.variant import scores_as_high


def to_empty(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """Empty vectors (n, 0): the probe reads only the vectors of the word inputs."""
    return np.empty((len(table), 0), np.float32)


def _has_words(splits: Splits) -> bool:
    return bool(splits.train.inputs) and splits.words


control = Control(
    name="words",
    order=100,
    interpretation=(
        "The score from the word inputs of the task, without the sentence: the drop is due to the sentence."
    ),
    encodes=False,
    applies_to=_has_words,
    table=to_empty,
    objection=scores_as_high("words", "the probe without the sentence"),
)
