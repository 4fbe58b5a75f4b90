"""The probe ``linear`` fitted again at one penalty, on vectors without some of their directions; many at once.

What is fitted is what ``convex`` fits on ``erased(train, eraser)``: the same objective, the same search, the same
accuracy. But no vector is changed. A logit of erased vectors is one of the vectors as they are, with other weights, so
all erasers share each reading of the rows; means, deviations and correlations of erased vectors follow from those of
the vectors; and a search may start from the weights of the plain probe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from sonde.core.threads import single_threaded
from sonde.errors import DataError, ShapeError
from sonde.probes.convex import (
    MAX_CACHED_BYTES,
    MAX_COLUMNS,
    MAX_CORRELATED_DIMENSIONS,
    MAX_FACTORED_DIMENSIONS,
    TOLERANCE,
    Linear,
)
from sonde.probes.convex_numpy import Numpy
from sonde.probes.convex_search import End, Search, Value, descend, in_line, run, solver
from sonde.probes.erase import Eraser, Moments, reinjected
from sonde.probes.features import Features

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
T = TypeVar("T")
Blocks = Callable[[], Iterable[tuple[Floats, Ints]]]
"""Rows (m, d) and the numbers of their classes (m,) among those that are met, from top to bottom."""

MAX_PASSES = 200
"""Readings after which a search gives up, as in the probe ``linear``."""
REINJECTED_PASSES = 30
"""Readings for a probe that is told the class. It starts near the optimum; and if the penalty is weak, float32 cannot
tell how sure it should be, which changes no prediction."""
MIN_CURVATURE = 1e-9
"""Curvature that every class is taken to have at least."""
CONSTANT_TOLERANCE = 1e-6
"""Share of its deviation, or if it had none of the largest one, below which an erased dimension is constant."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The training rows of a task, standardised: read once, fitted many times."""

    blocks: Blocks
    counts: Ints
    """(classes,)."""
    moments: Moments
    centre: Doubles
    """What is taken from the rows: their mean (d,), rounded to float32."""
    scale: Doubles
    """What they are then divided by: deviations (d,), rounded to float32; 1 for 0."""

    @classmethod
    def of(cls, train: Features, labels: Ints, classes: int, moments: Moments | None = None) -> Rows:
        """Rows (n, d) and labels 0 … classes - 1; ``moments`` are those of these rows, if they are known."""
        n, d = train.shape
        if len(labels) != n:
            raise ShapeError(f"There are {n} training rows and {len(labels)} labels; expected as many.")
        if not 0 <= labels.min() <= labels.max() < classes:
            raise DataError(f"The labels are {labels.min()} … {labels.max()}; expected 0 … {classes - 1}.")
        moments = Moments.of(train) if moments is None else moments
        if (moments.rows, len(moments.mean)) != (n, d):
            raise ShapeError(f"The moments are of {moments.rows} x {len(moments.mean)} numbers, the rows of {n} x {d}.")
        counts = np.bincount(labels, minlength=classes)
        numbers = (np.cumsum(counts > 0) - 1)[labels]
        centre, scale = _rounded(moments.mean), _scale(moments)

        def blocks() -> Iterator[tuple[Floats, Ints]]:
            for start, rows in _standardised(train, centre, scale, _size(d)):
                yield rows, numbers[start : start + len(rows)]

        return cls(cached_blocks(blocks, 4 * n * d), counts, moments, centre, scale)

    @property
    def outputs(self) -> int:
        """Logits that are fitted: one for two classes."""
        met = int(np.count_nonzero(self.counts))
        return met if met > 2 else met - 1

    @cached_property
    def constant(self) -> Value:
        """The loss without weights, and its gradient."""
        (found,) = values(self.blocks, self.moments.rows, [self.shares])
        return found

    @property
    def shares(self) -> Doubles:
        """The point (outputs, d + 1) without weights, whose biases are the classes' shares."""
        point = np.zeros((self.outputs, len(self.scale) + 1))
        logs = np.log(self.counts[self.counts > 0])
        point[:, -1] = logs[1] - logs[0] if self.outputs == 1 else logs
        return point

    def reinjected(self) -> Rows:
        """The rows that ``reinjected`` makes of the training rows and their labels."""
        n, classes, d = self.moments.rows, len(self.counts), len(self.scale)
        met, shares, told = np.flatnonzero(self.counts), self.counts / n, np.eye(classes, dtype=np.float32)
        sums = np.zeros((classes, d))
        for rows, numbers in self.blocks():
            sums += told[:, met[numbers]] @ rows
        crossed = sums / n * self.scale + np.outer(shares, self.centre - self.moments.mean)
        own = np.diag(shares) - np.outer(shares, shares)
        moments = Moments(
            n,
            np.concatenate([self.moments.mean, shares]),
            np.block([[self.moments.covariance, crossed.T], [crossed, own]]),
        )
        centre, scale = _rounded(moments.mean), _scale(moments)
        told = ((told - centre[d:]) / scale[d:]).astype(np.float32)

        def blocks() -> Iterator[tuple[Floats, Ints]]:
            for rows, numbers in self.blocks():
                yield np.hstack([rows, told[met[numbers]]]), numbers

        return Rows(cached_blocks(blocks, 4 * n * (d + classes)), self.counts, moments, centre, scale)


