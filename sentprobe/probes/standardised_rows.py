"""The training rows of a task, standardised once and fitted many times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from sentprobe.errors import ShapeError
from sentprobe.probes.convex.data import MAX_CACHED_BYTES, TrainingData
from sentprobe.probes.convex.engine import Numpy
from sentprobe.probes.convex.rows import block_rows
from sentprobe.probes.convex.search import Value
from sentprobe.probes.erase import VectorMoments, reinjected
from sentprobe.probes.features import Doubles, Features, Floats, Ints, check_labels

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class StandardisedRows:
    """The training rows of a task, standardised: read once, fitted many times."""

    data: TrainingData
    """Its means and deviations are rounded to float32: float32 arithmetic subtracts and divides by exactly these."""
    counts: Ints
    """(classes,)."""
    moments: VectorMoments

    @classmethod
    def of(cls, train: Features, labels: Ints, classes: int, moments: VectorMoments | None = None) -> StandardisedRows:
        """Rows (n, d) and labels 0 … classes - 1; ``moments`` are those of these rows, if they are known."""
        n, d = train.shape
        check_labels(train, labels, classes, "training")
        moments = VectorMoments.of(train) if moments is None else moments
        if (moments.rows, len(moments.mean)) != (n, d):
            raise ShapeError(
                f"The moments are of {moments.rows} x {len(moments.mean)} values; expected {n} x {d}, as the rows."
            )
        counts = np.bincount(labels, minlength=classes)
        numbers = (np.cumsum(counts > 0) - 1)[labels]
        mean, scale = _rounded(moments.mean), _scale(moments)

        def blocks() -> Iterator[tuple[Floats, Ints]]:
            for start, rows in standardised_blocks(train, mean, scale, block_rows(Numpy.cells, d)):
                yield rows, numbers[start : start + len(rows)]

        return cls._from_blocks(train, blocks, counts, moments)

    @classmethod
    def _from_blocks(
        cls,
        features: Features,
        blocks: Callable[[], Iterable[tuple[Floats, Ints]]],
        counts: Ints,
        moments: VectorMoments,
    ) -> StandardisedRows:
        """``blocks`` has standardised rows (m, d) and the indices of their classes (m,) among those that have rows."""
        cached = cached_blocks(blocks, 4 * math.prod(features.shape))
        shares = counts[counts > 0] / counts.sum()
        data = TrainingData(features, shares, _rounded(moments.mean), _scale(moments), Numpy(), cached, far=True)
        return cls(data, counts, moments)

    @property
    def outputs(self) -> int:
        """The number of logits that are fitted: one for two classes."""
        present = int(np.count_nonzero(self.counts))
        return present if present > 2 else present - 1

    @cached_property
    def constant(self) -> Value:
        """The loss without weights, and its gradient."""
        (value,) = self.data.values([self.shares])
        return value

    @property
    def shares(self) -> Doubles:
        """The point (outputs, d + 1) without weights, whose biases are the classes' shares."""
        point = np.zeros((self.outputs, len(self.data.scale) + 1))
        logs = np.log(self.counts[self.counts > 0])
        point[:, -1] = logs[1] - logs[0] if self.outputs == 1 else logs
        return point

    def reinjected(self) -> StandardisedRows:
        """The training rows with their one-hot class appended, as ``erase.reinjected`` does."""
        data, n, classes = self.data, self.moments.rows, len(self.counts)
        present, shares, one_hot = np.flatnonzero(self.counts), self.counts / n, np.eye(classes, dtype=np.float32)
        sums, labels = np.zeros((classes, len(data.scale))), []
        for rows, numbers in data.blocks():
            sums += one_hot[:, present[numbers]] @ rows
            labels.append(present[numbers])
        crossed = sums / n * data.scale + np.outer(shares, data.mean - self.moments.mean)
        class_covariance = np.diag(shares) - np.outer(shares, shares)
        moments = VectorMoments(
            n,
            np.concatenate([self.moments.mean, shares]),
            np.block([[self.moments.covariance, crossed.T], [crossed, class_covariance]]),
        )
        class_mean, class_scale = _rounded(shares), _scale(moments)[-classes:]
        standardised = ((one_hot - class_mean) / class_scale).astype(np.float32)

        def blocks() -> Iterator[tuple[Floats, Ints]]:
            for rows, numbers in data.blocks():
                yield np.hstack([rows, standardised[present[numbers]]]), numbers

        features = reinjected(data.features, np.concatenate(labels), classes)
        return self._from_blocks(features, blocks, self.counts, moments)


def cached_blocks(blocks: Callable[[], Iterable[T]], size: int) -> Callable[[], Iterable[T]]:
    """The same blocks, cached in memory if their size in bytes allows it."""
    if size > MAX_CACHED_BYTES:
        return blocks
    cached = list(blocks())
    return lambda: cached


def _rounded(numbers: Doubles) -> Doubles:
    """Rounded to float32, so that float32 arithmetic subtracts and divides by exactly this."""
    return numbers.astype(np.float32).astype(np.float64)


def _scale(moments: VectorMoments) -> Doubles:
    deviations = _rounded(np.sqrt(np.maximum(np.diag(moments.covariance), 0)))
    return np.where(deviations > 0, deviations, 1.0)


def standardised_blocks(features: Features, mean: Doubles, scale: Doubles, size: int) -> Iterator[tuple[int, Floats]]:
    """(first row, rows), ``size`` at a time."""
    shift, divisor = mean.astype(np.float32), scale.astype(np.float32)
    for start, rows in features.chunks(size):
        rows -= shift
        rows /= divisor
        yield start, rows
