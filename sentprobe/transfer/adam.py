"""Adam as in torch, on one flat array that holds all weights of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from sentprobe.probes.features import Floats
from sentprobe.probes.network.group import BETAS, EPSILON
from sentprobe.probes.network.steps_numpy import BLOCK


@dataclass(frozen=True, eq=False)
class Adam:
    """Weights, their gradient, and the moments, (n,) each. A step changes all of them.

    Both moments are kept without the factors 1 - beta, which are applied to the step instead; this saves two passes
    over the arrays.
    """

    weights: Floats
    gradient: Floats
    first: Floats
    second: Floats
    buffer: Floats
    """Scratch space for one block."""

    @classmethod
    def of(cls, arrays: Sequence[Floats]) -> Adam:
        """Start from these arrays, flattened and concatenated: (n,)."""
        weights = np.concatenate([array.ravel() for array in arrays])
        gradient, first, second = (np.zeros_like(weights) for _ in range(3))
        return cls(weights, gradient, first, second, np.empty(BLOCK, np.float32))

    def step(self, number: int, rate: float) -> None:
        """Take the ``number``-th step, from 1, by the gradient, which is overwritten."""
        # torch's step with numerator and denominator multiplied by ``root``, so that sqrt(second) needs no factor;
        # the bias corrections 1 - beta ** number are in ``root`` and ``length``
        root = math.sqrt((1 - BETAS[1] ** number) / (1 - BETAS[1]))
        length = np.float32(rate * root * (1 - BETAS[0]) / (1 - BETAS[0] ** number))
        epsilon = np.float32(EPSILON["adam"] * root)
        keep_first, keep_second = np.float32(BETAS[0]), np.float32(BETAS[1])
        # block by block, so that the five arrays stay in the processor's cache for all passes
        for start in range(0, len(self.weights), BLOCK):
            block = slice(start, start + BLOCK)
            w, g, m, v = self.weights[block], self.gradient[block], self.first[block], self.second[block]
            buffer = self.buffer[: len(w)]
            m *= keep_first
            m += g
            v *= keep_second
            g *= g
            v += g
            np.sqrt(v, out=buffer)
            buffer += epsilon
            np.divide(m, buffer, out=buffer)
            buffer *= length
            w -= buffer


def views(flat: Floats, shapes: Sequence[tuple[int, ...]]) -> list[Floats]:
    """The arrays of these shapes, one after the other, as views of the flat array (n,)."""
    ends = list(accumulate(math.prod(shape) for shape in shapes))
    return [flat[end - math.prod(shape) : end].reshape(shape) for end, shape in zip(ends, shapes, strict=True)]