def cached_blocks(blocks: Callable[[], Iterable[T]], size: int) -> Callable[[], Iterable[T]]:
    """The same blocks, kept in memory if their size in bytes allows it."""
    if size > MAX_CACHED_BYTES:
        return blocks
    kept = list(blocks())
    return lambda: kept


def measure(
    rows: Rows,
    erasers: Sequence[Eraser],
    test: Features,
    l2: float,
    start: Linear | None = None,
    *,
    near: float = TOLERANCE,
) -> Iterator[Floats]:
    """For each eraser, the log-probabilities (n, classes) of test rows, by the probe that is fitted on erased vectors.

    ``test`` are the vectors as they are, ``start`` is the plain probe, and ``near`` as in ``refit``. How many erasers
    are measured in one call changes numbers by rounding only; they are fitted some at a time, and yielded as soon as
    they are there.
    """
    for some in _groups(rows, erasers):
        models = refit(rows, some, l2, start, near=near)
        with single_threaded():
            found = _scores(models, test, rows)
        yield from found


def measure_reinjected(rows: Rows, eraser: Eraser, test: Features, labels: Ints, l2: float) -> Floats:
    """The log-probabilities (n, classes) of test rows, where erased vectors have their class beside them, one-hot.

    ``labels`` (n,) are those of the test rows. As the probe is told what it looks for, it must be right: this checks
    that what an eraser of the class itself takes from the probe is the class, and nothing that the fit needs.
    """
    told, classes = rows.reinjected(), len(rows.counts)
    models = refit(told, [eraser.widened(classes)], l2, _told(rows, l2), passes=REINJECTED_PASSES)
    with single_threaded():
        (found,) = _scores(models, reinjected(test, labels, classes), told)
    return found


def refit(
    rows: Rows,
    erasers: Sequence[Eraser],
    l2: float,
    start: Linear | None = None,
    *,
    passes: int = MAX_PASSES,
    near: float = TOLERANCE,
) -> list[Linear]:
    """For each eraser, the classifier that is fitted on erased vectors, as one of the vectors as they are.

    ``near`` is how near to the optimum it must be, as in ``convex``.
    """
    d = len(rows.scale)
    for eraser in erasers:
        if len(eraser.mean) != d:
            raise ShapeError(f"The eraser is of {len(eraser.mean)} dimensions, the vectors have {d}.")
    models: list[Linear] = []
    with single_threaded():  # with more, sums depend on how many
        for some in _groups(rows, erasers):
            changes = [_Change.of(rows, eraser) for eraser in some]
            none = [np.empty((0, d + 1))] * len(some)
            points = _search(rows, changes, l2, start, passes, near) if rows.outputs else none
            models.extend(_model(rows, point) for point in points)
    return models


def values(blocks: Blocks, n: int, points: Sequence[Doubles]) -> list[Value]:
    """The mean cross-entropy and its gradient at each point (outputs, d + 1), from one reading of n rows."""
    stacked, engine = np.concatenate(points), Numpy()
    weights, bias = stacked[:, :-1].astype(np.float32), stacked[:, -1].astype(np.float32)
    losses, gradients = np.zeros(len(points)), np.zeros_like(stacked)
    for rows, labels in blocks():
        loss, slope, bias_slope = engine.gradients(rows, labels, weights, bias, len(points))
        losses += loss
        gradients[:, :-1] += slope
        gradients[:, -1] += bias_slope
    return list(zip((losses / n).tolist(), np.split(gradients / n, len(points)), strict=True))


def expand_classes(point: Doubles, counts: Ints) -> Doubles:
    """Weights and bias of all classes (classes, d + 1), from those that were fitted (outputs, d + 1).

    Classes without rows are as ``convex`` has them: without weights, and together as probable as half a row.
    """
    met, missing = np.flatnonzero(counts), np.flatnonzero(counts == 0)
    found = np.zeros((len(counts), point.shape[1]))
    if len(met) > 1:
        found[met] = np.concatenate([-point / 2, point / 2]) if len(met) == 2 else point
    found[missing, -1] = np.logaddexp.reduce(found[met, -1]) - np.log(2 * counts.sum() * max(1, len(missing)))
    return found


