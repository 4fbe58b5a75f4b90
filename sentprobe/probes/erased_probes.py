"""The probe ``linear`` refitted at one penalty on vectors from which directions were erased; many erasers at once.

The result is what ``convex`` fits on ``erased(train, eraser)``: the same objective, the same search, the same
precision. But no vector is changed. A logit of erased vectors is a logit of the original vectors with other weights, so
all erasers share each read of the rows; means, deviations and correlations of erased vectors follow from those of the
original ones; and a search may start from the weights of the plain probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError
from sentprobe.probes.convex import TOLERANCE, Linear
from sentprobe.probes.convex.data import (
    MAX_CACHED_BYTES,
    MAX_CORRELATED_DIMENSIONS,
    MAX_FACTORED_DIMENSIONS,
)
from sentprobe.probes.convex.engine import Numpy
from sentprobe.probes.convex.path import MAX_COLUMNS
from sentprobe.probes.convex.preconditioner import solver
from sentprobe.probes.convex.rows import block_rows
from sentprobe.probes.convex.search import End, Search, Value, by_search, descend, run_searches
from sentprobe.probes.erase import Eraser, reinjected
from sentprobe.probes.features import Doubles, Features, Floats, Ints
from sentprobe.probes.standardised_rows import StandardisedRows, standardised_blocks

MAX_PASSES = 200
"""Reads of the rows after which a search gives up, as in the probe ``linear``."""
REINJECTED_PASSES = 30
"""The same for a probe that reads the class itself. It starts near the optimum; and if the penalty is weak, float32
cannot resolve how confident it should be, which changes no prediction."""
MIN_CURVATURE = 1e-9
"""The lowest curvature that a class is taken to have."""
CONSTANT_TOLERANCE = 1e-6
"""The share of its deviation, or if that was 0 of the largest one, below which an erased dimension is constant."""


def measure(
    rows: StandardisedRows,
    erasers: Sequence[Eraser],
    test: Features,
    l2: float,
    start: Linear | None = None,
    *,
    tolerance: float = TOLERANCE,
) -> Iterator[Floats]:
    """For each eraser, the log-probabilities (n, classes) of test rows by the probe fitted on erased vectors.

    ``test`` are the original vectors, ``start`` is the plain probe, and ``tolerance`` is as in ``refit``. How many
    erasers are measured in one call changes numbers by rounding only; they are fitted a few at a time, and yielded as
    soon as they are done.
    """
    for group in _groups(rows, erasers):
        models = refit(rows, group, l2, start, tolerance=tolerance)
        with single_threaded():
            log_probabilities = _scores(models, test, rows)
        yield from log_probabilities


def measure_reinjected(rows: StandardisedRows, eraser: Eraser, test: Features, labels: Ints, l2: float) -> Floats:
    """The log-probabilities (n, classes) of test rows whose one-hot class is appended to their erased vectors.

    ``labels`` (n,) are those of the test rows. As the probe can read what it has to predict, it must be right: this
    checks that an eraser of the class takes only the class from the probe, and nothing that the fit needs.
    """
    with_class, classes = rows.reinjected(), len(rows.counts)
    models = refit(with_class, [eraser.widened(classes)], l2, _class_reader(rows, l2), passes=REINJECTED_PASSES)
    with single_threaded():
        (log_probabilities,) = _scores(models, reinjected(test, labels, classes), with_class)
    return log_probabilities


def refit(
    rows: StandardisedRows,
    erasers: Sequence[Eraser],
    l2: float,
    start: Linear | None = None,
    *,
    passes: int = MAX_PASSES,
    tolerance: float = TOLERANCE,
) -> list[Linear]:
    """For each eraser, the classifier fitted on erased vectors, in terms of the original vectors.

    ``tolerance`` is how near to the optimum it must be, as in ``convex``.
    """
    d = len(rows.data.scale)
    for eraser in erasers:
        if len(eraser.mean) != d:
            raise ShapeError(f"The eraser is for {len(eraser.mean)} dimensions, the vectors have {d}.")
    models: list[Linear] = []
    with single_threaded():  # with more, sums depend on how many
        for group in _groups(rows, erasers):
            spaces = [ErasedSpace.of(rows, eraser) for eraser in group]
            none = [np.empty((0, d + 1))] * len(group)
            points = _search(rows, spaces, l2, start, passes, tolerance) if rows.outputs else none
            models.extend(rows.data.model_at(point, rows.counts) for point in points)
    return models


@dataclass(frozen=True, eq=False)
class ErasedSpace:
    """From standardised vectors to erased ones that are standardised again: diag(factor) - left @ right."""

    factor: Doubles
    """(d,)."""
    proj_left: Doubles
    """(d, rank)."""
    proj_right: Doubles
    """(rank, d)."""
    scale: Doubles
    """Deviations (d,) of the erased vectors; 0 where they are constant."""

    @classmethod
    def of(cls, rows: StandardisedRows, eraser: Eraser) -> ErasedSpace:
        """With the eraser's map I - left @ right, covariances Σ become Σ - left R - (left R)ᵀ + left R rightᵀ leftᵀ.

        R is right @ Σ. The eraser's mean does not matter, as the bias is free.
        """
        products = eraser.proj_right @ rows.moments.covariance
        variances = np.diag(rows.moments.covariance) - 2 * np.einsum("ir,ri->i", eraser.proj_left, products)
        variances += np.einsum(
            "ir,rs,is->i", eraser.proj_left, products @ eraser.proj_right.T, eraser.proj_left, optimize=True
        )
        deviations, before = (
            np.sqrt(np.maximum(variance, 0)) for variance in (variances, np.diag(rows.moments.covariance))
        )
        varies = deviations > CONSTANT_TOLERANCE * np.where(before > 0, before, before.max())
        inverse = np.where(varies, 1 / np.where(varies, deviations, 1.0), 0.0)
        return cls(
            rows.data.scale * inverse,
            eraser.proj_left * inverse[:, None],
            eraser.proj_right * rows.data.scale,
            deviations * varies,
        )

    def plain(self, point: Doubles) -> Doubles:
        """Weights of erased vectors and biases (outputs, d + 1), as weights of the original vectors."""
        weights = point[:, :-1]
        return np.column_stack([weights * self.factor - (weights @ self.proj_left) @ self.proj_right, point[:, -1]])

    def gradients(self, plain: Doubles) -> Doubles:
        """The gradient (outputs, d + 1) of weights of erased vectors, from that of weights of the original ones."""
        gradients = plain[:, :-1]
        return np.column_stack(
            [gradients * self.factor - (gradients @ self.proj_right.T) @ self.proj_left.T, plain[:, -1]]
        )

    def correlations(self, plain: Floats) -> Floats:
        """Those of the erased dimensions (d, d), from those of the original ones."""
        factor, proj_left, proj_right = (
            array.astype(np.float32) for array in (self.factor, self.proj_left, self.proj_right)
        )
        half = factor[:, None] * plain - proj_left @ (proj_right @ plain)
        return (half * factor - (half @ proj_right.T) @ proj_left.T).astype(np.float32, copy=False)

    def through(self, search: Search) -> Search:
        """A search over weights of erased vectors that requests points as weights of the original ones."""
        try:
            point = next(search)
            while True:
                loss, gradients = yield self.plain(point)
                point = search.send((loss, self.gradients(gradients)))
        except StopIteration as end:
            final: End = end.value
            return final


def _groups(rows: StandardisedRows, erasers: Sequence[Eraser]) -> Iterator[Sequence[Eraser]]:
    """As many at a time as profit from sharing a read, and whose factors do not fill the memory."""
    d = len(rows.data.scale)
    most = (
        1
        if d > MAX_FACTORED_DIMENSIONS
        else max(1, min(MAX_COLUMNS // max(1, rows.outputs), MAX_CACHED_BYTES // (4 * d * d)))
    )
    for i in range(0, len(erasers), most):
        yield erasers[i : i + most]


def _search(
    rows: StandardisedRows,
    spaces: Sequence[ErasedSpace],
    l2: float,
    start: Linear | None,
    passes: int,
    tolerance: float,
) -> list[Doubles]:
    """The optimum in each erased space: weights of the standardised vectors and biases, (outputs, d + 1)."""
    n, d = rows.moments.rows, len(rows.data.scale)
    shares, penalty = rows.data.shares, np.full(d, l2)
    curvature = _curvature(rows, start)[: rows.outputs]
    gain = -tolerance * float(shares @ np.log(shares))
    correlations = None
    if d <= max(MAX_FACTORED_DIMENSIONS, min(n, MAX_CORRELATED_DIMENSIONS)):
        correlations = (rows.moments.covariance / np.outer(rows.data.scale, rows.data.scale)).astype(np.float32)

    def begin(space: ErasedSpace, point: Doubles, original: Value) -> Search:
        solve = solver(None if correlations is None else space.correlations(correlations), curvature, penalty)
        value = original[0], space.gradients(original[1])
        search = descend(point, value, np.append(penalty, 0.0), solve, tolerance=gain, limit=passes)
        return space.through(search)

    points = [_start(rows, space, start) for space in spaces]
    if start is None:  # without weights, the loss does not depend on what was erased
        values_at_start = [rows.constant] * len(points)
    else:
        values_at_start = rows.data.values([space.plain(point) for space, point in zip(spaces, points, strict=True)])
    ends = run_searches(
        {
            i: begin(*start_of_search)
            for i, start_of_search in enumerate(zip(spaces, points, values_at_start, strict=True))
        },
        by_search(rows.data.values),
    )
    return [space.plain(ends[i].point) for i, space in enumerate(spaces)]


def _curvature(rows: StandardisedRows, start: Linear | None) -> Doubles:
    """The curvature of the loss by class that has rows, (k,): where the search starts, or at the classes' shares.

    A probe that is confident on most rows has far less there, and with the right scale a search takes half the reads.
    """
    present = rows.counts > 0
    if start is None:
        return rows.data.shares * (1 - rows.data.shares)
    point, curvatures = _point(rows, start, rows.data.scale).astype(np.float32), np.zeros(int(present.sum()))
    for block, _ in rows.data.blocks():
        shares = softmax(point[:, :-1] @ block.T + point[:, -1:], axis=0)
        curvatures += (shares * (1 - shares)).sum(axis=1, dtype=np.float64)
    return np.maximum(curvatures / rows.moments.rows, MIN_CURVATURE)


def _class_reader(rows: StandardisedRows, l2: float) -> Linear:
    """The classifier that reads the one-hot class alone, with weights that suit the penalty, to start a search from."""
    shares = rows.counts / rows.moments.rows
    other_classes, variance = max(1, np.count_nonzero(shares) - 1), float((shares * (1 - shares)).sum())
    weight = minimize_scalar(
        lambda x: np.log1p(other_classes * np.exp(-x)) + l2 / 2 * variance * x * x, bounds=(0, 50), method="bounded"
    ).x
    unread = np.zeros((len(shares), len(rows.data.scale)))
    return Linear(np.hstack([unread, weight * np.eye(len(shares))]), np.zeros(len(shares)))


def _start(rows: StandardisedRows, space: ErasedSpace, start: Linear | None) -> Doubles:
    """Where a search starts, (outputs, d + 1): at the weights of ``start``, as if of erased vectors, or at 0."""
    if start is None:
        return rows.shares
    full = _point(rows, start, space.scale)
    return full[1:] - full[:1] if rows.outputs == 1 else full - full.mean(axis=0)


def _point(rows: StandardisedRows, model: Linear, scale: Doubles) -> Doubles:
    """Weights and biases (classes that have rows, d + 1) of a model, for vectors that are centred and of this scale."""
    present = rows.counts > 0
    if model.weights.shape != (len(present), len(scale)):
        raise ShapeError(f"The start has weights {model.weights.shape}; expected ({len(present)}, {len(scale)}).")
    return np.column_stack([model.weights * scale, model.bias + model.weights @ rows.data.mean])[present]


def _scores(models: Sequence[Linear], test: Features, rows: StandardisedRows) -> list[Floats]:
    """Log-probabilities (n, classes) by each model, from one read."""
    classes = len(rows.counts)
    weights = np.concatenate([model.weights * rows.data.scale for model in models]).astype(np.float32)
    bias = np.concatenate([model.bias + model.weights @ rows.data.mean for model in models]).astype(np.float32)
    scores = np.empty((len(models), len(test), classes), np.float32)
    size = block_rows(Numpy.cells, test.shape[1], classes * len(models))
    for start, part in standardised_blocks(test, rows.data.mean, rows.data.scale, size):
        logits = (weights @ part.T + bias[:, None]).reshape(len(models), classes, -1)
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        scores[:, start : start + len(part)] = logits.transpose(0, 2, 1)
    return list(scores)
