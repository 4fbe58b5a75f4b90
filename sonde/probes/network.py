"""Classifiers trained batch by batch and stopped on dev, by SentEval's rule; the whole grid at once.

For each seed the weights start as torch's would, and each pass takes the rows in an order that numpy's generator draws,
so that without dropout the result is SentEval's own. All settings of the grid see the same batches, as they do in
SentEval, where each fit starts from the same seed; those that have stopped leave. The best weights on dev are kept, so
SentEval's last fit, which repeats the best one, is not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sonde.core.threads import single_threaded
from sonde.errors import DataError, ShapeError, TooFewError, UsageError
from sonde.probes import steps_numpy
from sonde.probes.features import Features
from sonde.probes.fit import Fit
from sonde.probes.group import Engine, Floats, Group, Ints, Setting, begin
from sonde.probes.mersenne import SEEDS, layers
from sonde.probes.probe import AS_INPUT, Activation, Probe
from sonde.probes.select_best import select_best

Doubles = npt.NDArray[np.float64]

BLOCK_BYTES = 1 << 21
"""About so much of the training rows is gathered at a time."""
CHUNK = 512
"""Rows that are scored at a time."""


class Scale(NamedTuple):
    """What is taken from each dimension, and what it is then multiplied by."""

    mean: Floats
    factor: Floats


@dataclass(frozen=True, eq=False)
class Network:
    """A trained classifier: the weights of its layers, (out, in) and (out) in turn."""

    weights: tuple[Floats, ...]
    activation: Activation
    scale: Scale | None = None

    def scores(self, features: Features) -> Floats:
        """Log-probabilities of the classes, (n, classes)."""
        made = np.empty((len(features), len(self.weights[-1])), np.float32)
        weights = [each[None] for each in self.weights]
        with single_threaded():
            for start, xs in features.chunks(CHUNK):
                logits = steps_numpy.forward(weights, self.activation, _scaled(xs, self.scale))[0]
                made[start : start + len(xs)] = _logs(logits)
        return made


@dataclass
class EarlyStopping:
    """One setting as dev sees it: the best look so far, and the patience that is left."""

    probe: Probe
    accuracy: float = float("nan")
    loss: float = float("nan")
    passes: int = 0
    weights: tuple[Floats, ...] = ()
    evaluations: int = 0
    patience_used: int = 0
    stopped: bool = False

    def update(self, accuracy: float, loss: float) -> bool:
        """Whether this look is better than all before; if not, patience is used up."""
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
) -> list[Fit]:
    """Fit the grid once per seed, and choose on dev."""
    return [
        choose(probe, fit_grid(probe, train, labels, dev, dev_labels, classes, seed=seed, device=device))
        for seed in seeds
    ]


def choose(probe: Probe, fits: Sequence[Fit]) -> Fit:
    """The best fit on dev, the first of several, with all that was tried. Accuracies are rounded as in SentEval."""
    best = select_best(probe, [fit.dev for fit in fits], [fit.tried[0]["loss"] for fit in fits])
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
    """A fit per point of the grid, in the order of the grid, each stopped on dev by itself.

    ``orders`` draws the order of the rows of each pass, in place of a new generator with this seed: SentEval takes the
    same one to split dev off, if there is none. Folds of a set are ``train.select(rows)``.
    """
    _check(train, labels, dev, dev_labels, classes, seed)
    engine = _engine(device)
    labels = np.ascontiguousarray(labels, np.int64)
    # one thread, so that a result does not depend on how many there are; a number that overflows is seen in the loss
    with single_threaded(), np.errstate(over="ignore", invalid="ignore"):
        scale = _scale(train) if probe.standardise else None
        grid = settings(probe, train.shape[1])
        watches = {setting: EarlyStopping(probe) for setting in grid}
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
            found = _look(engine, groups, dev, dev_labels, scale)
            for group, accuracies, losses in zip(groups, *found, strict=True):
                for i, setting in enumerate(group.settings):
                    watch = watches[setting]
                    watch.passes = passes
                    if watch.update(float(accuracies[i]), float(losses[i])):
                        watch.weights = engine.copy(group, i)
            left = [[i for i, s in enumerate(group.settings) if not watches[s].stopped] for group in groups]
            groups = [
                group.keep(members) if len(members) < len(group) else group
                for group, members in zip(groups, left, strict=True)
                if members
            ]
    return [_fit(setting, watches[setting], seed, scale) for setting in grid]


def settings(probe: Probe, dimensions: int) -> list[Setting]:
    """The points of the grid in order; without hidden units there is nothing to drop."""
    found = {
        Setting(dimensions if hidden == AS_INPUT else hidden, dropout, l2): None
        for hidden in probe.hidden
        for dropout in (probe.dropout if hidden else (0.0,))
        for l2 in probe.l2
    }
    return list(found)


def _check(train: Features, labels: Ints, dev: Features, dev_labels: Ints, classes: int, seed: int) -> None:
    for name, features, given, lowest in (("training", train, labels, 0), ("dev", dev, dev_labels, -1)):
        if len(features) != len(given):
            raise ShapeError(f"There are {len(features)} {name} rows and {len(given)} labels; expected as many.")
        if not len(features):
            raise TooFewError(f"There are no {name} rows; a probe needs some to learn from and some to stop on.")
        if not lowest <= np.min(given) <= np.max(given) < classes:
            raise DataError(
                f"The {name} labels are {np.min(given)} … {np.max(given)}; expected {lowest} … {classes - 1}, as there "
                f"are {classes} classes."
            )
    if train.shape[1] != dev.shape[1]:
        raise ShapeError(f"Training rows have {train.shape[1]} dimensions and dev rows {dev.shape[1]}; expected one.")
    if not 0 <= seed < SEEDS:
        raise UsageError(f"A seed must be 0 … {SEEDS - 1}, got {seed}.")


def _engine(device: str | None) -> Engine:
    if device is not None:
        from sonde.probes.steps_torch import find

        return find(device)
    try:
        from sonde.probes import steps_numba
    except ImportError:
        return steps_numpy
    return steps_numba


def _groups(
    engine: Engine, probe: Probe, seed: int, grid: Sequence[Setting], dimensions: int, classes: int
) -> list[Group]:
    made = []
    for hidden in dict.fromkeys(setting.hidden for setting in grid):
        sizes = [dimensions, hidden, classes] if hidden else [dimensions, classes]
        alike = [setting for setting in grid if setting.hidden == hidden]
        made.append(begin(engine, probe, seed, alike, layers(seed, sizes)))
    return made


def _blocks(order: Ints, batch: int, dimensions: int) -> Iterator[Ints]:
    """Some whole batches at a time."""
    size = batch * max(1, BLOCK_BYTES // (4 * dimensions * batch))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _block(train: Features, rows: Ints, scale: Scale | None) -> tuple[Floats, Ints]:
    """An array (any, d) and the places of these rows in it: that of the features itself where it can be read as it is.

    This saves a copy, which takes as long as a step of logistic regression.
    """
    table, places = train.tables[0], train.places[0][rows]
    plain = len(train.tables) == 1 and table.dtype == np.float32 and table.flags.c_contiguous and table.flags.aligned
    if plain and scale is None and places.min() >= 0 and places.max() < len(table):
        return np.asarray(table), places
    return _scaled(train.take(rows), scale), np.arange(len(rows))


def _look(
    engine: Engine, groups: Sequence[Group], dev: Features, labels: Ints, scale: Scale | None
) -> tuple[list[Doubles], list[Doubles]]:
    """Per group, the accuracies and the mean losses of its members; a label that was never met has no loss."""
    right = [np.zeros(len(group)) for group in groups]
    lost = [np.zeros(len(group)) for group in groups]
    met = labels >= 0
    for start, xs in dev.chunks(CHUNK):
        ys, known = labels[start : start + len(xs)], np.flatnonzero(met[start : start + len(xs)])
        scaled = _scaled(xs, scale)
        for i, group in enumerate(groups):
            logits = engine.logits(group, scaled)
            right[i] += (logits.argmax(axis=2) == ys).sum(axis=1)
            lost[i] -= _logs(logits)[:, known, ys[known]].sum(axis=1, dtype=np.float64)
    rows = met.sum()
    return [each / len(labels) for each in right], [each / rows for each in lost]


def _logs(logits: Floats) -> Floats:
    """Log-probabilities of scores (…, classes)."""
    logits = logits - logits.max(axis=-1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return logits


def _scale(train: Features) -> Scale:
    """To mean 0 and deviation 1; a dimension that is the same in all rows, but for rounding, keeps its deviation."""
    mean, variance = np.zeros(train.shape[1]), np.zeros(train.shape[1])
    for _, xs in train.chunks(CHUNK):
        mean += xs.sum(axis=0, dtype=np.float64) / len(train)
    for _, xs in train.chunks(CHUNK):
        variance += np.square(xs - mean).sum(axis=0) / len(train)
    deviation = np.sqrt(variance)
    factor = 1 / np.where(deviation > 1e-6 * np.abs(mean), deviation, 1)
    return Scale(mean.astype(np.float32), factor.astype(np.float32))


def _scaled(xs: Floats, scale: Scale | None) -> Floats:
    """Rows (n, d), in place."""
    if scale is not None:
        xs -= scale.mean
        xs *= scale.factor
    return xs


def _fit(setting: Setting, watch: EarlyStopping, seed: int, scale: Scale | None) -> Fit:
    probe = watch.probe
    found = {"l2": setting.l2, "hidden": setting.hidden, "dropout": setting.dropout}
    return Fit(
        model=Network(watch.weights, probe.activation, scale),
        seed=seed,
        chosen=found if probe.hidden != (0,) else {"l2": setting.l2},
        dev=watch.accuracy,
        tried=({**found, "accuracy": watch.accuracy, "loss": watch.loss, "passes": watch.passes},),
    )
