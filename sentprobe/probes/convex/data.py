"""Training rows as the search for an optimum sees them: standardised, and read block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.probes.convex.engine import (
    MANY_OUTPUTS,
    LogisticEngine,
    Sparse,
    Weighted,
    engine_of,
    is_numpy,
    is_sparse,
)
from sentprobe.probes.convex.few_rows import RowSpace
from sentprobe.probes.convex.linear import Linear
from sentprobe.probes.convex.preconditioner import (
    Correlations,
    Preconditioner,
    RowSample,
    inverse,
    sample_size,
    solver,
)
from sentprobe.probes.convex.rows import (
    block_rows,
    is_far,
    moments,
    read_blocks,
    sort_rows,
    sparse_blocks,
    standardised,
)
from sentprobe.probes.convex.search import Solve, Value
from sentprobe.probes.features import Doubles, Features, Floats, Ints

ROWS_PER_DIMENSION = 16
"""Rows per dimension from which correlations are estimated."""
MAX_FACTORED_DIMENSIONS, MAX_CORRELATED_DIMENSIONS = 2048, 8192
"""Dimensions up to which correlations are used, and up to which they are if there are as many rows. Beyond the first,
penalties do not share reads, or their factors would fill the memory."""
MAX_CACHED_BYTES = 2**28
"""Bytes of rows that are cached if they had to be gathered: gathering takes nearly as long as the arithmetic."""
IN_PLACE = 2**17
"""Numbers of a gradient that are changed at a time."""
MAX_DOUBLES = 2**21
"""Weights up to which points are float64, and that are made from points at a time. With more weights on sparse rows,
whose sums are float32 anyway, the arrays of a search would take far more memory than the rows."""


@dataclass(frozen=True, eq=False)
class TrainingStatistics:
    """What many fits on the rows of one set share: how rows are standardised, and what makes a search short."""

    mean: Doubles
    scale: Doubles
    """(d,) each."""
    correlations: Floats | None
    """Of the dimensions, (d, d); None if there are too many, or rows are sparse."""
    curvature: float
    """Approximately that of the loss; with the correlations it preconditions a search, and changes no optimum."""
    inverses: dict[float, Floats] = field(default_factory=dict)
    """Approximate inverse Hessians of the penalties used last; as many as ``MAX_CACHED_BYTES`` holds."""
    preconditioner: Preconditioner | None = None
    """What preconditions searches instead of the correlations."""

    @classmethod
    def of(
        cls, train: Features, labels: Ints, classes: int, device: str | None = None, sample: int = ROWS_PER_DIMENSION
    ) -> TrainingStatistics:
        """Read the training rows once; labels (n,) are 0 … classes - 1, ``sample`` as ``ROWS_PER_DIMENSION``."""
        train, order = sort_rows(train)
        labels = labels[order]
        with single_threaded():
            data = TrainingData.of(train, labels, np.bincount(labels, minlength=classes), engine_of(device))
            return cls(data.mean, data.scale, data.correlations(sample), float(curvature_of(data.shares).mean()))

    @classmethod
    def for_searches(
        cls, train: Features, labels: Ints, classes: int, device: str | None = None, searches: int = 1
    ) -> TrainingStatistics:
        """Those that suit searches at one penalty which share their reads: with no more correlations than pay off."""
        with single_threaded():
            data = TrainingData.of(train, labels, np.bincount(labels, minlength=classes), engine_of(device))
            curvature = curvature_of(data.shares)
            preconditioner = data.preconditioner(searches * max(1, len(curvature)), 1)
            return cls(data.mean, data.scale, None, float(curvature.mean()), preconditioner=preconditioner)

    @property
    def preconditions(self) -> bool:
        """Whether a search is any shorter with it."""
        return self.correlations is not None or self.preconditioner is not None

    def solver(self, curvature: Doubles, penalty: Doubles) -> Solve:
        """Multiply by the approximate inverse Hessian; ``curvature`` (outputs,), ``penalty`` (d,)."""
        if self.preconditioner is not None:
            return self.preconditioner.solver(curvature, penalty)
        even = bool((penalty == penalty[0]).all())
        return solver(self.correlations, curvature, penalty, self.inverse(float(penalty[0])) if even else None)

    def inverse(self, l2: float) -> Floats | None:
        """The approximate inverse Hessian with a penalty, (d, d)."""
        if self.correlations is None:
            return None
        result = self.inverses.get(l2)
        if result is None:
            result = inverse(self.correlations, self.curvature, np.full(len(self.mean), l2))
            excess = max(0, len(self.inverses) + 1 - MAX_CACHED_BYTES // self.correlations.nbytes)
            for old in list(self.inverses)[:excess]:
                self.inverses.pop(old, None)  # cells that run in parallel may both get here
            self.inverses[l2] = result
        return result


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The training rows; to the search they are standardised, and all classes have rows."""

    features: Features
    shares: Doubles
    """Of the classes among the rows, as they are weighted."""
    mean: Doubles
    scale: Doubles
    """Standard deviations, but 1 for 0."""
    engine: LogisticEngine
    blocks: Callable[[], Iterable[tuple[Any, Any]]]
    """Rows (m, d) and labels (m,), from top to bottom."""
    far: bool
    """Whether blocks are standardised as they are read: float32 would otherwise lose too much, or it is done once."""

    @property
    def shift(self) -> Doubles:
        """What is still to be subtracted from the blocks to standardise them, (d,)."""
        return np.zeros_like(self.mean) if self.far else self.mean

    @property
    def factor(self) -> Doubles:
        """What they are then still to be multiplied by, (d,)."""
        return np.ones_like(self.scale) if self.far else 1 / self.scale

    @classmethod
    def of(
        cls,
        features: Features,
        labels: Ints,
        counts: Ints,
        engine: LogisticEngine,
        statistics: TrainingStatistics | None = None,
        cache_bytes: int | None = None,
    ) -> TrainingData:
        """Read the rows once, unless their statistics are known, and cache them if they fit in ``cache_bytes``.

        ``counts`` are the rows of each class; classes that have rows elsewhere only may be counted too.
        """
        n, d = features.shape
        present = counts > 0
        size = block_rows(engine.cells, d, int(np.count_nonzero(present)))
        mean, scale = moments(features, size) if statistics is None else (statistics.mean, statistics.scale)
        shares = counts[present] / counts.sum()
        if isinstance(engine, Weighted):
            shares = shares * engine.class_weights
        labels = (np.cumsum(present) - 1)[labels]
        if features.sparse and is_numpy(engine):
            starts, rows = zip(*sparse_blocks(features, int(np.count_nonzero(present))), strict=True)
            held = [(rows, np.split(labels, starts[1:]))]
            sparse: LogisticEngine = Sparse()
            if isinstance(engine, Weighted):
                sparse = replace(engine, inner=sparse)
            return cls(features, shares, mean, scale, sparse, lambda: held, far=False)
        far = is_far(mean, scale)

        if is_numpy(engine) and np.count_nonzero(present) >= MANY_OUTPUTS:
            size *= 4  # so that gradients, which are as large as a model, are added up less often

        def blocks() -> Iterator[tuple[Any, Any]]:
            for start, rows in read_blocks(features, size):
                block = standardised(rows, mean, scale) if far else rows
                yield engine.hold(block), engine.hold(labels[start : start + size])

        cached = list(blocks()) if 4 * n * d <= (MAX_CACHED_BYTES if cache_bytes is None else cache_bytes) else None
        return cls(
            features,
            shares,
            mean,
            scale,
            engine,
            blocks if cached is None else lambda: cached,
            far,
        )

    @property
    def precision(self) -> type[Any]:
        """The type of points and gradients."""
        large = len(self.shares) * self.features.shape[1] > MAX_DOUBLES
        return np.float32 if large and is_sparse(self.engine) else np.float64

    @classmethod
    def few(
        cls, space: RowSpace, labels: Ints, counts: Ints, engine: LogisticEngine, rows: Ints | slice = slice(None)
    ) -> TrainingData:
        """The coordinates of all rows of a space, or of some; ``labels`` and ``counts`` as in ``of``."""
        coordinates = space.coordinates
        r = coordinates.shape[1]
        plain = TrainingStatistics(np.zeros(r), np.ones(r), None, 0.0)
        return cls.of(coordinates.select(rows), labels[rows], counts, engine, plain)

    def values(self, points: Sequence[Doubles]) -> list[Value]:
        """The mean cross-entropy and its gradient at each point (outputs, d + 1), from one read of the rows."""
        n, d = self.features.shape
        weights_and_bias = self._weights_and_bias(points)
        losses, gradients = np.zeros(len(points)), np.zeros((sum(map(len, points)), d + 1), points[0].dtype)
        for rows, labels in self.blocks():
            loss, slope, bias_slope = self.engine.gradients(rows, labels, *weights_and_bias, len(points))
            losses += loss
            gradients[:, :d] += slope
            gradients[:, d] += bias_slope
            del slope  # as large as a model
        shift, factor = self.shift, self.factor
        step = max(1, IN_PLACE // (d + 1))
        for at in range(0, len(gradients), step):  # in place, since there may be millions of numbers
            part = gradients[at : at + step]
            if not self.far:
                part[:, :d] -= np.outer(part[:, d], shift)
                part[:, :d] *= factor
            part /= n
        return list(zip((losses / n).tolist(), np.split(gradients, len(points)), strict=True))

    def _weights_and_bias(self, points: Sequence[Doubles]) -> tuple[Any, Any]:
        """The weights (all outputs, d) and biases of points (outputs, d + 1), as the engine computes with them."""
        stacked, d = points[0] if len(points) == 1 else np.concatenate(points), self.features.shape[1]
        weights, bias = np.empty((len(stacked), d), np.float32), stacked[:, d].astype(np.float64)
        shift, factor = self.shift, self.factor
        step = max(1, MAX_DOUBLES // d)
        # some rows at a time: a product in float64 of all of them would be twice as large as the weights
        for at in range(0, len(stacked), step):
            exact = stacked[at : at + step, :d] * factor
            weights[at : at + step] = exact
            bias[at : at + step] -= exact @ shift
        return self.engine.hold(weights), self.engine.hold(bias.astype(np.float32))

    def preconditioner(self, outputs: int, penalties: int) -> Preconditioner:
        """From as many rows, taken from all over, as make searches cheap; sparse rows have none."""
        n, d = self.features.shape
        if is_sparse(self.engine):
            return Correlations(None)
        m = sample_size(n, d, outputs, penalties)
        if m < d:
            return RowSample.of(np.concatenate(list(self._sample(m))), n)
        products, fourth = np.zeros((d, d), np.float32), 0.0
        for rows in self._sample(m):
            products += self.engine.products(self.engine.hold(rows))
            fourth += float((np.einsum("ij,ij->i", rows, rows).astype(np.float64) ** 2).sum())
        return Correlations.of(products, fourth, m, n)

    def _sample(self, m: int) -> Iterator[Floats]:
        """m standardised rows from all over, block by block, (any, d) each."""
        n, d = self.features.shape
        mean, scale = self.mean.astype(np.float32), self.scale.astype(np.float32)
        for _, rows in self.features.select(np.arange(m) * n // m).chunks(block_rows(self.engine.cells, d)):
            if self.far:
                yield standardised(rows, self.mean, self.scale)
                continue
            rows -= mean
            rows /= scale
            yield rows

    def correlations(self, sample: int = ROWS_PER_DIMENSION) -> Floats | None:
        """Those of the dimensions (d, d) on rows from all over, unless there are too many or rows are sparse."""
        n, d = self.features.shape
        if is_sparse(self.engine) or d > max(MAX_FACTORED_DIMENSIONS, min(n, MAX_CORRELATED_DIMENSIONS)):
            return None
        m = min(n, sample * d)
        matrix = np.zeros((d, d), np.float32)
        for _, rows in self.features.select(np.arange(m) * n // m).chunks(block_rows(self.engine.cells, d)):
            matrix += self.engine.products(self.engine.hold(standardised(rows, self.mean, self.scale)))
        matrix /= np.float32(m)
        return matrix

    def model_at(self, point: Doubles, counts: Ints) -> Linear:
        """The classifier at a point (outputs, d + 1) of the search; ``counts`` are the rows of each class."""
        rows = expand_classes(point, counts)
        weights = rows[:, :-1] / self.scale
        return Linear(weights, rows[:, -1] - weights @ self.mean)

    def point_of(self, model: Linear, counts: Ints) -> Doubles:
        """The point (outputs, d + 1) that a classifier is at; what all classes share changes no probability."""
        weights, bias = (rows[np.flatnonzero(counts)] for rows in (model.weights, model.bias))
        point = np.column_stack([weights * self.scale, bias + weights @ self.mean])
        if len(point) == 2:
            return point[1:] - point[:1]
        point -= point.mean(axis=0)
        return point.astype(self.precision, copy=False)


def curvature_of(shares: Doubles) -> Doubles:
    """That of the loss at the classes' shares (classes,), for each output: (outputs,)."""
    return (shares * (1 - shares))[: 1 if len(shares) == 2 else len(shares)]


def expand_classes(point: Doubles, counts: Ints) -> Doubles:
    """Weights and bias of all classes (classes, d + 1), from those that were fitted (outputs, d + 1).

    ``counts`` (classes,) are the training rows of each class. Classes without rows have no weights, and are together as
    probable as half a row.
    """
    present, missing = np.flatnonzero(counts), np.flatnonzero(counts == 0)
    fitted = np.concatenate([-point / 2, point / 2]) if len(present) == 2 else point
    if not len(fitted):  # a single class has no logit
        fitted = np.zeros((len(present), point.shape[1]))
    if not len(missing):
        return fitted  # not copied, as it may be as large as the memory allows
    expanded = np.zeros((len(counts), point.shape[1]))
    expanded[present] = fitted
    expanded[missing, -1] = np.logaddexp.reduce(fitted[:, -1]) - np.log(2 * counts.sum() * len(missing))
    return expanded
