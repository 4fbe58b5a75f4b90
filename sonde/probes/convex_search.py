"""L-BFGS that asks for the loss at points one after the other, so that several searches can share what answers cost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import linalg

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Value = tuple[float, Doubles]
"""A loss at a point (outputs, d + 1), the bias being last; and its gradient, of the same shape."""
Solve = Callable[[Floats], Floats]

MEMORY = 10
"""Steps that are remembered."""
NOISE = 1e-6
"""Share of a loss that arithmetic in float32 may hide."""
MIN_STEP = 1e-5
"""Share of a step below which there is nothing to be gained along it."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, eq=False)
class End:
    """Where a search has ended."""

    point: Doubles
    value: Value
    """There, without the penalty."""
    passes: int
    """Points that were asked for."""
    converged: bool


Search = Generator[Doubles, Value, End]


def run(searches: Mapping[K, Search], answer: Callable[[Mapping[K, Doubles]], Mapping[K, Value]]) -> dict[K, End]:
    """Bring searches to their ends, with one call of ``answer`` for the points of all that still ask."""
    ends: dict[K, End] = {}
    given: dict[K, Value | None] = dict.fromkeys(searches)
    while given:
        asked: dict[K, Doubles] = {}
        for name, value in given.items():
            try:
                asked[name] = next(searches[name]) if value is None else searches[name].send(value)
            except StopIteration as end:
                ends[name] = end.value
        given = dict(answer(asked)) if asked else {}
    return ends


def in_line(answer: Callable[[Sequence[Doubles]], Sequence[Value]]) -> Callable[[Mapping[K, Doubles]], dict[K, Value]]:
    """What answers points whatever search they are of."""
    return lambda asked: dict(zip(asked, answer(list(asked.values())), strict=True))


def descend(
    point: Doubles,
    known: Value,
    penalty: Doubles,
    solve: Solve,
    *,
    tolerance: float,
    limit: int,
    first: Doubles | None = None,
) -> Search:
    """Search the minimum of a convex loss + the sum of penalty / 2 * point², from a point whose loss is known.

    ``penalty`` is (d + 1,), ``solve`` multiplies by about the inverse of the Hessian, and ``first`` is a step to try
    before all others. The end is where the quadratic model of the objective has its minimum less than ``tolerance``
    below, or where ``limit`` points have been asked for.
    """

    def whole(at: Doubles, value: Value) -> Value:
        return value[0] + 0.5 * float(np.vdot(penalty * at, at)), value[1] + penalty * at

    loss, slope = whole(point, known)
    memory: deque[_Pair] = deque(maxlen=MEMORY)
    passes = 0
    while True:
        guessed = first is not None
        step = -_turn(slope.astype(np.float32), memory, solve) if first is None else first.astype(np.float32)
        fall, first = -float(np.vdot(slope, step)), None
        if 0 <= fall <= 2 * tolerance and not guessed:
            return End(point, known, passes, True)
        length = 1.0 if fall > 0 else 0.0
        while length > MIN_STEP:
            if passes == limit:
                return End(point, known, passes, False)
            trial = point + length * step
            answer = yield trial
            passes += 1
            new_loss, new_slope = whole(trial, answer)
            # close to the optimum gradients still tell what differences of losses do not
            flatter = abs(float(np.vdot(new_slope, step))) <= 0.8 * fall
            if new_loss <= loss - 1e-4 * length * fall or (flatter and new_loss <= loss * (1 + NOISE)):
                break
            above = new_loss - loss + length * fall  # the tangent: with it a parabola is known
            length *= min(max(0.5 * length * fall / above, 0.1), 0.5) if np.isfinite(above) else 0.1
        else:
            if not (memory or guessed):
                return End(point, known, passes, False)
            memory.clear()  # rounding may have spoilt it
            continue
        move, change = (length * step).astype(np.float32), (new_slope - slope).astype(np.float32)
        product, expected = float(np.vdot(move, change)), float(np.vdot(change, solve(change)))
        if product > 0 and expected > 0:
            memory.append(_Pair(move, change, product, product / expected))
        point, known, loss, slope = trial, answer, new_loss, new_slope


@dataclass(frozen=True, eq=False)
class _Pair:
    move: Floats
    change: Floats
    """Of the gradient."""
    product: float
    scale: float
    """By how much ``solve`` was wrong about this change."""


def _turn(slope: Floats, memory: Sequence[_Pair], solve: Solve) -> Floats:
    """The gradient times the inverse Hessian as far as it is known: the two loops of Nocedal (1980)."""
    turned, parts = slope, []
    for pair in reversed(memory):
        part = np.float32(np.vdot(pair.move, turned) / pair.product)
        turned = turned - part * pair.change
        parts.append(part)
    turned = solve(turned)
    if memory:
        turned *= np.float32(memory[-1].scale)
    for pair, part in zip(memory, reversed(parts), strict=True):
        turned += (part - np.float32(np.vdot(pair.change, turned) / pair.product)) * pair.move
    return turned


def solver(correlations: Floats | None, curvature: Doubles, penalty: Doubles, known: Floats | None = None) -> Solve:
    """The inverse of about the Hessian, which for each output is curvature * correlations + penalty (d,).

    One factor serves all outputs. It is made for their mean curvature, and its inverse is brought to the size of each
    output's own. Without correlations the dimensions are taken to have none. ``known`` is what ``inverse`` has found
    before, for about the mean curvature.
    """
    mean, usual = float(curvature.mean()), float(np.median(penalty))
    sizes = ((mean + usual) / (curvature + usual)).astype(np.float32)[:, None]
    factor = None if correlations is None or known is not None else _factor(correlations, mean, penalty)

    def solve(rows: Floats) -> Floats:
        found = np.empty_like(rows)
        if known is not None:
            found[:, :-1] = rows[:, :-1] @ known
        elif factor is None:
            found[:, :-1] = rows[:, :-1] / (mean + penalty)
        else:
            found[:, :-1] = linalg.cho_solve((factor, True), rows[:, :-1].T, check_finite=False).T
        found[:, :-1] *= sizes
        found[:, -1] = rows[:, -1] / curvature
        if len(found) > 1:  # what all outputs share changes no probability
            found -= found.mean(axis=0)
        return found

    return solve


def inverse(correlations: Floats, curvature: float, penalty: Doubles) -> Floats:
    """That of curvature * correlations + penalty, (d, d): three times the work of a factor, and a tenth to use it."""
    lower = linalg.lapack.spotri(_factor(correlations, curvature, penalty), lower=1, overwrite_c=1)[0]
    found: Floats = np.tril(lower) + np.tril(lower, -1).T
    return found


def _factor(correlations: Floats, curvature: float, penalty: Doubles) -> Floats:
    """The Cholesky factor of curvature * correlations + penalty, (d, d)."""
    ridge = 1e-6 * curvature
    while True:
        matrix = np.float32(curvature) * correlations
        matrix[np.diag_indices_from(matrix)] += np.minimum(penalty + ridge, 1e30).astype(np.float32)
        try:
            # the matrix is its own transpose, which LAPACK can overwrite
            found: Floats = linalg.cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # dimensions that follow from others
            ridge *= 10
        else:
            return found
