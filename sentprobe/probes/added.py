"""What vectors add to a baseline that is given: conditional usable information (Hewitt et al. 2021), made fair.

A probe of both together, compared with a probe of the baseline alone, credits vectors that are a mere function of the
baseline: they have more weights to fit, and a penalty that suits other words or dimensions than the baseline's does. So
the baseline is given whatever the vectors have, but for what they know:

1. The baseline is probed at the penalty with the lowest loss on dev. If it consists of several kinds of vectors, as the
   words of a text and their number, each has a probe, and their logits are added up.
2. A probe of the vectors learns what is left: it also reads the logits of the baseline, practically without a penalty.
   These logits are of probes that were trained without the row (or its target form), or there would be nothing left to
   learn where the baseline fits its training rows.
3. The baseline imitates what the vectors add to the logits: least squares on the training rows, without labels
   (``imitate``). A linear function of the baseline is imitated, and adds nothing; what the vectors know beyond the
   baseline cannot be.
4. On dev, weights are fitted for the logits of the baseline and of the imitation; and again, with the rest of what the
   vectors add (``stack``). The difference of their losses on test, in bits, is what the vectors add.

Estimation errors of the steps 1 and 3 count by their product: the vectors gain from what the probe of the baseline
misses only as far as the imitation misses it, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sentprobe.core.resources import single_threaded
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics, logits, optima
from sentprobe.probes.features import Features, is_sparse
from sentprobe.probes.fitting import fit, leave_groups_out
from sentprobe.probes.imitate import imitate
from sentprobe.probes.kind import Fit
from sentprobe.probes.probe import Probe
from sentprobe.probes.stack import Array, Doubles, Stack, centred, fit_stack

Ints = npt.NDArray[np.int64]

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
class Baseline:
    """What is given, and its probe."""

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
        known = np.flatnonzero(labels >= 0)
        test, truth = [each[known] for each in self.test], labels[known]
        less = self.without.influence @ self.without.slope(test[:2], truth)
        more = self.with_vectors.influence @ self.with_vectors.slope(test, truth)
        found: Doubles = (less - more) / math.log(2)
        return found


def probe_baseline(views: Sequence[SplitFeatures], labels: Labels, folds: Ints, device: str | None = None) -> Baseline:
    """Probe each kind of vectors of the baseline; ``folds`` (n,) are those of the training rows, 0, 1, …"""
    probed = [_probe_view(view, labels, folds, device) for view in views]
    total = probed[0][0]
    if len(probed) > 1:
        weights = fit_stack([each.train for each, _ in probed], labels.train).weights
        total = Logits(*(np.tensordot(weights, parts, 1) for parts in zip(*(each for each, _ in probed), strict=True)))
    whole = SplitFeatures(*(_concatenated(parts) for parts in zip(*views, strict=True)))
    return Baseline(whole, total, tuple(l2 for _, l2 in probed))


def add_vectors(baseline: Baseline, vectors: SplitFeatures, labels: Labels, device: str | None = None) -> Added:
    """What vectors add to a baseline on the same rows."""
    known = np.flatnonzero(labels.dev >= 0)
    truth = labels.dev[known]
    best: tuple[float, float, Linear] | None = None
    for l2, model in _probe_rest(baseline, vectors, labels, device):
        contribution = _logits_of(model, vectors.dev)
        loss = fit_stack([baseline.logits.dev[known], contribution[known]], truth).loss
        if best is None or loss < best[0]:
            best = loss, l2, model
    assert best is not None
    _, l2, model = best
    own = Logits(*(_logits_of(model, part) for part in vectors))
    # of two classes, one column says it all; with very many, some of the rows are enough
    columns = slice(1, None) if labels.classes == 2 else slice(None)
    rows = slice(None, None, -(-own.train.size // MAX_IMITATED))
    train = baseline.vectors.train.select(rows)
    copy = imitate(train, own.train[rows, columns], baseline.vectors.dev, own.dev[:, columns])
    copied = [_logits_of(copy, part) for part in baseline.vectors[1:]]
    dev = (baseline.logits.dev[known], copied[0][known], (own.dev - copied[0])[known])
    test = (baseline.logits.test, copied[1], own.test - copied[1])
    spread = float(np.square(own.dev - own.dev.mean(axis=0)).sum())
    missed = float(np.square(own.dev - copied[0]).sum())
    imitated = 1 - missed / spread if spread else 0.0
    return Added(fit_stack(dev[:2], truth), fit_stack(dev, truth), test, l2, imitated)


def _probe_view(view: SplitFeatures, labels: Labels, folds: Ints, device: str | None) -> tuple[Logits, float]:
    """The logits of the probe of one kind of vectors, and its penalty."""
    sparse = view.train.sparse
    probe = Probe(kind="convex", l2=SPARSE_PENALTIES if sparse else PENALTIES, standardise=not sparse)
    rows = (view.train, labels.train, view.dev, labels.dev, labels.classes)
    (found,) = fit(replace(probe, passes=ADDED_MAX_PASSES), *rows, device=device)
    known = np.flatnonzero(labels.dev >= 0)
    # by the loss after calibration: a confident probe may know more than one that a penalty keeps from being wrong
    dev = [_logits_of(model, view.dev) for model in found.candidates]
    losses = [fit_stack([each[known]], labels.dev[known]).loss for each in dev]
    best = int(np.argmin(losses))
    model, l2 = found.candidates[best], float(found.tried[best]["l2"])
    held_out = np.empty((len(folds), labels.classes), np.float32)
    start = Fit(model, found.seed, {"l2": l2}, found.dev, found.tried)
    for fold, refitted in enumerate(leave_groups_out(probe, start, *rows, folds[None], device=device)):
        own = np.flatnonzero(folds == fold)
        held_out[own] = _logits_of(refitted, view.train.select(own))
    return Logits(held_out, dev[best], _logits_of(model, view.test)), l2


def _probe_rest(
    baseline: Baseline, vectors: SplitFeatures, labels: Labels, device: str | None
) -> list[tuple[float, Linear]]:
    """Probes of the vectors beside the logits of the baseline, at several penalties, without these logits."""
    known = baseline.logits.train.astype(np.float32)
    if labels.classes == 2:
        known = known[:, 1:] - known[:, :1]
    train = _beside(known, vectors.train)
    statistics = TrainingStatistics.of(train, labels.train, labels.classes, device, ADDED_ROWS_PER_DIMENSION)
    width, sparse = known.shape[1], vectors.train.sparse
    grid = SPARSE_PENALTIES if sparse else PENALTIES
    sizes = statistics.scale[width:] ** -2.0 if sparse else np.ones(train.shape[1] - width)
    own = np.full(width, BASELINE_LOGITS_PENALTY)
    start = Linear(np.zeros((labels.classes, train.shape[1])), np.zeros(labels.classes))
    start.weights[:, :width] = [[-0.5], [0.5]] if labels.classes == 2 else np.eye(labels.classes)
    with single_threaded():  # with more, sums depend on how many
        models = optima(
            statistics,
            train,
            labels.train,
            labels.classes,
            [np.concatenate([own, l2 * sizes]) for l2 in grid],
            start=start,
            tolerance=ADDED_TOLERANCE,
            limit=ADDED_MAX_PASSES,
            device=device,
        )
    weights = [model.weights[:, width:] for model in models]
    # 0 on average over the training rows: a weight of these logits is then no bias
    return [(l2, Linear(w, -w @ statistics.mean[width:])) for l2, w in zip(grid, weights, strict=True)]


def _beside(known: Array, vectors: Features) -> Features:
    """Logits and vectors of the same rows, concatenated; copied once if they fit into memory."""
    both = _concatenated([Features.of(known), vectors])
    if both.sparse or 4 * math.prod(both.shape) > MAX_CACHED_BYTES:
        return both
    return Features.of(both.take(slice(None)))


def _concatenated(features: Sequence[Features]) -> Features:
    """Vectors of the same rows, side by side; sparse, if any are."""
    if len(features) == 1:
        return features[0]
    tables = tuple(table for each in features for table in each.tables)
    if any(map(is_sparse, tables)):
        from scipy.sparse import csr_array

        tables = tuple(table if is_sparse(table) else csr_array(table) for table in tables)
    return Features(tables, tuple(place for each in features for place in each.indices))


def _logits_of(model: object, features: Features) -> Doubles:
    """The centred logits (n, classes) of a linear classifier; a single output is that of the second of two classes."""
    assert isinstance(model, Linear)
    found = np.empty((len(features), len(model.bias)))
    for rows, (values,) in logits([model], features):
        found[rows] = values.T
    return np.hstack([-found, found]) if found.shape[1] == 1 else centred(found)
