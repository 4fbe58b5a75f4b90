"""Logistic regression taken to its optimum, for every L2 penalty of a grid.

    mean cross-entropy + l2 / 2 * |W|²

The biases are not penalised, and two classes are one logit, that is one row of W: the optimum is that of scikit-learn's
``LogisticRegression(C=1 / (n * l2))`` on the same vectors. It does not depend on a seed.

With ``standardise`` the weights that are penalised are those of dimensions brought to mean 0 and deviation 1 on the
training rows; a constant dimension keeps its scale. Rows stay as they are: means and deviations go into the weights.

The search is L-BFGS, preconditioned by the correlations of the dimensions on a sample of rows. It reads float32 rows
block by block and adds up in float64. The penalties share each reading of the rows if they are few columns, else each
starts from the optimum of the next stronger one. It has converged when its model of the objective promises less than
``TOLERANCE`` of what the classes' shares alone cost, and gives up after ``probe.passes`` readings; ``Fit.tried`` says
which. Dev chooses the highest accuracy, or with ``watch="loss"`` the lowest loss; of several as
accurate that with the lowest loss.

A class that no training row has would have a bias without bound. It gets no weights, and a bias with which all such
classes together are as probable as half a training row, where the other logits are at their biases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.core.threads import single_threaded
from sonde.errors import DataError, ShapeError
from sonde.probes.convex_numpy import Doubles, Engine, Floats, Numpy
from sonde.probes.convex_search import End, Search, Value, descend, in_line, inverse, run, solver
from sonde.probes.features import Features
from sonde.probes.fit import Fit
from sonde.probes.probe import Probe
from sonde.probes.select_best import select_best

Ints = npt.NDArray[np.int64]

TOLERANCE = 3e-8
"""With it, probabilities differ by at most about 1e-3 from those at an optimum found with far more effort."""
ROWS_PER_DIMENSION = 16
"""Rows per dimension from which correlations are taken."""
MAX_COLUMNS = 64
"""Columns, penalties times outputs, that are worth one reading; with more, products are no faster per column."""
MAX_FACTORED_DIMENSIONS, MAX_CORRELATED_DIMENSIONS = 2048, 8192
"""Dimensions up to which correlations are used, and up to which they are if there are as many rows. Beyond the first,
penalties do not share readings, or their factors would fill the memory."""
MAX_CACHED_BYTES = 2**28
"""Bytes of rows that are kept if they had to be gathered: that takes nearly as long as to compute."""
FAR, EXTREME = 50.0, 1e15
"""Deviations between a mean and 0, and sizes of a deviation, beyond which float32 loses too much: such rows are
standardised as they are read."""


@dataclass(frozen=True, eq=False)
class Linear:
    """Logits that are linear in the vectors as they are."""

    weights: Doubles
    """(classes, d)."""
    bias: Doubles
    """(classes,)."""

    def scores(self, features: Features) -> Floats:
        """Log-probabilities of the classes, (n, classes)."""
        with single_threaded():
            return log_probabilities(self, features)


def fit(
    probe: Probe,
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    classes: int,
    *,
    seeds: Sequence[int],
    device: str | None = None,
    statistics: TrainingStatistics | None = None,
) -> list[Fit]:
    """Find the optimum for every L2 of the probe; each seed gets the one that dev chooses.

    ``ground`` is that of the training rows, if it is known.
    """
    for name, rows, given in (("training", train, labels), ("dev", dev, dev_labels)):
        if len(rows) != len(given) or not len(rows):
            raise ShapeError(
                f"There are {len(rows)} {name} rows and {len(given)} labels; expected one of each or more."
            )
    counts = np.bincount(labels, minlength=classes)
    with single_threaded():  # with more, sums depend on how many
        data = Data.of(train, labels, counts, engine_of(device), statistics)
        ends = _search(data, probe.l2, standardise=probe.standardise, limit=probe.passes, statistics=statistics)
        models = [model_at(data, end.point, counts) for end in ends]
        judged = [_judge(model, dev, dev_labels) for model in models]
    tried = [
        {"l2": l2, "accuracy": accuracy, "loss": loss, "passes": end.passes, "converged": end.converged}
        for l2, (accuracy, loss), end in zip(probe.l2, judged, ends, strict=True)
    ]
    best = select_best(probe, *zip(*judged, strict=True))
    return [Fit(models[best], seed, {"l2": probe.l2[best]}, judged[best][0], tried, models) for seed in seeds]


@dataclass(frozen=True, eq=False)
class TrainingStatistics:
    """What many fits on rows of one set share: how rows are standardised, and what makes a search short."""

    mean: Doubles
    scale: Doubles
    """(d,) each."""
    correlations: Floats | None
    """Of the dimensions, (d, d); None if there are too many."""
    curvature: float
    """About that of the loss; with the correlations it says where a search may go, and changes no optimum."""
    inverses: dict[float, Floats] = field(default_factory=dict)
    """Of about the Hessian by penalty, for those that were met last; as many as KEPT holds."""

    @classmethod
    def of(
        cls, train: Features, labels: Ints, classes: int, device: str | None = None, sample: int = ROWS_PER_DIMENSION
    ) -> TrainingStatistics:
        """Look through the training rows once; labels (n,) are 0 … classes - 1. ``sample`` is that of ``SAMPLE``."""
        with single_threaded():
            data = Data.of(train, labels, np.bincount(labels, minlength=classes), engine_of(device))
            return cls(data.mean, data.scale, data.correlations(sample), float(curvature_of(data.shares).mean()))

    def inverse(self, l2: float) -> Floats | None:
        """That of about the Hessian with a penalty, (d, d)."""
        if self.correlations is None:
            return None
        found = self.inverses.get(l2)
        if found is None:
            found = inverse(self.correlations, self.curvature, np.full(len(self.mean), l2))
            # cells that run side by side may both be here
            for old in list(self.inverses)[
                : max(0, len(self.inverses) + 1 - MAX_CACHED_BYTES // self.correlations.nbytes)
            ]:
                self.inverses.pop(old, None)
            self.inverses[l2] = found
        return found


def optima(
    statistics: TrainingStatistics,
    train: Features,
    labels: Ints,
    classes: int,
    l2: Sequence[float | Doubles],
    *,
    start: Linear | None = None,
    tolerance: float = TOLERANCE,
    limit: int = 200,
    device: str | None = None,
) -> list[Linear]:
    """The optimum for each penalty, on rows that are standardised by those of ``ground``; ``start`` is one near by.

    A penalty is a number, or one for each dimension (d,).
    """
    if train.shape != (len(labels), len(statistics.mean)):
        raise ShapeError(
            f"The rows are {train.shape}; expected ({len(labels)}, {len(statistics.mean)}), for so many labels."
        )
    counts = np.bincount(labels, minlength=classes)
    data = Data.of(train, labels, counts, engine_of(device), statistics)
    point = None if start is None else point_of(data, start, counts)
    ends = _search(data, l2, statistics=statistics, start=point, tolerance=tolerance, limit=limit)
    return [model_at(data, end.point, counts) for end in ends]


def engine_of(device: str | None) -> Engine:
    """numpy, or torch on a device."""
    if device is None:
        return Numpy()
    from sonde.probes import convex_torch

    return convex_torch.find(device)


def model_at(data: Data, point: Doubles, counts: Ints) -> Linear:
    """The classifier that a search has come to; ``counts`` are the rows of each class."""
    met, missing = np.flatnonzero(counts), np.flatnonzero(counts == 0)
    rows = np.zeros((len(counts), point.shape[1]))
    rows[met] = np.concatenate([-point / 2, point / 2]) if len(met) == 2 else point
    rows[missing, -1] = np.logaddexp.reduce(rows[met, -1]) - np.log(2 * counts.sum() * max(1, len(missing)))
    weights = rows[:, :-1] / data.scale
    return Linear(weights, rows[:, -1] - weights @ data.mean)


def point_of(data: Data, model: Linear, counts: Ints) -> Doubles:
    """Where a model stands among the points that are searched; what all classes share changes no probability."""
    weights, bias = (rows[np.flatnonzero(counts)] for rows in (model.weights, model.bias))
    found = np.column_stack([weights * data.scale, bias + weights @ data.mean])
    return found[1:] - found[:1] if len(found) == 2 else found - found.mean(axis=0)


def _judge(model: Linear, dev: Features, labels: Ints) -> tuple[float, float]:
    """Accuracy, and mean loss over the rows whose label is known."""
    logs, known = log_probabilities(model, dev), np.flatnonzero(labels >= 0)
    loss = -logs[known, labels[known]].mean(dtype=np.float64) if len(known) else np.nan
    return float((logs.argmax(axis=1) == labels).mean()), float(loss)


def logits(models: Sequence[Linear], features: Features) -> Iterator[tuple[slice, Doubles]]:
    """Some rows after the other, and their logits (models, classes, m); all models share the reading."""
    weights, bias = np.concatenate([m.weights for m in models]), np.concatenate([m.bias for m in models])
    for start, rows in _read(features, _size(Numpy.cells, *weights.shape)):
        found = weights @ rows.T.astype(np.float64) + bias[:, None]
        yield slice(start, start + len(rows)), found.reshape(len(models), -1, len(rows))


def log_probabilities(model: Linear, features: Features) -> Floats:
    """What ``Linear.scores`` gives, (n, classes)."""
    found = np.empty((len(features), len(model.bias)), np.float32)
    for part, (logs,) in logits([model], features):
        logs -= logs.max(axis=0)
        logs -= np.log(np.exp(logs).sum(axis=0))
        found[part] = logs.T
    return found


def curvature_of(shares: Doubles) -> Doubles:
    """Of the loss at the classes' shares, for each output."""
    return (shares * (1 - shares))[: 1 if len(shares) == 2 else len(shares)]


