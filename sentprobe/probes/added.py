"""What vectors add to a baseline that is given: conditional usable information (Hewitt et al. 2021), made fair.

A probe of both together, compared with a probe of the baseline alone, credits vectors that are a mere function of the
baseline: they have more weights to fit, and a penalty that suits other words or dimensions than the baseline's does. So
the baseline is given whatever the vectors have, but for what they know:

1. The baseline is probed at the penalty with the lowest loss on dev. If it consists of several kinds of vectors, as the
   words of a text and their number, each has a probe, and their logits are added up.
2. A probe of the vectors learns what is left: it also reads the logits of the baseline, practically without a penalty.
   These logits are of probes that were trained without the row (or its target form), or there would be nothing left to
   learn where the baseline fits its training rows.
3. The baseline imitates what the vectors add to the logits: least squares on the training rows, without labels,
   stopped early on dev (``imitate``). A linear function of the baseline is imitated, and adds nothing; what the vectors
   know beyond the baseline cannot be.
4. On dev, weights are fitted for the logits of the baseline and of the imitation; and again, with the rest of what the
   vectors add (``fit_stack``). The difference of their losses on test, in bits, is what the vectors add.

Estimation errors of the steps 1 and 3 count by their product: the vectors gain from what the probe of the baseline
misses only as far as the imitation misses it, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError
from sentprobe.probes.calibration import Stack, centred, fit_stack
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics, logits, optima
from sentprobe.probes.erase import MAX_DIMENSIONS, VectorMoments
from sentprobe.probes.features import Array, Doubles, Features, Ints, is_sparse
from sentprobe.probes.fitting import fit, leave_groups_out
from sentprobe.probes.kind import Fit
from sentprobe.probes.probe import Probe

NormalProduct = Callable[[Doubles], Doubles]
"""Multiplies weights (d, o) by the covariances of the vectors."""

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""L2 penalties of standardised vectors. Weaker ones take most of the time, and hardly ever have the lowest loss."""
SPARSE_PENALTIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Those of sparse vectors, which are not standardised: a word of a single row would be as large as any other."""
BASELINE_LOGITS_PENALTY = 1e-4
"""The penalty of the baseline's logits in the probe that reads them beside the vectors."""
ADDED_ROWS_PER_DIMENSION = 8
"""Rows per dimension for estimating correlations: twice as many do not speed up convergence."""
ADDED_TOLERANCE, ADDED_MAX_PASSES = 1e-6, 100
"""Convergence tolerance, as in ``convex``, and the maximum number of passes: if length determines the label, the loss
falls without end."""
MAX_IMITATED = 2**25
"""Logits of training rows that are imitated at most; with more, every other row is left out, or more."""
MAX_STEPS, PATIENCE = 100, 10
"""Steps of an imitation at most, and steps without a smaller error on dev after which it ends."""
BLOCK_ROWS = 1024
"""Rows that are read at a time."""


class SplitFeatures(NamedTuple):
    """Vectors of the rows of train, dev and test."""

    train: Features
    dev: Features
    test: Features


class Labels(NamedTuple):
    """Labels of train, 0 … classes - 1, and of dev, where -1 is a label that is not in train."""

    train: Ints
    dev: Ints
    classes: int


class Logits(NamedTuple):
    """Centred logits (n, classes) of the rows of train, dev and test."""

    train: Array
    dev: Array
    test: Array


@dataclass(frozen=True, eq=False)
class ProbedBaseline:
    """The vectors of the baseline, and the logits of its probe."""

    vectors: SplitFeatures
    """All kinds of vectors, concatenated."""
    logits: Logits
    """Those of train are by probes that were trained without the row."""
    l2: tuple[float, ...]
    """The penalty of the probe of each kind."""


