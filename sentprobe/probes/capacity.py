"""What a linear probe can do with less capacity: weights of lower rank, or of a smaller norm.

A probe of rank r reads r numbers of each vector. They are the leading principal components, over the training rows, of
the logits of the full probe, and a logistic regression is fitted to them. Other numbers may predict the labels better,
but searching for those has many local optima, while these are determined by the rows, include those of the lower ranks,
and end in the full probe; and the refit never has a higher objective than truncating the singular values of the
weights. On sets of five and six classes it came within 0.4 % of the best of several such searches. Two classes are
separated along one direction, so that their probes differ in norm only.

A norm is the nuclear norm, the sum of the singular values, of the weights (classes, d) of standardised dimensions, with
their mean over the classes subtracted; a stronger penalty makes it smaller. Rank and norm against accuracy, and the
share of the plane that is reached, are from Pimentel et al. (2020).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError, UsageError
from sentprobe.probes import convex
from sentprobe.probes.calibration import fit_temperature
from sentprobe.probes.convex import Linear, TrainingStatistics
from sentprobe.probes.features import Doubles, Features, Ints
from sentprobe.stats import inputs
from sentprobe.stats.classification import MOST_BITS

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""Further penalties at which the full probe is fitted, for its norm."""
CAPACITY_TOLERANCE = 1e-5
"""As ``TOLERANCE`` of ``convex``, but coarser: a third digit may differ, which rows decide by chance."""


@dataclass(frozen=True)
class CapacityPoint:
    """One probe: its complexity and its scores."""

    rank: int
    """The highest that its weights may have."""
    norm: float
    """The nuclear norm of its weights."""
    l2: float
    dev: float
    test: float
    """Accuracies."""
    bits: float
    """Mean cost of the test rows whose label is in train, at the temperature that is best on dev."""


def ranks(classes: int, dimensions: int) -> tuple[int, ...]:
    """1, 2, 4, … and the highest rank that weights can have."""
    most = max(1, min(classes - 1, dimensions))
    return (*(2**i for i in range(most.bit_length()) if 2**i < most), most)


def capacity(
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    test: Features,
    test_labels: Ints,
    classes: int,
    *,
    l2: float,
    penalties: Sequence[float] = PENALTIES,
    plain: Linear | None = None,
    statistics: TrainingStatistics | None = None,
    device: str | None = None,
) -> list[CapacityPoint]:
    """Probes of every rank at one penalty, lowest rank first; then full ones at the other penalties, strongest first.

    ``labels`` are 0 … classes - 1, and -1 in dev and test for classes that are not in train. ``plain`` is the full
    probe at the penalty, and ``statistics`` are those of the training rows, if they are known.
    """
    for rows, targets in ((train, labels), (dev, dev_labels), (test, test_labels)):
        if len(rows) != len(targets) or not len(rows):
            raise ShapeError(
                f"There are {len(rows)} rows and {len(targets)} labels; expected one per row, and at least one row."
            )
    with single_threaded():  # with more, sums depend on how many
        statistics = TrainingStatistics.of(train, labels, classes, device) if statistics is None else statistics
        if plain is None:
            (plain,) = convex.optima(statistics, train, labels, classes, [l2], device=device)
        full = _FullProbe.of(plain, statistics)
        evaluation = _Evaluation(dev, dev_labels, test, test_labels)
        fit = partial(convex.optima, tolerance=CAPACITY_TOLERANCE, device=device)
        points: list[CapacityPoint] = []
        *lower, most = ranks(int(np.count_nonzero(np.bincount(labels))), train.shape[1])
        if lower:
            projected = [full.project(rows, max(lower)) for rows in (train, dev, test)]
            spread = projected[0].T @ projected[0] / np.float32(len(train))
        for rank in lower:
            train_rows, dev_rows, test_rows = (Features.of(np.ascontiguousarray(rows[:, :rank])) for rows in projected)
            narrow = TrainingStatistics(np.zeros(rank), np.ones(rank), spread[:rank, :rank], statistics.curvature)
            (model,) = fit(narrow, train_rows, labels, classes, [l2], start=full.truncated(rank))
            lower_rank = replace(evaluation, dev=dev_rows, test=test_rows)
            points.append(lower_rank.point(model, model.weights, rank, l2))
        points.append(evaluation.point(plain, full.weights, most, l2))
        if other_penalties := sorted(set(penalties) - {l2}, reverse=True):
            models = fit(statistics, train, labels, classes, other_penalties, start=plain)
            for model, penalty in zip(models, other_penalties, strict=True):
                points.append(evaluation.point(model, model.weights * statistics.scale, most, penalty))
    return points