def _search(
    data: Data,
    penalties: Sequence[float | Doubles],
    *,
    standardise: bool = True,
    limit: int,
    statistics: TrainingStatistics | None = None,
    start: Doubles | None = None,
    tolerance: float = TOLERANCE,
) -> list[End]:
    """Where the search ends for each penalty."""
    d, curvature = data.features.shape[1], curvature_of(data.shares)
    outputs = len(curvature)
    point = np.zeros((outputs, d + 1))
    if len(data.shares) == 1:
        return [End(point, (0.0, point), 0, True)] * len(penalties)
    point[:, -1] = np.log(data.shares[1] / data.shares[0]) if outputs == 1 else np.log(data.shares)
    point = point if start is None else start
    value = data.values([point])[0]
    promised = -tolerance * float(data.shares @ np.log(data.shares))
    correlations = data.correlations() if statistics is None else statistics.correlations
    usual = [float(np.median(l2)) for l2 in penalties]
    strong_first = sorted(range(len(penalties)), key=lambda i: -usual[i])

    def begin(i: int, point: Doubles, value: Value, first: Doubles | None = None) -> Search:
        l2 = penalties[i]
        penalty = np.full(d, l2) if standardise else l2 / data.scale**2
        known = statistics.inverse(l2) if statistics is not None and standardise and isinstance(l2, float) else None
        solve = solver(correlations, curvature, penalty, known)
        return descend(point, value, np.append(penalty, 0.0), solve, tolerance=promised, limit=limit, first=first)

    if d <= MAX_FACTORED_DIMENSIONS and len(strong_first) * outputs <= MAX_COLUMNS:
        found = run({i: begin(i, point, value) for i in strong_first}, in_line(data.values))
        return [found[i] for i in range(len(penalties))]
    ends: dict[int, End] = {}
    for place, i in enumerate(strong_first):
        first = None
        if place > 1 and usual[i] > 0:  # in the logarithm of the penalty the optimum moves about evenly
            older, old = strong_first[place - 2 : place]
            if usual[older] > usual[old]:
                step = np.log(usual[old] / usual[i]) / np.log(usual[older] / usual[old])
                first = (point - ends[older].point) * step
        ends |= run({i: begin(i, point, value, first)}, in_line(data.values))
        point, value = ends[i].point, ends[i].value
    return [ends[i] for i in range(len(penalties))]


