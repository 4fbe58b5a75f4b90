"""Classifiers trained in minibatches and stopped early on dev, by SentEval's rule; all points of the grid at once.

For each seed the weights are initialised as torch would, and the order of the rows in each epoch is drawn by numpy's
generator, so that without dropout the result is SentEval's own. All settings of the grid see the same batches, as they
do in SentEval, where each fit starts from the same seed; a setting that has stopped leaves the group. The best weights
on dev are kept, so SentEval's last fit, which repeats the best one, is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError, TooFewError, UsageError
from sentprobe.probes.features import Doubles, Features, Floats, Ints, check_labels, is_sparse
from sentprobe.probes.kind import Fit, select_first_best
from sentprobe.probes.network import steps_numpy
from sentprobe.probes.network.group import SEEDS, GridPoint, Group, NetworkEngine, begin, initial_layers
from sentprobe.probes.network.model import CHUNK, Network, Scale, log_softmax, scale_of, standardised
from sentprobe.probes.probe import AS_INPUT, Probe

if TYPE_CHECKING:
    from sentprobe.probes.convex import TrainingStatistics

BLOCK_BYTES = 1 << 21
"""Approximate bytes of training rows that are gathered at a time."""
EARLY_STOPPING_SHARE = 0.05
"""The share of the training rows that SentEval stops on where there is no dev."""


@dataclass
class EarlyStopping:
    """One setting of the grid: its best evaluation on dev so far, and the patience that is left."""

    probe: Probe
    accuracy: float = float("nan")
    loss: float = float("nan")
    passes: int = 0
    weights: tuple[Floats, ...] = ()
    evaluations: int = 0
    patience_used: int = 0
    stopped: bool = False

    def update(self, accuracy: float, loss: float) -> bool:
        """Whether this evaluation is better than all before; if not, it uses up patience."""
        better = accuracy > self.accuracy if self.probe.watch == "accuracy" else loss < self.loss
        if better or not self.evaluations:
            self.accuracy, self.loss, better = accuracy, loss, True
            if self.probe.reset:
                self.patience_used = 0
        else:
            self.stopped = self.patience_used >= self.probe.patience
            self.patience_used += 1
        self.evaluations += 1
        return better


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
    """Fit the grid once per seed, and choose on dev."""
    return [
        choose(probe, fit_grid(probe, train, labels, dev, dev_labels, classes, seed=seed, device=device))
        for seed in seeds
    ]


def choose(probe: Probe, fits: Sequence[Fit]) -> Fit:
    """The best fit on dev, the first of several, with every point that was tried."""
    best = select_first_best(probe, [fit.dev for fit in fits], [fit.tried[0]["loss"] for fit in fits])
    tried = tuple(tried for fit in fits for tried in fit.tried)
    return replace(fits[best], tried=tried, candidates=tuple(fit.model for fit in fits))


def fit_grid(
    probe: Probe,
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    classes: int,
    *,
    seed: int,
    orders: np.random.RandomState | None = None,
    device: str | None = None,
) -> list[Fit]:
    """One fit per point of the grid, in grid order, each stopped on dev independently.

    ``orders`` draws the order of the rows in each epoch, instead of a new generator with this seed: SentEval uses the
    generator that it has split off dev with, if there is no dev. Folds of a set are ``train.select(rows)``.
    """
    _check(train, labels, dev, dev_labels, classes, seed)
    engine = _engine(device)
    labels = np.ascontiguousarray(labels, np.int64)
    # one thread, so that a result does not depend on the number of threads; an overflow shows in the loss
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        scale = scale_of(train) if probe.standardise else None
        grid = settings(probe, train.shape[1])
        stopping = {setting: EarlyStopping(probe) for setting in grid}
        groups = _groups(engine, probe, seed, grid, train.shape[1], classes)
        orders = np.random.RandomState(seed) if orders is None else orders
        passes = step = 0
        while groups and passes <= probe.passes:
            for _ in range(probe.every):
                order = orders.permutation(len(train))
                for rows in _blocks(order, probe.batch, train.shape[1]):
                    xs, at = _block(train, rows, scale)
                    for group in groups:
                        engine.train(group, xs, at, labels[rows], step)
                    step += -(-len(rows) // probe.batch)
            passes += probe.every
            evaluation = _evaluate(engine, groups, dev, dev_labels, scale)
            for group, accuracies, losses in zip(groups, *evaluation, strict=True):
                for i, setting in enumerate(group.settings):
                    watch = stopping[setting]
                    watch.passes = passes
                    if watch.update(float(accuracies[i]), float(losses[i])):
                        watch.weights = engine.copy(group, i)
            members_left = [[i for i, s in enumerate(group.settings) if not stopping[s].stopped] for group in groups]
            groups = [
                group.keep(members) if len(members) < len(group) else group
                for group, members in zip(groups, members_left, strict=True)
                if members
            ]
    return [_fit(setting, stopping[setting], seed, scale) for setting in grid]


def settings(probe: Probe, dimensions: int) -> list[GridPoint]:
    """The points of the grid in order; without hidden units there is no dropout."""
    points = {
        GridPoint(dimensions if hidden == AS_INPUT else hidden, dropout, l2): None
        for hidden in probe.hidden
        for dropout in (probe.dropout if hidden else (0.0,))
        for l2 in probe.l2
    }
    return list(points)


def _check(train: Features, labels: Ints, dev: Features, dev_labels: Ints, classes: int, seed: int) -> None:
    for name, features in (("training", train), ("dev", dev)):
        if not len(features):
            raise TooFewError(f"There are no {name} rows; a probe needs rows to learn from and rows to stop on.")
    check_labels(train, labels, classes, "training")
    check_labels(dev, dev_labels, classes, "dev", lowest=-1)  # -1: a class that is not in train
    if train.shape[1] != dev.shape[1]:
        raise ShapeError(
            f"Training rows have {train.shape[1]} dimensions and dev rows {dev.shape[1]}; expected the same."
        )
    if not 0 <= seed < SEEDS:
        raise UsageError(f"A seed must be 0 … {SEEDS - 1}, got {seed}.")


def _engine(device: str | None) -> NetworkEngine:
    if device is not None:
        from sentprobe.probes.network.steps_torch import torch_engine

        return torch_engine(device)
    try:
        from sentprobe.probes.network import steps_numba
    except ImportError:
        return steps_numpy
    return steps_numba


def _groups(
    engine: NetworkEngine, probe: Probe, seed: int, grid: Sequence[GridPoint], dimensions: int, classes: int
) -> list[Group]:
    groups = []
    for hidden in dict.fromkeys(setting.hidden for setting in grid):
        sizes = [dimensions, hidden, classes] if hidden else [dimensions, classes]
        same_size = [setting for setting in grid if setting.hidden == hidden]
        groups.append(begin(engine, probe, seed, same_size, initial_layers(seed, sizes)))
    return groups


def _blocks(row_order: Ints, batch: int, dimensions: int) -> Iterator[Ints]:
    """Several batches at a time."""
    size = batch * max(1, BLOCK_BYTES // (4 * dimensions * batch))
    for start in range(0, len(row_order), size):
        yield row_order[start : start + size]


def _block(train: Features, rows: Ints, scale: Scale | None) -> tuple[Floats, Ints]:
    """An array (any, d) and the indices of these rows in it: the table of the features itself where that is possible.

    This saves a copy, which takes as long as a step of logistic regression.
    """
    table, indices = train.tables[0], train.indices[0][rows]
    is_plain = len(train.tables) == 1 and not is_sparse(table) and table.dtype == np.float32
    is_plain = is_plain and table.flags.c_contiguous and table.flags.aligned
    if is_plain and scale is None and indices.min() >= 0 and indices.max() < len(table):
        return np.asarray(table), indices
    return standardised(train.take(rows), scale), np.arange(len(rows))


def _evaluate(
    engine: NetworkEngine, groups: Sequence[Group], dev: Features, labels: Ints, scale: Scale | None
) -> tuple[list[Doubles], list[Doubles]]:
    """Per group, the accuracies and mean losses (members,); a label that is not in train has no loss."""
    hits = [np.zeros(len(group)) for group in groups]
    losses = [np.zeros(len(group)) for group in groups]
    in_train = labels >= 0
    for start, xs in dev.chunks(CHUNK):
        ys, in_train_rows = labels[start : start + len(xs)], np.flatnonzero(in_train[start : start + len(xs)])
        scaled = standardised(xs, scale)
        for i, group in enumerate(groups):
            logits = engine.logits(group, scaled)
            hits[i] += (logits.argmax(axis=2) == ys).sum(axis=1)
            losses[i] -= log_softmax(logits)[:, in_train_rows, ys[in_train_rows]].sum(axis=1, dtype=np.float64)
    rows = in_train.sum()
    return [sums / len(labels) for sums in hits], [sums / rows for sums in losses]


def _fit(setting: GridPoint, watch: EarlyStopping, seed: int, scale: Scale | None) -> Fit:
    probe = watch.probe
    settings = {"l2": setting.l2, "hidden": setting.hidden, "dropout": setting.dropout}
    return Fit(
        model=Network(watch.weights, probe.activation, scale),
        seed=seed,
        chosen=settings if probe.hidden != (0,) else {"l2": setting.l2},
        dev=watch.accuracy,
        tried=({**settings, "accuracy": watch.accuracy, "loss": watch.loss, "passes": watch.passes},),
    )
