"""How related two sentences are, a score from 1 to 5, learned from pair features as in SentEval.

A score is represented as a distribution over the levels (Tai et al. 2015, section 4.2), to which a softmax is fitted
by squared error; the prediction is the mean of the levels. Weights start as torch's would and each pass takes the
rows in an order that numpy's generator draws, so that the result is SentEval's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from sentprobe.core.resources import single_threaded
from sentprobe.errors import DataError, ShapeError, TooFewError, UsageError
from sentprobe.probes.features import Features, Floats
from sentprobe.probes.network.group import SEEDS, initial_layers
from sentprobe.transfer.adam import Adam, views

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BATCH, LEARNING_RATE = 64, 1e-3
EPOCHS_PER_EVALUATION = 50
"""Epochs between two evaluations on dev."""
MAX_EPOCHS = 1000
"""Training ends after more epochs than this."""
EVALUATION_PATIENCE = 3
"""Evaluations on dev, in all, that may be no better than the best before."""
MAX_GATHERED_BYTES = 2**28
"""Training rows of up to this many bytes are gathered once, and not in every epoch."""
SCORED_ROWS = 512
"""Rows that are scored at a time."""


@dataclass(frozen=True, eq=False)
class RelatednessResult:
    """The result of training."""

    dev: float
    """The best correlation on dev, of the kind that is monitored; 0 where it is not defined."""
    predicted: Doubles
    """The score of each test row, (n,)."""
    passes: int


def relate(
    train: Features,
    scores: npt.ArrayLike,
    dev: Features,
    dev_scores: npt.ArrayLike,
    test: Features,
    *,
    seed: int,
    watch: Literal["pearson", "spearman"] = "pearson",
    levels: int = 5,
    reduction: Literal["mean", "sum"] = "mean",
) -> RelatednessResult:
    """Learn scores (n,) from 0 to ``levels``, stop early on dev, and predict those of test.

    ``reduction`` is what the loss does with the squares of a batch: the sum is what SentEval did with torch before
    0.4.1. It has no device: so few outputs are computed fastest where the rows are.
    """
    scores, dev_scores = np.asarray(scores, np.float64), np.asarray(dev_scores, np.float64)
    _check(train, scores, dev, dev_scores, test, seed, levels)
    if watch not in ("pearson", "spearman") or reduction not in ("mean", "sum"):
        raise UsageError(f"Got watch={watch!r} and reduction={reduction!r}; expected pearson or spearman, mean or sum.")
    # one thread, so that results do not depend on the number of threads; what is not finite has no correlation
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        model, orders = _SoftmaxLayer.of(seed, train.shape[1], levels), np.random.RandomState(seed)
        target, gather = targets(scores, levels), _gatherer(train)
        best, best_weights, passes, stale_evaluations = -np.inf, model.adam.weights, 0, 0
        while stale_evaluations <= EVALUATION_PATIENCE and passes <= MAX_EPOCHS:
            for _ in range(EPOCHS_PER_EVALUATION):
                model.train(gather, target, orders.permutation(len(train)), reduction)
            passes += EPOCHS_PER_EVALUATION
            correlation = _correlation(model.predict(dev), dev_scores, watch)
            if correlation > best:
                best, best_weights = correlation, model.adam.weights.copy()
            else:
                stale_evaluations += 1
        model.adam.weights[:] = best_weights
        return RelatednessResult(best, model.predict(test), passes)


def targets(scores: Doubles, levels: int) -> Floats:
    """Scores (n,) as shares of the two levels around them, (n, levels).

    There is no level 0, so that shares of a score below 1 do not add up to 1, as in SentEval.
    """
    below = np.floor(scores)
    # levels 0 and levels + 1 are columns, too, while shares are written, and then dropped
    shares = np.zeros((len(scores), levels + 2), np.float32)
    rows, level = np.arange(len(scores)), below.astype(np.int64)
    shares[rows, level] = below - scores + 1
    shares[rows, level + 1] = scores - below
    return shares[:, 1:-1]


def _check(
    train: Features, scores: Doubles, dev: Features, dev_scores: Doubles, test: Features, seed: int, levels: int
) -> None:
    for name, rows, gold in (("training", train, scores), ("dev", dev, dev_scores)):
        if gold.shape != (len(rows),):
            raise ShapeError(f"There are {len(rows)} {name} rows and scores {gold.shape}; expected one per row.")
        if not len(rows):
            raise TooFewError(f"There are no {name} rows; expected some to train on and some to stop on.")
        if not (np.min(gold) >= 0 and np.max(gold) <= levels):  # also where one is NaN
            raise DataError(f"The {name} scores are {np.min(gold)} … {np.max(gold)}; expected 0 … {levels}.")
    widths = [rows.shape[1] for rows in (train, dev, test)]
    if len(set(widths)) > 1:
        raise ShapeError(f"Training, dev and test rows have {widths} dimensions; expected the same.")
    if levels < 2:
        raise UsageError(f"A score needs two levels or more, got {levels}.")
    if not 0 <= seed < SEEDS:
        raise UsageError(f"A seed must be 0 … {SEEDS - 1}, got {seed}.")


def _gatherer(train: Features) -> Callable[[Ints, Floats], None]:
    """A function that copies rows of the training set into an array (m, d)."""
    n, d = train.shape
    if 4 * n * d > MAX_GATHERED_BYTES:

        def gather(rows: Ints, out: Floats) -> None:
            out[:] = train.take(rows)
    else:
        gathered = train.take(slice(None))

        def gather(rows: Ints, out: Floats) -> None:
            gathered.take(
                rows, axis=0, out=out, mode="clip"
            )  # with the default mode, numpy writes to a copy of ``out``

    return gather


def _correlation(predicted: Doubles, scores: Doubles, watch: str) -> float:
    """Pearson's or Spearman's correlation of (n,) and (n,), or 0 if there is none."""
    from scipy.stats import pearsonr, spearmanr

    if len(scores) < 2 or not np.isfinite(predicted).all() or np.ptp(predicted) == 0 or np.ptp(scores) == 0:
        return 0.0
    return float((pearsonr if watch == "pearson" else spearmanr)(predicted, scores)[0])


@dataclass(eq=False)
class _SoftmaxLayer:
    """A linear layer and a softmax; arrays are levels × rows, so that no sum is over a short last axis."""

    adam: Adam
    weight: Floats
    bias: Floats
    gradient: Floats
    bias_gradient: Floats
    batch: Floats
    """A buffer for the rows of a batch."""
    steps: int = field(default=0, init=False)

    @classmethod
    def of(cls, seed: int, width: int, levels: int) -> _SoftmaxLayer:
        initial = initial_layers(seed, [width, levels])
        adam, shapes = Adam.of(initial), [array.shape for array in initial]
        weight, bias = views(adam.weights, shapes)
        gradient, bias_gradient = views(adam.gradient, shapes)
        return cls(adam, weight, bias, gradient, bias_gradient, np.empty((BATCH, width), np.float32))

    def shares(self, x: Floats) -> Floats:
        """The probabilities of the levels (levels, n) for rows (n, d)."""
        z = self.weight @ x.T
        z += self.bias[:, None]
        z -= z.max(axis=0)  # so that exp does not overflow
        np.exp(z, out=z)
        z /= z.sum(axis=0)
        return z

    def predict(self, features: Features) -> Doubles:
        """The expected level of each row, (n,)."""
        predicted, levels = np.empty(len(features)), np.arange(1.0, len(self.bias) + 1)
        for start, x in features.chunks(SCORED_ROWS):
            predicted[start : start + len(x)] = levels @ self.shares(x)
        return predicted

    def train(self, gather: Callable[[Ints, Floats], None], target: Floats, order: Ints, reduction: str) -> None:
        """Train for one epoch, in this order of the rows (n,), on the shares (n, levels) of the levels."""
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            x = self.batch[: len(rows)]
            gather(rows, x)
            p = self.shares(x)
            gradient = p - target[rows].T
            gradient *= np.float32(2 / gradient.size if reduction == "mean" else 2)
            # through the softmax: p * (g - sum of p * g)
            gradient *= p
            gradient -= p * gradient.sum(axis=0)
            np.matmul(gradient, x, out=self.gradient)
            gradient.sum(axis=1, out=self.bias_gradient)
            self.steps += 1
            self.adam.step(self.steps, LEARNING_RATE)