@dataclass(frozen=True, eq=False)
class Added:
    """The classifiers with and without the vectors, as weights of logits, and these logits on test."""

    without: Stack
    with_vectors: Stack
    test: tuple[Array, Array, Array]
    """Of the baseline, of the imitation, and of what is left of the vectors; (n, classes) each."""
    l2: float
    """The penalty of the probe of the vectors."""
    imitated: float
    """The share of the variance of what the vectors add that the baseline imitates on dev."""

    def log_probabilities(self) -> tuple[Doubles, Doubles]:
        """Of the classes (n, classes) of test rows, without and with the vectors."""
        return self.without.log_probabilities(self.test[:2]), self.with_vectors.log_probabilities(self.test)

    def influence(self, labels: Ints) -> Doubles:
        """The influence of each dev row on what is added to the test labels (n,), in bits.

        The weights were fitted on dev, and other dev rows would give others: the variance of the mean of these is that
        of what is added over samples of dev rows. Test labels of -1 do not count.
        """
        labelled = np.flatnonzero(labels >= 0)
        test, truth = [array[labelled] for array in self.test], labels[labelled]
        without = self.without.influence @ self.without.slope(test[:2], truth)
        with_vectors = self.with_vectors.influence @ self.with_vectors.slope(test, truth)
        bits: Doubles = (without - with_vectors) / math.log(2)
        return bits


def probe_baseline(
    views: Sequence[SplitFeatures], labels: Labels, folds: Ints, device: str | None = None
) -> ProbedBaseline:
    """Probe each kind of vectors of the baseline; ``folds`` (n,) are those of the training rows, 0, 1, …"""
    probed = [_probe_view(view, labels, folds, device) for view in views]
    total = probed[0][0]
    if len(probed) > 1:
        weights = fit_stack([of_view.train for of_view, _ in probed], labels.train).weights
        by_split = zip(*(of_view for of_view, _ in probed), strict=True)
        total = Logits(*(np.tensordot(weights, of_views, 1) for of_views in by_split))
    vectors = SplitFeatures(*(_concatenated(of_views) for of_views in zip(*views, strict=True)))
    return ProbedBaseline(vectors, total, tuple(l2 for _, l2 in probed))


