"""Classifiers that are trained side by side, and what an engine does with them.

The members of a group differ in dropout and L2 and are otherwise alike, so that each batch is gathered once and goes
through the first layer of all of them in one product of matrices. The rule of training is in ``network.py``; an engine
(``steps_numpy``, ``steps_numba``, ``steps_torch``) only does the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sonde.probes.probe import Probe

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

BETAS = (0.9, 0.999)
"""How much Adam keeps of its running means."""
ALPHA = 0.99
"""How much RMSprop keeps of its running mean."""
EPSILON = {"adam": 1e-8, "adagrad": 1e-10, "rmsprop": 1e-8, "sgd": 0.0}
"""What is added to the root; all of these are torch's defaults."""


class Setting(NamedTuple):
    """A point of the grid."""

    hidden: int
    dropout: float
    l2: float


@dataclass(frozen=True, eq=False)
class Group:
    """Members with the same layers. The arrays are changed by training; they belong to the engine.

    ``weights`` are, from first to last layer, weights (members, out, in) and biases (members, out). ``first`` and
    ``second`` have the same shapes: what the optimiser remembers of gradients and of their squares.
    """

    probe: Probe
    seed: int
    settings: tuple[Setting, ...]
    weights: Sequence[Any]
    first: Sequence[Any]
    second: Sequence[Any]

    def __len__(self) -> int:
        return len(self.settings)

    def keep(self, members: Sequence[int]) -> Group:
        """Only these members, as they are."""
        chosen = list(members)
        return replace(
            self,
            settings=tuple(self.settings[i] for i in chosen),
            weights=[each[chosen] for each in self.weights],
            first=[each[chosen] for each in self.first],
            second=[each[chosen] for each in self.second],
        )


class Engine(Protocol):
    """The arithmetic of training, for the three kinds of arrays there are."""

    def hold(self, array: Floats) -> Any:
        """The array as this engine computes with it."""
        ...

    def train(self, group: Group, xs: Floats, rows: Ints, ys: Ints, step: int) -> None:
        """Go through these rows of ``xs`` (any, d) and their labels, batch by batch; ``step`` batches were done."""
        ...

    def logits(self, group: Group, xs: Floats) -> Floats:
        """The scores (members, n, classes) of rows (n, d), without dropout."""
        ...

    def copy(self, group: Group, member: int) -> tuple[Floats, ...]:
        """The weights of one member, as arrays that training does not change."""
        ...


def begin(engine: Engine, probe: Probe, seed: int, settings: Sequence[Setting], first: Sequence[Floats]) -> Group:
    """Members that all start from the same weights."""
    many = [np.repeat(each[None], len(settings), axis=0) for each in first]
    return Group(
        probe,
        seed,
        tuple(settings),
        [engine.hold(each) for each in many],
        [engine.hold(np.zeros_like(each)) for each in many],
        [engine.hold(np.zeros_like(each)) for each in many],
    )
