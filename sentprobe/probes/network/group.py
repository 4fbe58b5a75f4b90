"""Networks that are trained together: their initial weights, their dropout masks, and what an engine does with them.

The members of a group differ only in dropout and L2, so that each batch is gathered once and goes through the first
layer of all of them in one matrix product. The training rule is in ``training.py``; an engine (``steps_numpy``,
``steps_numba``, ``steps_torch``) only does the arithmetic. Everything random is defined here, so that all engines train
the same networks.

Initial weights are those of ``torch.manual_seed(seed)`` and then ``nn.Linear`` after ``nn.Linear``, on the CPU: the
Mersenne Twister, which numpy's RandomState is too, 24 bits of each of its numbers, and torch's default bounds. They are
equal to torch's to the last bit on processors with fused multiply-add (AVX2 and later); on others torch itself differs
in that bit.

Dropout masks are a hash of seed, step, unit and row. torch's depend on its build and on what was drawn before; these do
not: unit u of row r of the batch of step t is dropped with probability p if

    mix(mix(mix(mix(seed) + t) + u) + r) < p · 2³²

in arithmetic modulo 2³², mix being the 32-bit finaliser "lowbias32" of C. Wellons' hash prospector. Steps count from 1;
units and rows from 0. The settings of a grid share the hashes, as settings with the same units do in SentEval, where
each fit starts from the same seed; so a mask does not depend on which other settings are trained at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from sentprobe.probes.features import Floats, Ints
from sentprobe.probes.probe import Probe

SEEDS = 2**32
"""Seeds are 0 … this - 1: what numpy's generator accepts, and all that torch's uses of a seed."""
BITS = 0xFFFFFFFF
BETAS = (0.9, 0.999)
"""The decay rates of Adam's running averages."""
ALPHA = 0.99
"""The decay rate of RMSprop's running average."""
EPSILON = {"adam": 1e-8, "adagrad": 1e-10, "rmsprop": 1e-8, "sgd": 0.0}
"""What is added to the square root; all of these are torch's defaults."""


class GridPoint(NamedTuple):
    """A point of the grid."""

    hidden: int
    dropout: float
    l2: float


@dataclass(frozen=True, eq=False)
class Group:
    """Members with layers of the same size. The arrays belong to the engine, and training changes them.

    ``weights`` are, from the first to the last layer, weights (members, out, in) and biases (members, out). ``first``
    and ``second`` have the same shapes: the optimiser's running averages of gradients and of their squares.
    """

    probe: Probe
    seed: int
    settings: tuple[GridPoint, ...]
    weights: Sequence[Any]
    first: Sequence[Any]
    second: Sequence[Any]

    def __len__(self) -> int:
        return len(self.settings)

    def keep(self, members: Sequence[int]) -> Group:
        """The group with only these members."""
        chosen = list(members)
        return replace(
            self,
            settings=tuple(self.settings[i] for i in chosen),
            weights=[array[chosen] for array in self.weights],
            first=[array[chosen] for array in self.first],
            second=[array[chosen] for array in self.second],
        )


class NetworkEngine(Protocol):
    """The arithmetic of training, on arrays of its own kind."""

    def hold(self, array: Floats) -> Any:
        """The array as this engine computes with it."""
        ...

    def train(self, group: Group, xs: Floats, rows: Ints, ys: Ints, step: int) -> None:
        """Train on these rows of ``xs`` (any, d) and their labels, batch by batch, after ``step`` batches."""
        ...

    def logits(self, group: Group, xs: Floats) -> Floats:
        """The logits (members, n, classes) of rows (n, d), without dropout."""
        ...

    def copy(self, group: Group, member: int) -> tuple[Floats, ...]:
        """A copy of the weights of one member."""
        ...


def begin(
    engine: NetworkEngine, probe: Probe, seed: int, settings: Sequence[GridPoint], initial: Sequence[Floats]
) -> Group:
    """A group whose members all start from the same weights, as ``initial_layers`` draws them."""
    stacked = [np.repeat(array[None], len(settings), axis=0) for array in initial]
    return Group(
        probe,
        seed,
        tuple(settings),
        [engine.hold(array) for array in stacked],
        [engine.hold(np.zeros_like(array)) for array in stacked],
        [engine.hold(np.zeros_like(array)) for array in stacked],
    )


def initial_layers(seed: int, sizes: Sequence[int]) -> list[Floats]:
    """Weights (out, in) and biases (out) of the linear layers between layers of these sizes, from first to last."""
    generator = np.random.RandomState(seed)
    layers = []
    for inputs, outputs in pairwise(sizes):
        # torch computes the two bounds differently; both are 1 / sqrt(inputs) up to the last bit
        spread = math.sqrt(2.0 / (1 + math.sqrt(5) ** 2)) / math.sqrt(inputs)
        layers.append(_uniform(generator, (outputs, inputs), math.sqrt(3.0) * spread))
        layers.append(_uniform(generator, (outputs,), 1 / math.sqrt(inputs)))
    return layers


def _uniform(generator: np.random.RandomState, shape: tuple[int, ...], bound: float) -> Floats:
    """Numbers from -bound to bound; torch rounds once for scale and shift, which float64 achieves here."""
    low, high = np.float32(-bound), np.float32(bound)
    bits = generator.randint(0, 2**32, size=shape, dtype=np.uint32) & np.uint32(2**24 - 1)
    return (bits * (float(high - low) * 2.0**-24) + float(low)).astype(np.float32)


def mix(x: Any) -> Any:
    """Hashes below 2³² of such numbers: an int, or an int64 array of numpy or torch."""
    x = (x ^ (x >> 16)) * 0x7FEB352D & BITS
    x = (x ^ (x >> 15)) * 0x846CA68B & BITS
    return x ^ (x >> 16)


def mask_key(seed: int, step: int) -> int:
    """The hash that the masks of one step are made from."""
    key: int = mix(mix(seed) + step & BITS)
    return key


def mask_hashes(key: int, units: Any, rows: Any) -> Any:
    """A hash below 2³² per unit and row; ``units`` and ``rows`` are int64 counters that broadcast."""
    return mix(mix(units + key & BITS) + rows & BITS)


def mask_threshold(dropout: float) -> int:
    """A unit is dropped if its hash is below this."""
    return int(dropout * 2**32)
