"""All vectors scaled to the same norm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentprobe.data.splits import any_set
from sentprobe.run.control import Control, Table
from sentprobe.run.controls._changes import Floats, blocks, norms_of


def to_direction(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """Each vector divided by its norm, (n, d); zero vectors stay as they are."""
    scaled = np.empty(table.shape, np.float32)
    norms = norms_of(table)
    divisors = np.where(norms > 0, norms, 1)
    for rows in blocks(len(table)):
        scaled[rows] = table[rows] / divisors[rows, None]
    return scaled


control = Control(
    name="direction",
    order=80,
    interpretation=("The score when all vectors are scaled to the same norm: the drop is what only the norm encodes."),
    encodes=False,
    applies_to=any_set,
    table=to_direction,
)
