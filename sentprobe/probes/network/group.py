"""Classifiers that are trained together, and what an engine does with them.

The members of a group differ only in dropout and L2, so that each batch is gathered once and goes through the first
layer of all of them in one matrix product. The training rule is in ``training.py``; an engine (``steps_numpy``,
``steps_numba``, ``steps_torch``) only does the arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from sentprobe.probes.probe import Probe

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

BETAS = (0.9, 0.999)
"""How much Adam keeps of its running averages."""
ALPHA = 0.99
"""How much RMSprop keeps of its running average."""
EPSILON = {"adam": 1e-8, "adagrad": 1e-10, "rmsprop": 1e-8, "sgd": 0.0}
"""What is added to the square root; all of these are torch's defaults."""


class Setting(NamedTuple):
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
    settings: tuple[Setting, ...]
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
            weights=[each[chosen] for each in self.weights],
            first=[each[chosen] for each in self.first],
            second=[each[chosen] for each in self.second],
        )


class Engine(Protocol):
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


def begin(engine: Engine, probe: Probe, seed: int, settings: Sequence[Setting], first: Sequence[Floats]) -> Group:
    """A group whose members all start from the same weights."""
    many = [np.repeat(each[None], len(settings), axis=0) for each in first]
    return Group(
        probe,
        seed,
        tuple(settings),
        [engine.hold(each) for each in many],
        [engine.hold(np.zeros_like(each)) for each in many],
        [engine.hold(np.zeros_like(each)) for each in many],
    )
