"""L-BFGS as a generator that requests the loss at one point after another, so that several searches share each read."""

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
"""The loss at a point (outputs, d + 1), whose last column is the bias; and its gradient, of the same shape."""
Solve = Callable[[Floats], Floats]

MEMORY, MIN_MEMORY, MAX_MEMORY_VALUES = 10, 3, 2**24
"""Steps that L-BFGS remembers: fewer, down to the second, if they would have more numbers in all than the third. With a
million parameters and more, three steps take a search as far as ten."""
NOISE = 1e-6
"""The share of a loss that rounding to float32 may hide."""
MIN_STEP = 1e-5
"""The share of a step below which the line search gives up."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, eq=False)
class End:
    """Where a search has ended."""

    point: Doubles
    value: Value
    """The value there, without the penalty."""
    passes: int
    """Points that were evaluated."""
    converged: bool


Search = Generator[Doubles, Value, End]


def run(searches: Mapping[K, Search], answer: Callable[[Mapping[K, Doubles]], Mapping[K, Value]]) -> dict[K, End]:
    """Run searches to their ends, with one call of ``answer`` for the points of all that are still running."""
    ends: dict[K, End] = {}
    answers: dict[K, Value | None] = dict.fromkeys(searches)
    while answers:
        requested: dict[K, Doubles] = {}
        for name, value in answers.items():
            try:
                requested[name] = next(searches[name]) if value is None else searches[name].send(value)
            except StopIteration as end:
                ends[name] = end.value
        answers = dict(answer(requested)) if requested else {}
    return ends


def in_line(answer: Callable[[Sequence[Doubles]], Sequence[Value]]) -> Callable[[Mapping[K, Doubles]], dict[K, Value]]:
    """An ``answer`` for ``run`` that does not depend on which search a point is of."""
    return lambda points: dict(zip(points, answer(list(points.values())), strict=True))


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
    """Search for the minimum of a convex loss + the sum of penalty / 2 * point², from a point whose loss is known.

    ``penalty`` is (d + 1,), ``solve`` multiplies by the approximate inverse of the Hessian, and ``first`` is a step to
    try before all others. The search ends where the quadratic model of the objective has its minimum less than
    ``tolerance`` below, or after ``limit`` points.
    """

    def penalised(at: Doubles, value: Value) -> Value:
        return value[0] + 0.5 * float(np.vdot(penalty * at, at)), value[1] + penalty * at

    loss, slope = penalised(point, known)
    memory: deque[_Pair] = deque(maxlen=max(MIN_MEMORY, min(MEMORY, MAX_MEMORY_VALUES // point.size)))
    passes = 0
    while True:
        guessed = first is not None
        step = -_two_loops(slope.astype(np.float32), memory, solve) if first is None else first.astype(np.float32)
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
            new_loss, new_slope = penalised(trial, answer)
            # close to the optimum, gradients are still informative where differences of losses are not
            flatter = abs(float(np.vdot(new_slope, step))) <= 0.8 * fall
            if new_loss <= loss - 1e-4 * length * fall or (flatter and new_loss <= loss * (1 + NOISE)):
                break
            above = new_loss - loss + length * fall  # above the tangent, which determines a parabola
            length *= min(max(0.5 * length * fall / above, 0.1), 0.5) if np.isfinite(above) else 0.1
        else:
            if not (memory or guessed):
                return End(point, known, passes, False)
            memory.clear()  # rounding may have spoiled it
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
    """The factor by which ``solve`` was wrong about this change."""


def _two_loops(slope: Floats, memory: Sequence[_Pair], solve: Solve) -> Floats:
    """The gradient times the approximate inverse Hessian: the two-loop recursion of Nocedal (1980)."""
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
    """Multiply by the inverse of the approximate Hessian, for each output curvature * correlations + penalty (d,).

    One factor serves all outputs: it is computed for their mean curvature, and its inverse is rescaled to each output's
    own. Without correlations the dimensions are taken to be uncorrelated. ``known`` is a result of ``inverse``, for
    about the mean curvature.
    """
    mean, typical = float(curvature.mean()), float(np.median(penalty))
    sizes = ((mean + typical) / (curvature + typical)).astype(np.float32)[:, None]
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
    """The inverse of curvature * correlations + penalty, (d, d): three times the cost of a factor, a tenth per use."""
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
        except linalg.LinAlgError:  # linearly dependent dimensions
            ridge *= 10
        else:
            return found
