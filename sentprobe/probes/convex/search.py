"""L-BFGS as a generator that requests the loss at one point after another, so that several searches share each read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import linalg

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Value = tuple[float, Doubles]
"""The loss at a point (outputs, d + 1), whose last column is the bias; and its gradient, of the same shape."""
Solve = Callable[[Floats], Floats]

MEMORY, MIN_MEMORY, MAX_MEMORY_VALUES = 10, 2, 10 * 2**20
"""Steps that L-BFGS remembers: fewer, down to the second, if they would have more numbers in all than the third. With
millions of parameters, two steps take a search nearly as far as ten."""
NOISE = 1e-6
"""The share of a loss that rounding to float32 may hide."""
MIN_STEP = 1e-5
"""The share of a step below which the line search gives up."""

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Pair:
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
    memory: Sequence[Pair] = ()
    """The last steps, with which a search can be resumed."""
    scale: float = 1.0
    """The factor by which the approximate inverse Hessian was wrong about the last change."""

    def without_arrays(self) -> End:
        """The same without point, gradient and memory, each as large as a model or larger."""
        return replace(self, point=np.empty((0, 0)), value=(self.value[0], np.empty(0)), memory=())


Search = Generator[Doubles, Value, End]


def run(searches: Mapping[K, Search], answer: Callable[[Mapping[K, Doubles]], Mapping[K, Value]]) -> dict[K, End]:
    """Run searches to their ends, with one call of ``answer`` for the points of all that are still running."""
    ends: dict[K, End] = {}
    answers: dict[K, Any] = dict.fromkeys(searches)
    while answers:
        requested: dict[K, Doubles] = {}
        for name in searches:
            if name in answers:
                try:
                    requested[name] = searches[name].send(answers.pop(name))  # None starts it
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
    share: float = np.inf,
    first: Doubles | None = None,
    memory: Sequence[Pair] = (),
    scale: float = 1.0,
) -> Search:
    """Search for the minimum of a convex loss + the sum of penalty / 2 * point², from a point whose loss is known.

    ``penalty`` is (d + 1,), ``solve`` multiplies by the approximate inverse of the Hessian, and ``first`` is a step to
    try before all others; ``memory`` and ``scale`` are those of a search that is resumed. The search ends where the
    quadratic model of the objective has its minimum less than ``tolerance`` below, and less than ``share`` of the
    objective, or after ``limit`` points.
    """
    penalty = penalty.astype(point.dtype, copy=False)

    def penalised(at: Doubles, value: Value) -> Value:
        slope = penalty * at
        loss = value[0] + 0.5 * float(np.vdot(slope, at))
        slope += value[1]
        return loss, slope

    loss, slope = penalised(point, known)
    solved = solve(slope.astype(np.float32, copy=False))
    pairs = deque(memory, maxlen=max(MIN_MEMORY, min(MEMORY, MAX_MEMORY_VALUES // point.size)))
    del memory  # or the oldest steps would stay as long as the search
    passes = 0
    while True:
        guessed = first is not None
        if first is None:
            step = _two_loops(slope.astype(np.float32, copy=False), solved, pairs, scale)
            np.negative(step, out=step)
        else:
            step = first.astype(np.float32, copy=False)
        fall, first = -float(np.vdot(slope, step)), None
        if 0 <= fall <= 2 * (tolerance if share == np.inf else min(tolerance, share * loss)) and not guessed:
            return End(point, known, passes, True, tuple(pairs), scale)
        length = 1.0 if fall > 0 else 0.0
        while length > MIN_STEP:
            if passes == limit:
                return End(point, known, passes, False, tuple(pairs), scale)
            trial = point + length * step
            answer = yield trial
            passes += 1
            new_loss, new_slope = penalised(trial, answer)
            # close to the optimum, gradients are still informative where differences of losses are not
            flatter = abs(float(np.vdot(new_slope, step))) <= 0.8 * fall
            if new_loss <= loss - 1e-4 * length * fall or (flatter and new_loss <= loss * (1 + NOISE)):
                break
            above = new_loss - loss + length * fall  # above the tangent, which determines a parabola
            del trial, answer, new_slope
            length *= min(max(0.5 * length * fall / above, 0.1), 0.5) if np.isfinite(above) else 0.1
        else:
            if not (pairs or guessed):
                return End(point, known, passes, False, tuple(pairs), scale)
            pairs.clear()  # rounding may have spoiled it
            continue
        # arrays may have millions of numbers: none is kept longer than it is needed
        point, known, loss = trial, answer, new_loss
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
            pairs.append(Pair(move, change, solved_change, product))
            scale = product / expected


def _two_loops(slope: Floats, solved: Floats, memory: Sequence[Pair], scale: float) -> Floats:
    """The gradient times the approximate inverse Hessian: the two-loop recursion of Nocedal (1980).

    ``solved`` is the gradient times the approximate inverse that the search was given: as all that is multiplied by it
    is a sum of gradients, it is needed only once per step.
    """
    rest, turned, parts = slope.copy(), solved.copy(), []
    for pair in reversed(memory):
        part = np.float32(np.vdot(pair.move, rest) / pair.product)
        rest -= part * pair.change
        turned -= part * pair.solved
        parts.append(part)
    del rest
    turned *= np.float32(scale)
    for pair, part in zip(memory, reversed(parts), strict=True):
        turned += (part - np.float32(np.vdot(pair.change, turned) / pair.product)) * pair.move
    return turned


def solver(correlations: Floats | None, curvature: Doubles, penalty: Doubles, known: Floats | None = None) -> Solve:
    """Multiply by the inverse of the approximate Hessian, for each output curvature * correlations + penalty (d,).

    Without correlations the dimensions are taken to be uncorrelated. ``known`` is a result of ``inverse``, for about
    the mean curvature.
    """
    mean = float(curvature.mean())
    factor = None if correlations is None or known is not None else _factor(correlations, mean, penalty)

    def multiply(rows: Floats) -> Floats:
        found: Floats
        if known is not None:
            found = rows @ known
        elif factor is None:
            found = np.divide(rows, mean + penalty, out=np.empty_like(rows), casting="same_kind")
        else:
            found = linalg.cho_solve((factor, True), rows.T, check_finite=False).T
        return found

    return for_outputs(multiply, curvature, penalty)


def for_outputs(multiply: Solve, curvature: Doubles, penalty: Doubles) -> Solve:
    """One inverse for all outputs: computed for their mean curvature, and rescaled to each output's own.

    ``multiply`` multiplies weights (outputs, d) by it; points (outputs, d + 1) have a bias as well.
    """
    mean, typical = float(curvature.mean()), float(np.median(penalty))
    sizes = ((mean + typical) / (curvature + typical)).astype(np.float32)[:, None]

    def solve(rows: Floats) -> Floats:
        found = np.empty_like(rows)
        found[:, :-1] = multiply(rows[:, :-1])
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
    while np.isfinite(ridge):
        matrix = np.float32(curvature) * correlations
        matrix[np.diag_indices_from(matrix)] += np.minimum(penalty + ridge, 1e30).astype(np.float32)
        try:
            # the matrix is its own transpose, which LAPACK can overwrite
            found: Floats = linalg.cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # linearly dependent dimensions
            ridge *= 10
        else:
            return found
    raise linalg.LinAlgError("the matrix is not positive definite, whatever is added to its diagonal")
