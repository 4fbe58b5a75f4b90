"""The training rows of a task, standardised once and fitted many times; and what fits on such rows share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from sentprobe.errors import ShapeError
from sentprobe.probes.convex.data import MAX_CACHED_BYTES, sum_gradients
from sentprobe.probes.convex.engine import Numpy
from sentprobe.probes.convex.rows import block_rows
from sentprobe.probes.convex.search import Value
from sentprobe.probes.erase import VectorMoments
from sentprobe.probes.features import Doubles, Features, Floats, Ints, check_labels

T = TypeVar("T")
Blocks = Callable[[], Iterable[tuple[Floats, Ints]]]
"""Rows (m, d) and the indices of their classes (m,) among those that have rows, from top to bottom."""


@dataclass(frozen=True, eq=False)
class StandardisedRows:
    """The training rows of a task, standardised: read once, fitted many times."""

    blocks: Blocks
    counts: Ints
    """(classes,)."""
    moments: VectorMoments
    centre: Doubles
    """What is subtracted from the rows: their mean (d,), rounded to float32."""
    scale: Doubles
    """What they are then divided by: deviations (d,), rounded to float32; 1 for 0."""

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
        centre, scale = _rounded(moments.mean), _scale(moments)

        def blocks() -> Iterator[tuple[Floats, Ints]]:
            for start, rows in standardised_blocks(train, centre, scale, block_rows(Numpy.cells, d)):
                yield rows, numbers[start : start + len(rows)]

        return cls(cached_blocks(blocks, 4 * n * d), counts, moments, centre, scale)

    @property
    def outputs(self) -> int:
        """The number of logits that are fitted: one for two classes."""
        present = int(np.count_nonzero(self.counts))
        return present if present > 2 else present - 1

    @cached_property
    def constant(self) -> Value:
        """The loss without weights, and its gradient."""
        (value,) = values(self.blocks, self.moments.rows, [self.shares])
        return value

    @property
    def shares(self) -> Doubles:
        """The point (outputs, d + 1) without weights, whose biases are the classes' shares."""
        point = np.zeros((self.outputs, len(self.scale) + 1))
        logs = np.log(self.counts[self.counts > 0])
        point[:, -1] = logs[1] - logs[0] if self.outputs == 1 else logs
        return point

    def reinjected(self) -> StandardisedRows:
        """The training rows with their one-hot class appended, as ``erase.reinjected`` does."""
        n, classes, d = self.moments.rows, len(self.counts), len(self.scale)
        present, shares, one_hot = np.flatnonzero(self.counts), self.counts / n, np.eye(classes, dtype=np.float32)
        sums = np.zeros((classes, d))
        for rows, numbers in self.blocks():
            sums += one_hot[:, present[numbers]] @ rows
        crossed = sums / n * self.scale + np.outer(shares, self.centre - self.moments.mean)
        class_covariance = np.diag(shares) - np.outer(shares, shares)
        moments = VectorMoments(
            n,
            np.concatenate([self.moments.mean, shares]),
            np.block([[self.moments.covariance, crossed.T], [crossed, class_covariance]]),
        )
        centre, scale = _rounded(moments.mean), _scale(moments)
        one_hot = ((one_hot - centre[d:]) / scale[d:]).astype(np.float32)

        def blocks() -> Iterator[tuple[Floats, Ints]]:
            for rows, numbers in self.blocks():
                yield np.hstack([rows, one_hot[present[numbers]]]), numbers

        return StandardisedRows(cached_blocks(blocks, 4 * n * (d + classes)), self.counts, moments, centre, scale)


def cached_blocks(blocks: Callable[[], Iterable[T]], size: int) -> Callable[[], Iterable[T]]:
    """The same blocks, cached in memory if their size in bytes allows it."""
    if size > MAX_CACHED_BYTES:
        return blocks
    cached = list(blocks())
    return lambda: cached


def values(blocks: Blocks, n: int, points: Sequence[Doubles]) -> list[Value]:
    """The mean cross-entropy and its gradient at each point (outputs, d + 1), from one read of n rows."""
    stacked = np.concatenate(points)
    weights, bias = stacked[:, :-1].astype(np.float32), stacked[:, -1].astype(np.float32)
    losses, gradients = sum_gradients(Numpy(), blocks(), weights, bias, points)
    return list(zip((losses / n).tolist(), np.split(gradients / n, len(points)), strict=True))


def _rounded(numbers: Doubles) -> Doubles:
    """Rounded to float32, so that float32 arithmetic subtracts and divides by exactly this."""
    return numbers.astype(np.float32).astype(np.float64)


def _scale(moments: VectorMoments) -> Doubles:
    deviations = _rounded(np.sqrt(np.maximum(np.diag(moments.covariance), 0)))
    return np.where(deviations > 0, deviations, 1.0)


def standardised_blocks(features: Features, centre: Doubles, scale: Doubles, size: int) -> Iterator[tuple[int, Floats]]:
    """(first row, rows), ``size`` at a time."""
    taken, by = centre.astype(np.float32), scale.astype(np.float32)
    for start, rows in features.chunks(size):
        rows -= taken
        rows /= by
        yield start, rows
