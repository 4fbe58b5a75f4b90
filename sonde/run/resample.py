"""Probes trained again without parts of the training rows, so that a score has an interval about its encoder.

``sonde.stats.training`` says how that interval comes about. Which rows are left out depends on the set alone, so that
all encoders are trained without the same ones: whole target forms, or sentences, where rows share them, and about as
many of each class. The same goes for the dev rows that are drawn again to choose among the grid. What is kept is which
test rows each of these probes has right, a bit a row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sonde.errors import UsageError
from sonde.probes import Features, Fit, Model, Probe, parse
from sonde.probes.convex import Linear, logits
from sonde.probes.fit import leave_groups_out
from sonde.probes.kind import kind_of
from sonde.result import Result
from sonde.run.folder import AUXILIARY_PREFIX, Run
from sonde.run.parts import Part, Parts, cluster_ids
from sonde.stats.intervals import proportion_interval
from sonde.stats.means import Rows
from sonde.stats.resample import cluster_numbers
from sonde.stats.training import Retrained, Systems

RESAMPLED, CHOSEN_ARRAY = f"{AUXILIARY_PREFIX}resampled", f"{AUXILIARY_PREFIX}chosen"
"""What the bits are called among the predictions: of probes trained again, and of those that other dev rows choose."""
DEV_DRAWS = 20
"""Of dev rows."""
RESAMPLE_MULTIPLE = 10
"""What numbers of probes are multiples of, so that they make whole rounds of any kind of probe."""
MAX_DEFAULT_COST = 10**9
"""Training rows times dimensions times the square of the classes up to which that is done by default: with many
classes there are more numbers to find, and the search for them is longer."""

Ints = npt.NDArray[np.int64]


def checked_resamples(requested: int | None) -> int | None:
    """A number of probes that makes whole rounds."""
    if requested is not None and (requested < 0 or requested % RESAMPLE_MULTIPLE):
        raise UsageError(
            f"--resample {requested}: expected 0, {RESAMPLE_MULTIPLE}, {2 * RESAMPLE_MULTIPLE}, …: a probe is "
            f"trained without each group of training "
            "rows, in one round or several."
        )
    return requested


def resample_count(requested: int | None, probe: Probe, rows: int, dimensions: int, classes: int) -> int:
    """How many probes to train again: as many as were asked for, or the default."""
    if requested is not None:
        return requested
    outputs = 1 if classes == 2 else classes
    if rows * dimensions * outputs**2 > MAX_DEFAULT_COST:
        return 0
    return kind_of(probe).resamples


def has_enough_resamples(found: Result, requested: int | None) -> bool:
    """Whether a finished probe was trained again as often as was asked for, or cannot be."""
    if found.not_resampled is not None or found.cell.probe is None:
        return True
    _, probe = parse(found.cell.probe)
    wanted = resample_count(requested, probe, found.n["tr"], found.dimension or 0, len(found.labels))
    return found.resamples >= wanted


def assign_groups(train: Part, rounds: int, groups: int) -> Ints | str:
    """Groups (rounds, n) of the training rows, 0 … groups - 1; or why there are none."""
    shared = cluster_ids(train.keys, train.texts)
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


def retrain(
    probe: Probe, one: Fit, many: int, parts: Parts, features: Sequence[Features], device: str | None
) -> Retrained | str:
    """The test rows that other probes have right; or why there are none. ``features`` are of train, dev and test."""
    train, dev, test = features
    shared = cluster_ids(parts.test.keys, parts.test.texts)
    if len(set(shared or range(len(parts.test)))) < 2:
        return "there is one test row only, or one target form or sentence that all test rows share"
    groups = kind_of(probe).groups
    dealt = assign_groups(parts.train, many // groups, groups)
    if isinstance(dealt, str):
        return dealt
    models = leave_groups_out(
        probe, one, train, parts.train.labels, dev, parts.dev.labels, len(parts.labels), dealt, device=device,
    )  # fmt: skip
    candidates = _right(one.candidates, test, parts.test.labels)
    return Retrained(
        _right(list(models), test, parts.test.labels),
        groups,
        candidates[bootstrap_choices(probe, one.candidates, dev, parts.dev)],
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


def bootstrap_choices(probe: Probe, candidates: Sequence[Model], dev: Features, part: Part) -> list[int]:
    """Which of the rivals is chosen each time that dev rows, or what they share, are drawn with replacement."""
    correct = np.empty((len(candidates), len(part)))
    losses = np.empty_like(correct)
    known = part.labels >= 0
    for i, model in enumerate(candidates):
        logs = model.scores(dev)
        correct[i] = logs.argmax(axis=1) == part.labels
        losses[i] = np.where(known, -logs[np.arange(len(part)), part.labels], 0.0)
    shared = cluster_ids(part.keys, part.texts)
    unit = np.arange(len(part)) if shared is None else cluster_numbers(shared, len(part))
    units = int(unit.max()) + 1
    found = []
    for i in range(DEV_DRAWS):
        times = np.random.default_rng([i, units]).multinomial(units, np.full(units, 1 / units))[unit]
        of_known = max(1.0, float((times * known).sum()))
        accuracies, mean_losses = correct @ times / times.sum(), losses @ times / of_known
        found.append(kind_of(probe).select_best(probe, accuracies.tolist(), mean_losses.tolist()))
    return found


def about_encoder(
    correct: npt.NDArray[np.bool_], retrained: Retrained, clusters: Sequence[str] | None
) -> tuple[tuple[float, float], float]:
    """The 95 % interval of the encoder's accuracy, and the standard deviation that training and dev rows give it.

    From the test rows (n) that the probe has right, and those of other probes.
    """
    rows = Rows.of(len(correct), clusters)
    system = Systems(rows, correct[None].astype(np.float64), [retrained])
    variance = system.training_variance(0)
    assert variance is not None
    return proportion_interval(system.score(0), rows), variance**0.5


def pack_resamples(retrained: Retrained) -> dict[str, npt.NDArray[np.uint8]]:
    """As it is kept beside the predictions."""
    return {
        name: np.packbits(bits > 0, axis=1)
        for name, bits in ((RESAMPLED, retrained.trained), (CHOSEN_ARRAY, retrained.chosen))
    }


def read_resamples(run: Run, result: Result) -> Retrained | None:
    """Which test rows other probes like this one have right; None if there are none."""
    if not result.resamples or result.cell.probe is None:
        return None
    found, n = run.predictions(result, RESAMPLED, CHOSEN_ARRAY), result.n["te"]
    trained, chosen = (
        np.unpackbits(found[name], axis=1, count=n).astype(np.float64) for name in (RESAMPLED, CHOSEN_ARRAY)
    )
    wide = (result.dimension or 0) > result.n["tr"]
    return Retrained(trained, kind_of(parse(result.cell.probe)[1]).groups, chosen, wide)
