"""Probes trained again without parts of the training rows, so that a score has an interval about its encoder.

``sonde.stats.training`` says how that interval comes about. Which rows are left out depends on the set alone, so that
all encoders are trained without the same ones: whole target forms, or sentences, where rows share them, and about as
many of each class. The same goes for the dev rows that are drawn again to choose among the grid. What is kept is which
test rows each of these probes has right, a bit a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import numpy as np
import numpy.typing as npt

from sonde.errors import UsageError
from sonde.probes import Features, Fit, Model, Probe, parse
from sonde.probes.choice import choice
from sonde.probes.convex import Linear, logits
from sonde.probes.left_out import left_out
from sonde.result import Result
from sonde.run.folder import OTHER, Run
from sonde.run.parts import Part, Parts, together
from sonde.stats import training
from sonde.stats.intervals import share_interval
from sonde.stats.means import Rows
from sonde.stats.resample import cluster_numbers
from sonde.stats.training import Again, Systems

RESAMPLED, CHOSEN = f"{OTHER}resampled", f"{OTHER}chosen"
"""What the bits are called among the predictions: of probes trained again, and of those that other dev rows choose."""
DRAWS = 20
"""Of dev rows."""
LINEAR, NETWORK = 20, 10
"""Probes that are trained again by default. Twenty linear ones take half as long as the grid they come after; of
networks, each takes half as long as one point of the grid."""
STEP = 10
"""What numbers of probes are multiples of, so that they make whole rounds of any kind of probe."""
MOST = 10**9
"""Training rows times dimensions times the square of the classes up to which that is done by default: with many
classes there are more numbers to find, and the search for them is longer."""

Ints = npt.NDArray[np.int64]


def checked(asked: int | None) -> int | None:
    """A number of probes that makes whole rounds."""
    if asked is not None and (asked < 0 or asked % STEP):
        raise UsageError(
            f"--resample {asked}: expected 0, {STEP}, {2 * STEP}, …: a probe is trained without each group of training "
            "rows, in one round or several."
        )
    return asked


def how_many(asked: int | None, probe: Probe, rows: int, dimensions: int, classes: int) -> int:
    """How many probes to train again: as many as were asked for, or the default."""
    if asked is not None:
        return asked
    outputs = 1 if classes == 2 else classes
    if rows * dimensions * outputs**2 > MOST:
        return 0
    return LINEAR if probe.kind == "convex" else NETWORK


def enough(found: Result, asked: int | None) -> bool:
    """Whether a finished probe was trained again as often as was asked for, or cannot be."""
    if found.not_resampled is not None or found.cell.probe is None:
        return True
    _, probe = parse(found.cell.probe)
    wanted = how_many(asked, probe, found.n["tr"], found.dimension or 0, len(found.labels))
    return found.resamples >= wanted


def groups_of(probe: Probe) -> int:
    """Into how many groups training rows are dealt."""
    match probe.kind:
        case "convex":
            return training.LINEAR
        case "network":
            return training.NETWORK
        case kind:
            assert_never(kind)


def deal(train: Part, rounds: int, groups: int) -> Ints | str:
    """Groups (rounds, n) of the training rows, 0 … groups - 1; or why there are none."""
    shared = together(train.keys, train.texts)
    unit = np.arange(len(train)) if shared is None else cluster_numbers(shared, len(train))
    units = int(unit.max()) + 1
    if units < 2 * groups:
        return f"the training rows have {units} target forms or sentences, and {2 * groups} are needed"
    # rows of a unit stay together; units of one class, by their first row, are dealt in turn
    label = train.labels[np.unique(unit, return_index=True)[1]]
    found = np.empty((rounds, len(train)), np.int64)
    for i in range(rounds):
        order = np.random.default_rng([i, units]).permutation(units)
        order = order[np.argsort(label[order], kind="stable")]
        group = np.empty(units, np.int64)
        group[order] = np.arange(units) % groups
        found[i] = group[unit]
    met = np.unique(train.labels)
    if any(len(np.unique(dealt[train.labels == each])) < 2 for dealt in found for each in met):
        return "all training rows of a class may be left out at once"
    return found


def train_again(
    probe: Probe, one: Fit, many: int, parts: Parts, features: Sequence[Features], device: str | None
) -> Again | str:
    """The test rows that other probes have right; or why there are none. ``features`` are of train, dev and test."""
    train, dev, test = features
    shared = together(parts.test.keys, parts.test.texts)
    if len(set(shared or range(len(parts.test)))) < 2:
        return "there is one test row only, or one target form or sentence that all test rows share"
    groups = groups_of(probe)
    dealt = deal(parts.train, many // groups, groups)
    if isinstance(dealt, str):
        return dealt
    models = left_out(
        probe, one, train, parts.train.labels, dev, parts.dev.labels, len(parts.labels), dealt, device=device,
    )  # fmt: skip
    rivals = _right(one.rivals, test, parts.test.labels)
    return Again(
        _right(list(models), test, parts.test.labels),
        groups,
        rivals[choices(probe, one.rivals, dev, parts.dev)],
        wide=train.shape[1] > len(train),
    )


def _right(models: Sequence[Model], test: Features, labels: Ints) -> npt.NDArray[np.float64]:
    """Which test rows each probe has right, (probes, n)."""
    found = np.empty((len(models), len(labels)))
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
    right = np.empty((len(rivals), len(part)))
    losses = np.empty_like(right)
    known = part.labels >= 0
    for i, model in enumerate(rivals):
        logs = model.scores(dev)
        right[i] = logs.argmax(axis=1) == part.labels
        losses[i] = np.where(known, -logs[np.arange(len(part)), part.labels], 0.0)
    shared = together(part.keys, part.texts)
    unit = np.arange(len(part)) if shared is None else cluster_numbers(shared, len(part))
    units = int(unit.max()) + 1
    found = []
    for i in range(DRAWS):
        times = np.random.default_rng([i, units]).multinomial(units, np.full(units, 1 / units))[unit]
        of_known = max(1.0, float((times * known).sum()))
        found.append(choice(probe, (right @ times / times.sum()).tolist(), (losses @ times / of_known).tolist()))
    return found


def about_encoder(
    right: npt.NDArray[np.bool_], again: Again, clusters: Sequence[str] | None
) -> tuple[tuple[float, float], float]:
    """The 95 % interval of the encoder's accuracy, and the standard deviation that training and dev rows give it.

    From the test rows (n) that the probe has right, and those of other probes.
    """
    rows = Rows.of(len(right), clusters)
    system = Systems(rows, right[None].astype(np.float64), [again])
    variance = system.training_variance(0)
    assert variance is not None
    return share_interval(system.score(0), rows), variance**0.5


def packed(again: Again) -> dict[str, npt.NDArray[np.uint8]]:
    """As it is kept beside the predictions."""
    return {name: np.packbits(bits > 0, axis=1) for name, bits in ((RESAMPLED, again.trained), (CHOSEN, again.chosen))}


def resampled(run: Run, result: Result) -> Again | None:
    """Which test rows other probes like this one have right; None if there are none."""
    if not result.resamples or result.cell.probe is None:
        return None
    found, n = run.predictions(result, RESAMPLED, CHOSEN), result.n["te"]
    trained, chosen = (np.unpackbits(found[name], axis=1, count=n).astype(np.float64) for name in (RESAMPLED, CHOSEN))
    wide = (result.dimension or 0) > result.n["tr"]
    return Again(trained, groups_of(parse(result.cell.probe)[1]), chosen, wide)
