"""L-BFGS as a generator that requests the loss at one point after another, so that several searches share each read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from sentprobe.probes.features import Doubles, Floats

Value = tuple[float, Doubles]
"""The loss at a point (outputs, d + 1), whose last column is the bias; and its gradient, of the same shape."""
Solve = Callable[[Floats], Floats]
"""Multiplies a gradient (outputs, d + 1) by an approximate inverse of the Hessian."""

MEMORY, MIN_MEMORY, MAX_MEMORY_VALUES = 10, 2, 10 * 2**20
"""Steps that L-BFGS remembers: fewer, down to the second, if they would have more numbers in all than the third. With
millions of parameters, two steps take a search nearly as far as ten."""
NOISE = 1e-6
"""The share of a loss that rounding to float32 may hide."""
MIN_STEP = 1e-5
"""The share of a step below which the line search gives up."""
SUFFICIENT_DECREASE, FLATTER = 1e-4, 0.8
"""A step is accepted if the loss falls by this share of what the slope promises (Armijo's condition), or if the slope
along it is at most this share of what it was (the strong Wolfe condition) and the loss has not risen noticeably."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, eq=False)
class StepPair:
    """A step of a search, and what it did to the gradient."""

    move: Floats
    change: Floats
    """Of the gradient."""
    solved: Floats
    """The change times the approximate inverse Hessian that the search was given."""
    product: float
    """Of the two."""


@dataclass(frozen=True, eq=False)
class End:
    """Where a search has ended."""

    point: Doubles
    value: Value
    """The value there, without the penalty; with an empty gradient if that was not kept."""
    passes: int
    """Points that were evaluated."""
    converged: bool
    memory: Sequence[StepPair] = ()
    """The last steps, with which a search can be resumed."""
    scale: float = 1.0
    """The factor by which the approximate inverse Hessian was wrong about the last change."""

    def without_arrays(self) -> End:
        """The same without point, gradient and memory, each as large as a model or larger."""
        return replace(self, point=np.empty((0, 0)), value=(self.value[0], np.empty(0)), memory=())


Search = Generator[Doubles, Value, End]


def run_searches(
    searches: Mapping[K, Search], evaluate: Callable[[Mapping[K, Doubles]], Mapping[K, Value]]
) -> dict[K, End]:
    """Run searches to their ends, with one call of ``evaluate`` for the points of all that are still running."""
    ends: dict[K, End] = {}
    values: dict[K, Any] = dict.fromkeys(searches)
    while values:
        requested: dict[K, Doubles] = {}
        for name in searches:
            if name in values:
                try:
                    requested[name] = searches[name].send(values.pop(name))  # None starts it
                except StopIteration as end:
                    ends[name] = end.value
        values = dict(evaluate(requested)) if requested else {}
    return ends


def by_search(
    evaluate: Callable[[Sequence[Doubles]], Sequence[Value]],
) -> Callable[[Mapping[K, Doubles]], dict[K, Value]]:
    """An ``evaluate`` for ``run_searches``, from one that does not depend on which search a point is of."""
    return lambda points: dict(zip(points, evaluate(list(points.values())), strict=True))


def descend(
    point: Doubles,
    value: Value,
    penalty: Doubles,
    solve: Solve,
    *,
    tolerance: float,
    limit: int,
    share: float = np.inf,
    first: Doubles | None = None,
    memory: Sequence[StepPair] = (),
    scale: float = 1.0,
) -> Search:
    """Search for the minimum of a convex loss + the sum of penalty / 2 * point², from a point whose loss is known.

    ``penalty`` is (d + 1,), ``solve`` multiplies by the approximate inverse of the Hessian, and ``first`` is a step to
    try before all others; ``memory`` and ``scale`` are those of a search that is resumed. The search ends where the
    quadratic model of the objective has its minimum less than ``tolerance`` below, and less than ``share`` of the
    objective, or after ``limit`` points.
    """
    penalty = penalty.astype(point.dtype, copy=False)
    loss, slope = _penalised(point, value, penalty)
    solved = solve(slope.astype(np.float32, copy=False))
    pairs = deque(memory, maxlen=max(MIN_MEMORY, min(MEMORY, MAX_MEMORY_VALUES // point.size)))
    del memory  # or the oldest steps would stay as long as the search
    passes = 0
    while True:
        guessed = first is not None
        step = _newton_step(slope, solved, pairs, scale) if first is None else first.astype(np.float32, copy=False)
        fall, first = -float(np.vdot(slope, step)), None
        if 0 <= fall <= 2 * (tolerance if share == np.inf else min(tolerance, share * loss)) and not guessed:
            return End(point, value, passes, True, tuple(pairs), scale)
        length = 1.0 if fall > 0 else 0.0
        while length > MIN_STEP:
            if passes == limit:
                return End(point, value, passes, False, tuple(pairs), scale)
            trial = point + length * step
            answer = yield trial
            passes += 1
            new_loss, new_slope = _penalised(trial, answer, penalty)
            # close to the optimum, gradients are still informative where differences of losses are not
            flatter = abs(float(np.vdot(new_slope, step))) <= FLATTER * fall
            if new_loss <= loss - SUFFICIENT_DECREASE * length * fall or (flatter and new_loss <= loss * (1 + NOISE)):
                break
            above = new_loss - loss + length * fall  # above the tangent, which determines a parabola
            del trial, answer, new_slope
            length *= min(max(0.5 * length * fall / above, 0.1), 0.5) if np.isfinite(above) else 0.1
        else:
            if not (pairs or guessed):
                return End(point, value, passes, False, tuple(pairs), scale)
            pairs.clear()  # rounding may have spoiled it
            continue
        # arrays may have millions of numbers: none is kept longer than it is needed
        point, value, loss = trial, answer, new_loss
        del trial, answer
        move = (length * step).astype(np.float32, copy=False)
        change = np.subtract(new_slope, slope, out=slope).astype(np.float32, copy=False)
        slope = new_slope
        del step, new_slope
        new_solved = solve(slope.astype(np.float32, copy=False))
        solved_change = np.subtract(new_solved, solved, out=solved)
        solved = new_solved
        product, expected = float(np.vdot(move, change)), float(np.vdot(change, solved_change))
        if product > 0 and expected > 0:
            pairs.append(StepPair(move, change, solved_change, product))
            scale = product / expected


def _penalised(point: Doubles, value: Value, penalty: Doubles) -> Value:
    """The value of the loss + the penalty (d + 1,) at a point (outputs, d + 1)."""
    gradient = penalty * point
    loss = value[0] + 0.5 * float(np.vdot(gradient, point))
    gradient += value[1]
    return loss, gradient


def _newton_step(slope: Doubles, solved: Floats, memory: Sequence[StepPair], scale: float) -> Floats:
    """Minus the gradient times the approximate inverse Hessian: the two-loop recursion of Nocedal (1980).

    ``solved`` is the gradient times the approximate inverse that the search was given: as all that is multiplied by it
    is a sum of gradients, it is needed only once per step.
    """
    remainder, direction, parts = slope.astype(np.float32), solved.copy(), []
    for pair in reversed(memory):
        part = np.float32(np.vdot(pair.move, remainder) / pair.product)
        remainder -= part * pair.change
        direction -= part * pair.solved
        parts.append(part)
    del remainder
    direction *= np.float32(scale)
    for pair, part in zip(memory, reversed(parts), strict=True):
        direction += (part - np.float32(np.vdot(pair.change, direction) / pair.product)) * pair.move
    return np.negative(direction, out=direction)