@dataclass(frozen=True, eq=False)
class Data:
    """The training rows; to the search they are standardised, and all classes have rows."""

    features: Features
    shares: Doubles
    """Of the classes among the rows."""
    mean: Doubles
    scale: Doubles
    """Deviations, but 1 for 0."""
    engine: Engine
    blocks: Callable[[], Iterable[tuple[Any, Any]]]
    """Rows (m, d) and labels (m,), from top to bottom."""
    shift: Doubles
    factor: Doubles
    """What the blocks lack of being standardised: the mean and 1 / scale, or 0 and 1."""

    @classmethod
    def of(
        cls, features: Features, labels: Ints, counts: Ints, engine: Engine,
        statistics: TrainingStatistics | None = None,
        room: int | None = None,
    ) -> Data:  # fmt: skip
        """Look through the rows once, if nobody has, and decide how they will be read: kept if ``room`` has the bytes.

        ``counts`` are the rows of each class; those of a class that has none here, but elsewhere, may be given too.
        """
        n, d = features.shape
        met = counts > 0
        size = _size(engine.cells, d, int(np.count_nonzero(met)))
        mean, scale = _moments(features, size) if statistics is None else (statistics.mean, statistics.scale)
        labels = (np.cumsum(met) - 1)[labels]
        far = (np.abs(mean) > FAR * scale).any() or (np.abs(np.log(scale)) > np.log(EXTREME)).any()

        def blocks() -> Iterator[tuple[Any, Any]]:
            for start, rows in _read(features, size):
                given = _standardised(rows, mean, scale) if far else rows
                yield engine.hold(given), engine.hold(labels[start : start + size])

        kept = list(blocks()) if 4 * n * d <= (MAX_CACHED_BYTES if room is None else room) else None
        return cls(
            features,
            counts[met] / counts.sum(),
            mean,
            scale,
            engine,
            blocks if kept is None else lambda: kept,
            np.zeros(d) if far else mean,
            np.ones(d) if far else 1 / scale,
        )

    def values(self, points: Sequence[Doubles]) -> list[Value]:
        """The mean cross-entropy and its gradient at each point (outputs, d + 1), from one reading of the rows."""
        stacked, (n, d) = np.concatenate(points), self.features.shape
        weights = stacked[:, :d] * self.factor
        bias = stacked[:, d] - weights @ self.shift
        held = self.engine.hold(weights.astype(np.float32)), self.engine.hold(bias.astype(np.float32))
        losses, gradients = np.zeros(len(points)), np.zeros_like(stacked)
        for rows, labels in self.blocks():
            loss, slope, bias_slope = self.engine.gradients(rows, labels, *held, len(points))
            losses += loss
            gradients[:, :d] += slope
            gradients[:, d] += bias_slope
        gradients[:, :d] -= np.outer(gradients[:, d], self.shift)
        gradients[:, :d] *= self.factor
        return list(zip((losses / n).tolist(), np.split(gradients / n, len(points)), strict=True))

    def correlations(self, sample: int = ROWS_PER_DIMENSION) -> Floats | None:
        """Those of the dimensions (d, d) on rows from all over, unless there are too many."""
        n, d = self.features.shape
        if d > max(MAX_FACTORED_DIMENSIONS, min(n, MAX_CORRELATED_DIMENSIONS)):
            return None
        m = min(n, sample * d)
        found = np.zeros((d, d), np.float32)
        for _, rows in self.features.select(np.arange(m) * n // m).chunks(_size(self.engine.cells, d)):
            found += self.engine.products(self.engine.hold(_standardised(rows, self.mean, self.scale)))
        found /= np.float32(m)
        return found


def _size(cells: int, *widths: int) -> int:
    """Rows of a block."""
    return max(64, min(cells // 1024, cells // max(widths)))


def _read(features: Features, size: int) -> Iterator[tuple[int, Floats]]:
    """(first row, rows): without a copy where they stand in line in one table."""
    table, places = features.tables[0], features.places[0]
    first = int(places[0])
    line = len(features.tables) == 1 and table.dtype == np.float32 and table.flags.c_contiguous
    if not (line and first >= 0 and np.array_equal(places, np.arange(first, first + len(places)))):
        yield from features.chunks(size)
        return
    rows: Floats = np.asarray(table)[first : first + len(places)]
    for start in range(0, len(rows), size):
        yield start, rows[start : start + size]


def _standardised(rows: Floats, mean: Doubles, scale: Doubles) -> Floats:
    found: Floats = ((rows - mean) / scale).astype(np.float32)
    return found


def _moments(features: Features, size: int) -> tuple[Doubles, Doubles]:
    """Mean and deviation of each dimension, (d,) each; 1 for a deviation of 0."""
    n, d = features.shape
    sums, squares, near = np.zeros(d), np.zeros(d), np.zeros(d, np.float32)
    with np.errstate(invalid="ignore"):  # it is told below
        for start, rows in _read(features, size):
            if start == 0:  # sums are about the mean of the first block; in float32, or constants would not become 0
                near = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
            rest = np.subtract(rows, near, dtype=np.float64)
            sums += rest.sum(axis=0)
            squares += np.einsum("ij,ij->j", rest, rest)
    if not np.isfinite(squares).all():
        bad = np.count_nonzero(~np.isfinite(squares))
        raise DataError(f"{bad} of {d} dimensions of the training vectors have values that are no finite numbers.")
    scale = np.sqrt(np.maximum(squares / n - (sums / n) ** 2, 0))
    return near + sums / n, np.where(scale > 0, scale, 1.0)
