"""The initial weights of a network as torch draws them, without torch.

``torch.manual_seed(seed)`` and then ``nn.Linear`` after ``nn.Linear``, on the CPU: the Mersenne Twister, which numpy's
RandomState is too, 24 bits of each of its numbers, and torch's default bounds. Equal to torch to the last bit on
processors with fused multiply-add (AVX2 and later); on others torch itself differs in that bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

SEEDS = 2**32
"""Seeds are 0 … this - 1: what numpy's generator accepts, and all that torch's uses of a seed."""


def layers(seed: int, sizes: Sequence[int]) -> list[npt.NDArray[np.float32]]:
    """Weights (out, in) and biases (out) of the linear layers between layers of these sizes, from first to last."""
    draws = np.random.RandomState(seed)
    made = []
    for inputs, outputs in pairwise(sizes):
        # torch computes the two bounds differently; both are 1 / sqrt(inputs) up to the last bit
        spread = math.sqrt(2.0 / (1 + math.sqrt(5) ** 2)) / math.sqrt(inputs)
        made.append(_uniform(draws, (outputs, inputs), math.sqrt(3.0) * spread))
        made.append(_uniform(draws, (outputs,), 1 / math.sqrt(inputs)))
    return made


def _uniform(draws: np.random.RandomState, shape: tuple[int, ...], bound: float) -> npt.NDArray[np.float32]:
    """Numbers from -bound to bound; torch rounds once for scale and shift, which float64 achieves here."""
    low, high = np.float32(-bound), np.float32(bound)
    bits = draws.randint(0, 2**32, size=shape, dtype=np.uint32) & np.uint32(2**24 - 1)
    return (bits * (float(high - low) * 2.0**-24) + float(low)).astype(np.float32)
