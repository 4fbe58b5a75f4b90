"""Shuffled labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sentprobe.core.hashing import hash_64
from sentprobe.data.splits import Split


def shuffled_part(part: Split, stream: str) -> Split:
    """The rows with their labels in random order, drawn from a named random stream."""
    return replace(part, labels=np.random.default_rng(hash_64(stream)).permutation(part.labels))