def _size(d: int) -> int:
    """Rows of a block."""
    cells = Numpy.cells
    return max(64, min(cells // 1024, cells // d))


def _rounded(numbers: Doubles) -> Doubles:
    """To float32, so that arithmetic in it takes away and divides by exactly this."""
    return numbers.astype(np.float32).astype(np.float64)


def _scale(moments: Moments) -> Doubles:
    deviations = _rounded(np.sqrt(np.maximum(np.diag(moments.covariance), 0)))
    return np.where(deviations > 0, deviations, 1.0)


def _standardised(features: Features, centre: Doubles, scale: Doubles, size: int) -> Iterator[tuple[int, Floats]]:
    """(first row, rows), ``size`` at a time."""
    taken, by = centre.astype(np.float32), scale.astype(np.float32)
    for start, rows in features.chunks(size):
        rows -= taken
        rows /= by
        yield start, rows


def _groups(rows: Rows, erasers: Sequence[Eraser]) -> Iterator[Sequence[Eraser]]:
    """As many at a time as are worth one reading, and whose factors do not fill the memory."""
    d = len(rows.scale)
    most = (
        1
        if d > MAX_FACTORED_DIMENSIONS
        else max(1, min(MAX_COLUMNS // max(1, rows.outputs), MAX_CACHED_BYTES // (4 * d * d)))
    )
    for i in range(0, len(erasers), most):
        yield erasers[i : i + most]


@dataclass(frozen=True, eq=False)
class _Change:
    """From standardised vectors to erased ones that are standardised again: diag(kept) - left @ right."""

    kept: Doubles
    """(d,)."""
    left: Doubles
    """(d, rank)."""
    right: Doubles
    """(rank, d)."""
    scale: Doubles
    """Deviations (d,) of the erased vectors; 0 where they are constant."""

    @classmethod
    def of(cls, rows: Rows, eraser: Eraser) -> _Change:
        """With the eraser's map I - left @ right, covariances Σ become Σ - left R - (left R)ᵀ + left R rightᵀ leftᵀ.

        R is right @ Σ. The eraser's mean does not matter, as the bias is free.
        """
        products = eraser.right @ rows.moments.covariance
        variances = np.diag(rows.moments.covariance) - 2 * np.einsum("ir,ri->i", eraser.left, products)
        variances += np.einsum("ir,rs,is->i", eraser.left, products @ eraser.right.T, eraser.left, optimize=True)
        deviations, before = (np.sqrt(np.maximum(each, 0)) for each in (variances, np.diag(rows.moments.covariance)))
        there = deviations > CONSTANT_TOLERANCE * np.where(before > 0, before, before.max())
        inverse = np.where(there, 1 / np.where(there, deviations, 1.0), 0.0)
        return cls(rows.scale * inverse, eraser.left * inverse[:, None], eraser.right * rows.scale, deviations * there)

    def plain(self, point: Doubles) -> Doubles:
        """Weights of erased vectors and biases (outputs, d + 1), as those of the vectors that are not erased."""
        weights = point[:, :-1]
        return np.column_stack([weights * self.kept - (weights @ self.left) @ self.right, point[:, -1]])

    def gradients(self, plain: Doubles) -> Doubles:
        """The gradient (outputs, d + 1) to weights of erased vectors, from that to weights of those that are not."""
        gradients = plain[:, :-1]
        return np.column_stack([gradients * self.kept - (gradients @ self.right.T) @ self.left.T, plain[:, -1]])

    def correlations(self, plain: Floats) -> Floats:
        """Those of the erased dimensions (d, d), from those of the dimensions."""
        kept, left, right = (each.astype(np.float32) for each in (self.kept, self.left, self.right))
        half = kept[:, None] * plain - left @ (right @ plain)
        return (half * kept - (half @ right.T) @ left.T).astype(np.float32, copy=False)

    def through(self, search: Search) -> Search:
        """A search among weights of erased vectors, that asks for weights of those that are not."""
        try:
            asked = next(search)
            while True:
                loss, gradients = yield self.plain(asked)
                asked = search.send((loss, self.gradients(gradients)))
        except StopIteration as end:
            found: End = end.value
            return found


def _search(
    rows: Rows, changes: Sequence[_Change], l2: float, start: Linear | None, passes: int, near: float
) -> list[Doubles]:
    """The optimum for each change: weights of the standardised vectors and biases, (outputs, d + 1)."""
    n, d = rows.moments.rows, len(rows.scale)
    shares, penalty = rows.counts[rows.counts > 0] / n, np.full(d, l2)
    curvature = _curvature(rows, start)[: rows.outputs]
    tolerance = -near * float(shares @ np.log(shares))
    correlations = None
    if d <= max(MAX_FACTORED_DIMENSIONS, min(n, MAX_CORRELATED_DIMENSIONS)):
        correlations = (rows.moments.covariance / np.outer(rows.scale, rows.scale)).astype(np.float32)

    def begin(change: _Change, point: Doubles, known: Value) -> Search:
        solve = solver(None if correlations is None else change.correlations(correlations), curvature, penalty)
        value = known[0], change.gradients(known[1])
        found = descend(point, value, np.append(penalty, 0.0), solve, tolerance=tolerance, limit=passes)
        return change.through(found)

    def answer(points: Sequence[Doubles]) -> list[Value]:
        return values(rows.blocks, n, points)

    points = [_start(rows, change, start) for change in changes]
    if start is None:  # no weights are no weights, whatever was erased
        known = [rows.constant] * len(points)
    else:
        known = answer([change.plain(point) for change, point in zip(changes, points, strict=True)])
    ends = run({i: begin(*each) for i, each in enumerate(zip(changes, points, known, strict=True))}, in_line(answer))
    return [change.plain(ends[i].point) for i, change in enumerate(changes)]


def _curvature(rows: Rows, start: Linear | None) -> Doubles:
    """Of the loss, for each class that is met: where the search starts, or at the classes' shares.

    A probe that is sure of most rows has far less there, and with the right size a search takes half the readings.
    """
    met = rows.counts > 0
    if start is None:
        shares: Doubles = rows.counts[met] / rows.moments.rows
        return shares * (1 - shares)
    point, found = _point(rows, start, rows.scale).astype(np.float32), np.zeros(int(met.sum()))
    for block, _ in rows.blocks():
        shares = softmax(point[:, :-1] @ block.T + point[:, -1:], axis=0)
        found += (shares * (1 - shares)).sum(axis=1, dtype=np.float64)
    return np.maximum(found / rows.moments.rows, MIN_CURVATURE)


def _told(rows: Rows, l2: float) -> Linear:
    """The classifier that goes by the one-hot class alone, about as the penalty has it: a search from it is short."""
    shares = rows.counts / rows.moments.rows
    others, variance = max(1, np.count_nonzero(shares) - 1), float((shares * (1 - shares)).sum())
    weight = minimize_scalar(
        lambda x: np.log1p(others * np.exp(-x)) + l2 / 2 * variance * x * x, bounds=(0, 50), method="bounded"
    ).x
    unread = np.zeros((len(shares), len(rows.scale)))
    return Linear(np.hstack([unread, weight * np.eye(len(shares))]), np.zeros(len(shares)))


def _start(rows: Rows, change: _Change, start: Linear | None) -> Doubles:
    """Where a search begins: at weights of erased vectors that are those of ``start``, or else at 0."""
    if start is None:
        return rows.shares
    full = _point(rows, start, change.scale)
    return full[1:] - full[:1] if rows.outputs == 1 else full - full.mean(axis=0)


def _point(rows: Rows, model: Linear, scale: Doubles) -> Doubles:
    """Weights and biases (classes that are met, d + 1) of a model, for vectors that are centred and of this scale."""
    met = rows.counts > 0
    if model.weights.shape != (len(met), len(scale)):
        raise ShapeError(f"The start has weights {model.weights.shape}; expected ({len(met)}, {len(scale)}).")
    return np.column_stack([model.weights * scale, model.bias + model.weights @ rows.centre])[met]


def _model(rows: Rows, point: Doubles) -> Linear:
    """The classifier of vectors as they are."""
    found = expand_classes(point, rows.counts)
    weights = found[:, :-1] / rows.scale
    return Linear(weights, found[:, -1] - weights @ rows.centre)


def _scores(models: Sequence[Linear], test: Features, rows: Rows) -> list[Floats]:
    """Log-probabilities (n, classes) by each model, from one reading."""
    classes = len(rows.counts)
    weights = np.concatenate([model.weights * rows.scale for model in models]).astype(np.float32)
    bias = np.concatenate([model.bias + model.weights @ rows.centre for model in models]).astype(np.float32)
    found = np.empty((len(models), len(test), classes), np.float32)
    size = _size(max(test.shape[1], classes * len(models)))
    for start, part in _standardised(test, rows.centre, rows.scale, size):
        logits = (weights @ part.T + bias[:, None]).reshape(len(models), classes, -1)
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        found[:, start : start + len(part)] = logits.transpose(0, 2, 1)
    return list(found)
