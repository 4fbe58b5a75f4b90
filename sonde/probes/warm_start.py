"""The probe ``linear`` fitted again at one penalty, on vectors without some of their directions; many at once.

What is fitted is what ``convex`` fits on ``erased(train, eraser)``: the same objective, the same search, the same
accuracy. But no vector is changed. A logit of erased vectors is one of the vectors as they are, with other weights, so
all erasers share each reading of the rows; means, deviations and correlations of erased vectors follow from those of
the vectors; and a search may start from the weights of the plain probe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import softmax

from sonde.core.threads import single_threaded
from sonde.errors import ShapeError
from sonde.probes.convex.data import MAX_CACHED_BYTES, MAX_CORRELATED_DIMENSIONS, MAX_FACTORED_DIMENSIONS
from sonde.probes.convex.engine import Doubles, Floats, Numpy
from sonde.probes.convex.linear import Linear, block_rows
from sonde.probes.convex.optimum import MAX_COLUMNS, TOLERANCE
from sonde.probes.convex.search import Search, Value, descend, in_line, run, solver
from sonde.probes.erase import Eraser, reinjected
from sonde.probes.erased_space import ErasedSpace
from sonde.probes.features import Features
from sonde.probes.standardised_rows import Ints, Rows, expand_classes, standardised_blocks, values

MAX_PASSES = 200
"""Readings after which a search gives up, as in the probe ``linear``."""
REINJECTED_PASSES = 30
"""Readings for a probe that is told the class. It starts near the optimum; and if the penalty is weak, float32 cannot
tell how sure it should be, which changes no prediction."""
MIN_CURVATURE = 1e-9
"""Curvature that every class is taken to have at least."""


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
            changes = [ErasedSpace.of(rows, eraser) for eraser in some]
            none = [np.empty((0, d + 1))] * len(some)
            points = _search(rows, changes, l2, start, passes, near) if rows.outputs else none
            models.extend(_model(rows, point) for point in points)
    return models


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


def _search(
    rows: Rows, changes: Sequence[ErasedSpace], l2: float, start: Linear | None, passes: int, near: float
) -> list[Doubles]:
    """The optimum for each change: weights of the standardised vectors and biases, (outputs, d + 1)."""
    n, d = rows.moments.rows, len(rows.scale)
    shares, penalty = rows.counts[rows.counts > 0] / n, np.full(d, l2)
    curvature = _curvature(rows, start)[: rows.outputs]
    tolerance = -near * float(shares @ np.log(shares))
    correlations = None
    if d <= max(MAX_FACTORED_DIMENSIONS, min(n, MAX_CORRELATED_DIMENSIONS)):
        correlations = (rows.moments.covariance / np.outer(rows.scale, rows.scale)).astype(np.float32)

    def begin(change: ErasedSpace, point: Doubles, known: Value) -> Search:
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


def _start(rows: Rows, change: ErasedSpace, start: Linear | None) -> Doubles:
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
    size = block_rows(Numpy.cells, test.shape[1], classes * len(models))
    for start, part in standardised_blocks(test, rows.centre, rows.scale, size):
        logits = (weights @ part.T + bias[:, None]).reshape(len(models), classes, -1)
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        found[:, start : start + len(part)] = logits.transpose(0, 2, 1)
    return list(found)
