"""The words beside the sentence, without it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sonde.run.control import Control, Table
from sonde.run.controls._vectors import Floats
from sonde.run.parts import Parts


def to_empty(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """Vectors without numbers, (n, 0): what the probe reads is the vectors of the words beside the sentence."""
    return np.empty((len(table), 0), np.float32)


def _has_words(parts: Parts) -> bool:
    return bool(parts.train.inputs) and parts.words


control = Control(
    name="words",
    order=100,
    interpretation=(
        "The score from the words beside the sentence, without the sentence: the score minus this one is due to the "
        "sentence."
    ),
    encodes=False,
    applies_to=_has_words,
    table=to_empty,
)