def add_vectors(baseline: ProbedBaseline, vectors: SplitFeatures, labels: Labels, device: str | None = None) -> Added:
    """What vectors add to a baseline on the same rows."""
    labelled = np.flatnonzero(labels.dev >= 0)
    truth = labels.dev[labelled]
    best: tuple[float, float, Linear] | None = None
    for l2, model in _probe_beside(baseline, vectors, labels, device):
        contribution = _logits_of(model, vectors.dev)
        loss = fit_stack([baseline.logits.dev[labelled], contribution[labelled]], truth).loss
        if best is None or loss < best[0]:
            best = loss, l2, model
    assert best is not None
    _, l2, model = best
    added = Logits(*(_logits_of(model, split) for split in vectors))
    # of two classes, one column says it all; with very many, some of the rows are enough
    columns = slice(1, None) if labels.classes == 2 else slice(None)
    rows = slice(None, None, -(-added.train.size // MAX_IMITATED))
    train = baseline.vectors.train.select(rows)
    imitation = imitate(train, added.train[rows, columns], baseline.vectors.dev, added.dev[:, columns])
    imitated_dev, imitated_test = (_logits_of(imitation, split) for split in baseline.vectors[1:])
    dev = (baseline.logits.dev[labelled], imitated_dev[labelled], (added.dev - imitated_dev)[labelled])
    test = (baseline.logits.test, imitated_test, added.test - imitated_test)
    variance = float(np.square(added.dev - added.dev.mean(axis=0)).sum())
    residual = float(np.square(added.dev - imitated_dev).sum())
    imitated = 1 - residual / variance if variance else 0.0
    return Added(fit_stack(dev[:2], truth), fit_stack(dev, truth), test, l2, imitated)


def _probe_view(view: SplitFeatures, labels: Labels, folds: Ints, device: str | None) -> tuple[Logits, float]:
    """The logits of the probe of one kind of vectors, and its penalty."""
    sparse = view.train.sparse
    probe = Probe(kind="convex", l2=SPARSE_PENALTIES if sparse else PENALTIES, standardise=not sparse)
    rows = (view.train, labels.train, view.dev, labels.dev, labels.classes)
    (fitted,) = fit(replace(probe, passes=ADDED_MAX_PASSES), *rows, device=device)
    labelled = np.flatnonzero(labels.dev >= 0)
    # by the loss after calibration: a confident probe may know more than one that a penalty keeps from being wrong
    dev = [_logits_of(model, view.dev) for model in fitted.candidates]
    losses = [fit_stack([of_model[labelled]], labels.dev[labelled]).loss for of_model in dev]
    best = int(np.argmin(losses))
    model, l2 = fitted.candidates[best], float(fitted.tried[best]["l2"])
    held_out = np.empty((len(folds), labels.classes), np.float32)
    start = Fit(model, fitted.seed, {"l2": l2}, fitted.dev, fitted.tried)
    for fold, refitted in enumerate(leave_groups_out(probe, start, *rows, folds[None], device=device)):
        fold_rows = np.flatnonzero(folds == fold)
        held_out[fold_rows] = _logits_of(refitted, view.train.select(fold_rows))
    return Logits(held_out, dev[best], _logits_of(model, view.test)), l2


def _probe_beside(
    baseline: ProbedBaseline, vectors: SplitFeatures, labels: Labels, device: str | None
) -> list[tuple[float, Linear]]:
    """Probes of the vectors beside the logits of the baseline, at several penalties, without these logits."""
    baseline_logits = baseline.logits.train.astype(np.float32)
    if labels.classes == 2:
        baseline_logits = baseline_logits[:, 1:] - baseline_logits[:, :1]
    train = _beside(baseline_logits, vectors.train)
    statistics = TrainingStatistics.of(train, labels.train, labels.classes, device, ADDED_ROWS_PER_DIMENSION)
    width, sparse = baseline_logits.shape[1], vectors.train.sparse
    grid = SPARSE_PENALTIES if sparse else PENALTIES
    # a search sees standardised dimensions: these factors make it the penalty of sparse vectors as they are
    factors = statistics.scale[width:] ** -2.0 if sparse else np.ones(train.shape[1] - width)
    logits_penalty = np.full(width, BASELINE_LOGITS_PENALTY)
    start = Linear(np.zeros((labels.classes, train.shape[1])), np.zeros(labels.classes))
    start.weights[:, :width] = [[-0.5], [0.5]] if labels.classes == 2 else np.eye(labels.classes)
    with single_threaded():  # with more, sums depend on how many
        models = optima(
            statistics,
            train,
            labels.train,
            labels.classes,
            [np.concatenate([logits_penalty, l2 * factors]) for l2 in grid],
            start=start,
            tolerance=ADDED_TOLERANCE,
            limit=ADDED_MAX_PASSES,
            device=device,
        )
    weights = [model.weights[:, width:] for model in models]
    # 0 on average over the training rows: a weight of these logits is then no bias
    return [(l2, Linear(w, -w @ statistics.mean[width:])) for l2, w in zip(grid, weights, strict=True)]


def _beside(baseline_logits: Array, vectors: Features) -> Features:
    """Logits and vectors of the same rows, concatenated; copied once if they fit into memory."""
    both = _concatenated([Features.of(baseline_logits), vectors])
    if both.sparse or 4 * math.prod(both.shape) > MAX_CACHED_BYTES:
        return both
    return Features.of(both.take(slice(None)))


def _concatenated(features: Sequence[Features]) -> Features:
    """Vectors of the same rows, side by side; sparse, if any are."""
    if len(features) == 1:
        return features[0]
    tables = tuple(table for view in features for table in view.tables)
    if any(map(is_sparse, tables)):
        from scipy.sparse import csr_array

        tables = tuple(table if is_sparse(table) else csr_array(table) for table in tables)
    return Features(tables, tuple(column for view in features for column in view.indices))


def _logits_of(model: object, features: Features) -> Doubles:
    """The centred logits (n, classes) of a linear classifier; a single output is that of the second of two classes."""
    assert isinstance(model, Linear)
    outputs = np.empty((len(features), len(model.bias)))
    for rows, (values,) in logits([model], features):
        outputs[rows] = values.T
    return np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else centred(outputs)


def imitate(train: Features, targets: Doubles, dev: Features, dev_targets: Doubles) -> Linear:
    """The linear map of vectors (n, d) that is nearest to the targets (n, o), as weights (o, d) and biases (o,).

    Least squares by conjugate gradients, which find the large directions first, so that the number of steps regularises
    as a penalty does; dev vectors, without any label, tell where to stop. Sparse vectors are used as they are, others
    standardised.
    """
    if len(train) != len(targets) or len(dev) != len(dev_targets) or targets.shape[1] != dev_targets.shape[1]:
        raise ShapeError(
            f"Expected as many targets as rows: {len(train)} and {len(dev)}, got {targets.shape} and "
            f"{dev_targets.shape}."
        )
    centre = targets.mean(axis=0)
    with single_threaded():
        mean, scale, normal, products = _normal_equations(train, targets - centre)
        read = _reader(dev, mean, scale)
        weights = _solve(normal, products, lambda w: float(np.square(dev_targets - centre - read(w)).sum()))
    weights = weights / scale[:, None]
    return Linear(weights.T.copy(), centre - mean @ weights)


def _solve(normal: NormalProduct, products: Doubles, error: Callable[[Doubles], float]) -> Doubles:
    """Weights (d, o) by conjugate gradients, each column by itself, at the step with the lowest error."""
    weights = np.zeros_like(products)
    best, least_error, best_step = weights, error(weights), 0
    residual, direction = products, products
    squares = np.square(residual).sum(axis=0)
    floor = np.finfo(np.float64).eps ** 2 * squares  # below it, a residual is rounding
    for i in range(1, MAX_STEPS + 1):
        image = normal(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        active = (squares > floor) & (curvature > 0)
        if not active.any():
            break
        step = np.where(active, squares / np.where(active, curvature, 1.0), 0.0)
        weights = weights + step * direction
        residual = residual - step * image
        before, squares = squares, np.square(residual).sum(axis=0)
        direction = residual + np.where(active, squares / np.where(active, before, 1.0), 0.0) * direction
        if (error_now := error(weights)) < least_error:
            best, least_error, best_step = weights, error_now, i
        elif i - best_step >= PATIENCE:
            break
    return best


def _normal_equations(train: Features, targets: Doubles) -> tuple[Doubles, Doubles, NormalProduct, Doubles]:
    """Means and scales (d,), the product with the covariances of scaled vectors, and those with targets (d, o)."""
    n, d = train.shape
    if any(map(is_sparse, train.tables)) or d > MAX_DIMENSIONS:
        rows = train.take_sparse()
        transposed, mean = rows.T.tocsr(), np.asarray(rows.mean(axis=0), np.float64).ravel()

        def times(weights: Doubles) -> Doubles:
            outputs = rows @ weights - mean @ weights
            product: Doubles = (transposed @ outputs - np.outer(mean, outputs.sum(axis=0))) / n
            return product

        return mean, np.ones(d), times, np.asarray(transposed @ targets, np.float64) / n
    moments = VectorMoments.of(train)
    deviations = np.sqrt(np.maximum(np.diag(moments.covariance), 0))
    deviations = np.where(deviations > 0, deviations, 1.0)
    correlations = moments.covariance / np.outer(deviations, deviations)
    products = np.zeros((d, targets.shape[1]))
    for start, block in train.chunks(BLOCK_ROWS):
        products += (block - moments.mean).T @ targets[start : start + len(block)]
    return moments.mean, deviations, lambda weights: correlations @ weights, products / n / deviations[:, None]


def _reader(features: Features, mean: Doubles, scale: Doubles) -> Callable[[Doubles], Doubles]:
    """From weights (d, o) of scaled vectors to their products with rows, (m, o)."""
    rows: Any = features.take_sparse() if any(map(is_sparse, features.tables)) else features.take(slice(None))

    def read(weights: Doubles) -> Doubles:
        plain = weights / scale[:, None]
        return np.asarray(rows @ plain, np.float64) - mean @ plain

    return read
