"""Probes retrained without some of the training rows, so that a score has an interval about its encoder.

``sentprobe.stats.training`` explains that interval. Which rows are left out depends on the set alone, so it is the same
for all encoders: whole target forms, or sentences, where rows share them, balanced over classes. The same holds for the
dev rows that are resampled to choose from the grid. For each of these probes, one bit per test row is saved: whether it
is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sentprobe.core.hashing import hash_64
from sentprobe.data.splits import Split, Splits, cluster_ids
from sentprobe.probes import Features, Fit, Model, Probe, parse
from sentprobe.probes.convex import Linear, logits
from sentprobe.probes.fitting import leave_groups_out
from sentprobe.probes.kind import kind_of
from sentprobe.results.result import Result
from sentprobe.results.verify import CHOSEN_ARRAY, RESAMPLED
from sentprobe.stats.intervals import proportion_interval
from sentprobe.stats.means import Rows
from sentprobe.stats.training import Retrained, Systems

DEV_DRAWS = 20
"""Bootstrap samples of dev rows."""
MAX_DEFAULT_COST = 5 * 10**10
"""Training rows × dimensions × classes² above which no probes are retrained by default: with many classes there are
more parameters, and fits converge more slowly."""

Ints = npt.NDArray[np.int64]


def resample_count(requested: int | None, probe: Probe, rows: int, dimensions: int, classes: int) -> int:
    """How many probes to retrain: as requested, or the default."""
    if requested is not None:
        return requested
    outputs = 1 if classes == 2 else classes
    if rows * dimensions * outputs**2 > MAX_DEFAULT_COST:
        return 0
    return kind_of(probe).resamples


def has_enough_resamples(found: Result, requested: int | None) -> bool:
    """Whether a finished cell has as many retrained probes as requested, or cannot have any."""
    if found.not_resampled is not None or found.cell.probe is None:
        return True
    _, probe = parse(found.cell.probe)
    needed = resample_count(requested, probe, found.n["tr"], found.dimension or 0, len(found.labels))
    return found.resamples >= needed


def number_units(part: Split) -> Ints:
    """The number (n,) of each row's target form or sentence, or of the row itself: the same in whatever order rows are.

    Rows with the same content are told apart by their order, which changes nothing.
    """
    shared, keyed = cluster_ids(part.keys, part.texts), any(key is not None for key in part.keys)
    seen, names = Counter[str](), []
    for i, content in enumerate(zip(part.texts, part.labels.tolist(), *part.inputs.values(), strict=True)):
        if shared is not None and not (keyed and part.keys[i] is None):
            names.append(shared[i])
            continue
        row = "\x1f".join(map(str, content))
        seen[row] += 1
        names.append(f"\x1f{row}\x1f{seen[row]}")
    number = {name: i for i, name in enumerate(sorted(set(names), key=lambda name: (hash_64(name), name)))}
    return np.fromiter(map(number.__getitem__, names), np.int64, len(names))


def assign_groups(train: Split, rounds: int, groups: int) -> Ints | str:
    """Groups (rounds, n) of the training rows, 0 … groups - 1, or why there are none."""
    unit = number_units(train)
    units = int(unit.max()) + 1
    if units < 2 * groups:
        return f"the training rows have {units} target forms or sentences; {2 * groups} are needed"
    # rows of a unit stay together; units of one class, the first that they have rows of, are assigned in turn
    label = np.full(units, np.iinfo(np.int64).max)
    np.minimum.at(label, unit, train.labels)
    found = np.empty((rounds, len(train)), np.int64)
    for i in range(rounds):
        order = np.random.default_rng([i, units]).permutation(units)
        order = order[np.argsort(label[order], kind="stable")]
        group = np.empty(units, np.int64)
        group[order] = np.arange(units) % groups
        found[i] = group[unit]
    classes = np.unique(train.labels)
    if any(len(np.unique(assigned[train.labels == each])) < 2 for assigned in found for each in classes):
        return "all training rows of a class may be left out at once"
    return found


def retrain(
    probe: Probe, one: Fit, count: int, splits: Splits, features: Sequence[Features], device: str | None
) -> Retrained | str:
    """The test rows that retrained probes have right, or why there are none. ``features``: train, dev and test."""
    train, dev, test = features
    shared = cluster_ids(splits.test.keys, splits.test.texts)
    if len(set(shared or range(len(splits.test)))) < 2:
        return "there is only one test row, or all test rows share one target form or sentence"
    groups = kind_of(probe).groups
    assigned = assign_groups(splits.train, count // groups, groups)
    if isinstance(assigned, str):
        return assigned
    models = leave_groups_out(
        probe,
        one,
        train,
        splits.train.labels,
        dev,
        splits.dev.labels,
        len(splits.labels),
        assigned,
        device=device,
    )
    candidates = _right(one.candidates, test, splits.test.labels)
    return Retrained(
        _right(list(models), test, splits.test.labels),
        groups,
        candidates[bootstrap_choices(probe, one.candidates, dev, splits.dev)],
        wide=train.shape[1] > len(train),
    )


def _right(models: Sequence[Model], test: Features, labels: Ints) -> npt.NDArray[np.float64]:
    """Which test rows each probe has right, (probes, n)."""
    found = np.empty((len(models), len(labels)))
    linear = [model for model in models if isinstance(model, Linear)]
    if len(linear) == len(models):  # scored in one pass over the rows
        for part, scores in logits(linear, test):
            found[:, part] = scores.argmax(axis=1) == labels[part]
    else:
        for i, model in enumerate(models):
            found[i] = model.scores(test).argmax(axis=1) == labels
    return found


def bootstrap_choices(probe: Probe, candidates: Sequence[Model], dev: Features, part: Split) -> list[int]:
    """Which candidate is chosen on each bootstrap sample of the dev rows, or of their clusters."""
    correct = np.empty((len(candidates), len(part)))
    losses = np.empty_like(correct)
    known = part.labels >= 0
    for i, model in enumerate(candidates):
        logs = model.scores(dev)
        correct[i] = logs.argmax(axis=1) == part.labels
        losses[i] = np.where(known, -logs[np.arange(len(part)), part.labels], 0.0)
    unit = number_units(part)
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
    """The interval of the encoder's accuracy, and its standard deviation over samples of train and dev rows.

    Computed from the test rows (n) that the probe has right, and those that retrained probes have right.
    """
    rows = Rows.of(len(correct), clusters)
    system = Systems(rows, correct[None].astype(np.float64), [retrained])
    variance = system.training_variance(0)
    assert variance is not None
    return proportion_interval(system.score(0), rows), variance**0.5


def pack_resamples(retrained: Retrained) -> dict[str, npt.NDArray[np.uint8]]:
    """The arrays that are saved with the predictions."""
    return {
        name: np.packbits(bits > 0, axis=1)
        for name, bits in ((RESAMPLED, retrained.trained), (CHOSEN_ARRAY, retrained.chosen))
    }
