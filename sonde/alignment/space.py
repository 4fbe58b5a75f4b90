"""A space of words: its most frequent words and their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sonde.core.cache import cache_folder
from sonde.encoders.wordvectors import read_vectors
from sonde.errors import DataError

Matrix = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Space:
    """Words, the most frequent first, and their vectors."""

    name: str
    """As it was typed."""
    words: Sequence[str]
    vectors: Matrix
    """(n, d), held in memory."""
    digest: str
    """Of all words and vectors that were read."""

    @cached_property
    def index(self) -> dict[str, int]:
        """Word → its row."""
        return {word: row for row, word in enumerate(self.words)}

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return int(self.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)


def read_space(path: str, limit: int | None = None) -> Space:
    """Read a file of word vectors, in any format that ``vec:`` reads, or only its first ``limit`` words."""
    found = read_vectors(Path(path).expanduser(), cache_folder() / "vectors", limit)
    vectors = np.array(found.matrix[:], np.float32, order="C")
    if len(found.words) < 2:
        raise DataError(f"{path} has vectors of {len(found.words)} words; expected two or more.")
    return Space(path, found.words, vectors, found.digest)