def frontier(complexity: npt.ArrayLike, accuracy: npt.ArrayLike) -> list[int]:
    """The Pareto-optimal points (m,): no other is at most as complex and at least as accurate; the simplest first."""
    x, y = _numbers(complexity, accuracy)
    best: list[int] = []
    for i in np.lexsort((-y, x)).tolist():
        if not best or y[i] > y[best[-1]]:
            best.append(i)
    return best


def hypervolume(complexity: npt.ArrayLike, accuracy: npt.ArrayLike, *, most: float, floor: float) -> float:
    """The share of the plane that points (m,) dominate: all that is more complex and less accurate than one of them.

    The plane goes from complexity 0 to ``most``, which is the same for all encoders compared, and from the accuracy
    ``floor``, such as that of the majority class, to 1.
    """
    if not (0 < most < math.inf and floor < 1):
        raise UsageError(f"A plane needs a complexity above 0 and an accuracy below 1, got {most} and {floor}.")
    x, y = _numbers(complexity, accuracy)
    order = np.argsort(x, kind="stable")
    steps = np.diff(x[order].clip(0.0, most), append=most)
    reached = np.maximum.accumulate(np.maximum(y[order] - floor, 0.0))
    return min(1.0, float(steps @ reached / (most * (1 - floor))))  # a sum of parts may round up


def _numbers(complexity: npt.ArrayLike, accuracy: npt.ArrayLike) -> tuple[Doubles, Doubles]:
    x, y = inputs.numbers(complexity, "complexity"), inputs.numbers(accuracy, "accuracy")
    inputs.check_same_shape(x, "complexity", y, "accuracy")
    return x, y


@dataclass(frozen=True, eq=False)
class _FullProbe:
    """The full probe in standardised dimensions, and the directions that matter most to it."""

    weights: Doubles
    """(classes, d), with mean 0 over the classes."""
    bias: Doubles
    turn: Doubles
    """The principal axes (classes, r) of the logits, the longest first."""
    basis: Doubles
    """Orthonormal directions (d, r); the first ones span what the first axes read."""
    statistics: TrainingStatistics

    @classmethod
    def of(cls, model: Linear, statistics: TrainingStatistics) -> _FullProbe:
        weights = model.weights * statistics.scale
        weights -= weights.mean(axis=0)
        spread = weights if statistics.correlations is None else weights @ statistics.correlations
        turn = np.linalg.eigh(spread @ weights.T)[1][:, ::-1]
        basis = np.linalg.qr(weights.T @ turn)[0]
        return cls(weights, model.bias + model.weights @ statistics.mean, turn, basis, statistics)

    def project(self, features: Features, rank: int) -> npt.NDArray[np.float32]:
        """What a probe of that rank, or a lower one, reads of rows, (n, rank)."""
        weights = (self.basis[:, :rank] / self.statistics.scale[:, None]).T
        coordinates = np.empty((len(features), rank), np.float32)
        for part, (projected,) in convex.logits([Linear(weights, -weights @ self.statistics.mean)], features):
            coordinates[part] = projected.T
        return coordinates

    def truncated(self, rank: int) -> Linear:
        """The full probe truncated to its largest axes, as a classifier of what a probe of that rank reads."""
        axes = self.turn[:, :rank]
        return Linear(axes @ (axes.T @ self.weights @ self.basis[:, :rank]), self.bias)


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Rows on which probes are evaluated."""

    dev: Features
    dev_labels: Ints
    test: Features
    test_labels: Ints

    def point(self, model: Linear, weights: Doubles, rank: int, l2: float) -> CapacityPoint:
        """The point of a probe whose weights of standardised dimensions are these, (classes, any)."""
        dev = convex.log_probabilities(model, self.dev)
        test, cost = _measure(model, self.test, self.test_labels, fit_temperature(dev, self.dev_labels))
        norm = float(np.linalg.svd(weights - weights.mean(axis=0), compute_uv=False).sum())
        return CapacityPoint(rank, norm, l2, float((dev.argmax(axis=1) == self.dev_labels).mean()), test, cost)


def _measure(model: Linear, features: Features, labels: Ints, t: float) -> tuple[float, float]:
    """Accuracy, and bits per row whose label is in train, at the temperature t; rows are read block by block."""
    hits, costs, count = 0, 0.0, int((labels >= 0).sum())
    for part, (logits,) in convex.logits([model], features):
        y = labels[part]
        hits += int((logits.argmax(axis=0) == y).sum())
        logits -= logits.max(axis=0)
        logits /= t
        labelled = np.flatnonzero(y >= 0)
        of_label = logits[y[labelled], labelled]
        nats = np.log(np.exp(logits, out=logits).sum(axis=0))[labelled] - of_label
        costs += float((nats / math.log(2)).clip(0.0, MOST_BITS).sum())
    return hits / len(labels), costs / count if count else math.nan
