"""The norm of the vector alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sentprobe.run.control import Control, Table, has_training_rows
from sentprobe.run.controls._changes import Floats, norms_of

NORM_TOLERANCE = 1e-6
"""Norms closer than this fraction of the largest are made equal: the norms of vectors normalised in float32 differ by
less, and a probe that standardises its input would amplify the last bit."""


def to_norm(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """The Euclidean norm of each vector, (n, 1)."""
    norms = norms_of(table)
    step = NORM_TOLERANCE * (norms.max(initial=0.0) or 1.0)
    rounded: Floats = (np.rint(norms / step) * step).astype(np.float32)[:, None]
    return rounded


control = Control(
    name="norm",
    order=70,
    interpretation=(
        "The score from the norm of the vector alone; where vectors are averages, the norm falls with the number of "
        "words."
    ),
    encodes=False,
    applies_to=has_training_rows,  # cosines of one-dimensional positive vectors are always 1
    table=to_norm,
)
