"""Probes trained again without parts of the training rows, so that a score has an interval about its encoder.

``sonde.stats.training`` says how that interval comes about. Which rows are left out depends on the set alone, so that
all encoders are trained without the same ones: whole target forms, or sentences, where rows share them, and about as
many of each class. The same goes for the dev rows that are drawn again to choose among the grid. What is kept is which
test rows each of these probes has right, a bit a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sonde.errors import UsageError
from sonde.probes import Features, Model, Probe
from sonde.probes.choice import choice
from sonde.probes.convex import Linear, logits
from sonde.result import Result
from sonde.run.folder import OTHER, Run
from sonde.run.parts import Part, together
from sonde.stats.intervals import share_interval
from sonde.stats.means import Rows
from sonde.stats.training import GROUPS, Systems

RESAMPLED, CHOSEN = f"{OTHER}resampled", f"{OTHER}chosen"
"""What the bits are called among the predictions: of probes trained again, and of those that other dev rows choose."""
DRAWS = 20
"""Of dev rows."""
LINEAR, NETWORK = 20, 10
"""Probes that are trained again by default. Twenty linear ones take half as long as the grid they come after; of
networks, each takes as long as one point of the grid."""
MOST = 10**8
"""Training rows times dimensions times classes up to which that is done by default."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Again(NamedTuple):
    """Which test rows other probes have right."""

    trained: Bools
    """(K, n): those that were trained without parts of the training rows."""
    chosen: Bools
    """(DRAWS, n): those that other draws of dev rows choose."""


def how_many(asked: int | None, probe: Probe, rows: int, dimensions: int, classes: int) -> int:
    """How many probes to train again: as many as were asked for, or the default."""
    if asked is not None:
        return asked
    outputs = 1 if classes == 2 else classes
    if rows * dimensions * outputs > MOST:
        return 0
    return LINEAR if probe.kind == "convex" else NETWORK


def checked(asked: int | None) -> int | None:
    """A number of probes that makes whole rounds."""
    if asked is not None and (asked < 0 or asked % GROUPS):
        raise UsageError(
            f"--resample {asked}: expected 0, {GROUPS}, {2 * GROUPS}, …: the probe is trained without each of {GROUPS} "
            "groups of training rows, in one round or several."
        )
    return asked


def deal(train: Part, rounds: int) -> Ints | None:
    """Groups (rounds, n) of the training rows; None if there are too few for every class to be in two groups."""
    shared = together(train.keys, train.texts)
    unit = np.arange(len(train)) if shared is None else np.unique(np.array(shared, np.str_), return_inverse=True)[1]
    units = int(unit.max()) + 1
    if units < 2 * GROUPS:
        return None
    # rows of a unit stay together; units of one class, by their first row, are dealt in turn
    label = train.labels[np.unique(unit, return_index=True)[1]]
    found = np.empty((rounds, len(train)), np.int64)
    for i in range(rounds):
        order = np.random.default_rng([i, units]).permutation(units)
        order = order[np.argsort(label[order], kind="stable")]
        group = np.empty(units, np.int64)
        group[order] = np.arange(units) % GROUPS
        found[i] = group[unit]
    met = np.unique(train.labels)
    spread = all(len(np.unique(dealt[train.labels == each])) > 1 for dealt in found for each in met)
    return found if spread else None


def right_again(models: Sequence[Model], test: Features, labels: Ints) -> Bools:
    """Which test rows each probe has right, (probes, n)."""
    found = np.empty((len(models), len(labels)), np.bool_)
    linear = [model for model in models if isinstance(model, Linear)]
    if len(linear) == len(models):  # which share a reading of the rows
        for part, scores in logits(linear, test):
            found[:, part] = scores.argmax(axis=1) == labels[part]
    else:
        for i, model in enumerate(models):
            found[i] = model.scores(test).argmax(axis=1) == labels
    return found


def choices(probe: Probe, rivals: Sequence[Model], dev: Features, part: Part) -> list[int]:
    """Which of the rivals is chosen each time that dev rows, or what they share, are drawn with replacement."""
    right = np.empty((len(rivals), len(part)), np.float64)
    losses = np.empty_like(right)
    known = part.labels >= 0
    for i, model in enumerate(rivals):
        logs = model.scores(dev)
        right[i] = logs.argmax(axis=1) == part.labels
        losses[i] = np.where(known, -logs[np.arange(len(part)), part.labels], 0.0)
    shared = together(part.keys, part.texts)
    unit = np.arange(len(part)) if shared is None else np.unique(np.array(shared, np.str_), return_inverse=True)[1]
    units = int(unit.max()) + 1
    found = []
    for i in range(DRAWS):
        times = np.random.default_rng([i, units]).multinomial(units, np.full(units, 1 / units))[unit]
        of_known = max(1.0, float((times * known).sum()))
        found.append(choice(probe, (right @ times / times.sum()).tolist(), (losses @ times / of_known).tolist()))
    return found


def about_encoder(
    right: Bools, again: Again, clusters: Sequence[str] | None, wide: bool
) -> tuple[tuple[float, float], float] | None:
    """The 95 % interval of the encoder's accuracy, and the standard deviation that training and dev rows give it.

    From the test rows (n) that the probe has right, and those of other probes; ``wide`` if there are more dimensions
    than training rows. None where all rows share one cluster.
    """
    if clusters is not None and len(set(clusters)) < 2:
        return None
    rows = Rows.of(len(right), clusters)
    one, trained, chosen = (each[None].astype(np.float64) for each in (right, again.trained, again.chosen))
    system = Systems(rows, one, trained, chosen, wide=(wide,))
    variance = system.training_variance(0)
    assert variance is not None
    return share_interval(system.score(0), rows), variance**0.5


def packed(again: Again) -> dict[str, npt.NDArray[np.uint8]]:
    """As it is kept beside the predictions."""
    return {RESAMPLED: np.packbits(again.trained, axis=1), CHOSEN: np.packbits(again.chosen, axis=1)}


def resampled(run: Run, result: Result) -> Again | None:
    """Which test rows other probes like this one have right; None if there are none."""
    if not result.resamples:
        return None
    found, n = run.predictions(result, RESAMPLED, CHOSEN), result.n["te"]
    trained, chosen = (np.unpackbits(found[name], axis=1, count=n).astype(np.bool_) for name in (RESAMPLED, CHOSEN))
    return Again(trained, chosen)
