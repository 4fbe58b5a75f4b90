"""The length of the vector alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sonde.run.control import Control, Table
from sonde.run.controls._vectors import Floats, norms_of
from sonde.run.parts import Parts

NORM_TOLERANCE = 1e-6
"""Part of the largest norm below which two norms are one: vectors brought to length 1 in float32 differ by less, and a
probe that standardises its input would make much of the last bit."""


def to_norm(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """The Euclidean norm of each vector, (n, 1)."""
    norms = norms_of(table)
    step = NORM_TOLERANCE * (norms.max(initial=0.0) or 1.0)
    made: Floats = (np.rint(norms / step) * step).astype(np.float32)[:, None]
    return made


def _learned_from(parts: Parts) -> bool:
    """Whether anything is learned: two lengths, compared as vectors are, always point the same way."""
    return len(parts.train) > 0


control = Control(
    name="norm",
    order=70,
    interpretation=(
        "The score from the norm of the vector alone; the norm falls with the number of words where vectors are "
        "averages."
    ),
    encodes=False,
    applies_to=_learned_from,
    table=to_norm,
)
