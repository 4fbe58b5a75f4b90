"""Sentences of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.lab.training.lm.tokens import END, PAD


def pad(rows: Sequence[Sequence[int] | NDArray[np.int32]]) -> tuple[Tensor, Tensor]:
    """Sentences (rows, time), END at both ends, padded, and their lengths."""
    lengths = np.array([len(row) + 2 for row in rows], np.int64)
    padded = np.full((len(rows), int(lengths.max(initial=2))), PAD, np.int64)
    for i, row in enumerate(rows):
        padded[i, [0, len(row) + 1]] = END
        padded[i, 1 : len(row) + 1] = row
    return torch.from_numpy(padded), torch.from_numpy(lengths)
