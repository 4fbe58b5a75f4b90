"""Vectors of which a part is taken away, or all.

Each function takes the vectors (n, d) of n texts, the texts and a seed, and gives an array of n rows. A table is read a
block at a time, for it may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sonde.run.controls.control import Control, Table, any_set
from sonde.run.parts import Parts

BLOCK_ROWS = 256
"""Vectors read at a time."""
NORM_TOLERANCE = 1e-6
"""Part of the largest norm below which two norms are one: vectors brought to length 1 in float32 differ by less, and a
probe that standardises its input would make much of the last bit."""

Floats = npt.NDArray[np.float32]


def to_norm(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """The Euclidean norm of each vector, (n, 1)."""
    norms = _norms(table)
    step = NORM_TOLERANCE * (norms.max(initial=0.0) or 1.0)
    made: Floats = (np.rint(norms / step) * step).astype(np.float32)[:, None]
    return made


def to_direction(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """Each vector divided by its norm, (n, d); a zero vector stays what it is."""
    made = np.empty(table.shape, np.float32)
    norms = _norms(table)
    by = np.where(norms > 0, norms, 1)
    for rows in _blocks(len(table)):
        made[rows] = table[rows] / by[rows, None]
    return made


def _norms(table: Table) -> npt.NDArray[np.float64]:
    found = np.empty(len(table))
    for rows in _blocks(len(table)):
        some = np.asarray(table[rows], np.float64)
        found[rows] = np.sqrt(np.einsum("ij,ij->i", some, some))
    return found


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS))


def to_gaussian(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """A Gaussian vector for each text, (n, d), drawn by its hash: equal for equal texts and otherwise unrelated."""
    from sonde.encoders.schemes.baseline import Random

    made: Floats = Random(table.shape[1], seed)(texts)
    return made


def to_empty(table: Table, texts: Sequence[str], seed: int) -> Floats:
    """Vectors without numbers, (n, 0): what the probe reads is the vectors of the words beside the sentence."""
    return np.empty((len(table), 0), np.float32)


def _has_words(parts: Parts) -> bool:
    return bool(parts.train.inputs) and parts.words


def _learned_from(parts: Parts) -> bool:
    """Whether anything is learned: two lengths, compared as vectors are, always point the same way."""
    return len(parts.train) > 0


norm = Control(
    name="norm",
    interpretation="What the length of the vector alone tells; it falls with the number of words where vectors are "
    "averages.",
    encodes=False,
    applies_to=_learned_from,
    table=to_norm,
)
direction = Control(
    name="direction",
    interpretation="What is left when all vectors are brought to the same length: the score minus this one is what "
    "only the "
    "norm told.",
    encodes=False,
    applies_to=any_set,
    table=to_direction,
)
gaussian = Control(
    name="gaussian",
    interpretation="What the probe makes of vectors of as many dimensions that say nothing but which text it is: "
    "above the "
    "majority only by chance, or because texts are in both train and test.",
    encodes=False,
    applies_to=any_set,
    table=to_gaussian,
    probe="used",
)
words = Control(
    name="words",
    interpretation="What the words beside the sentence tell without it: the score minus this one is owed to the "
    "sentence.",
    encodes=False,
    applies_to=_has_words,
    table=to_empty,
)
