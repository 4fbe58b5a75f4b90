"""Probes retrained without some of the training rows, so that a score has an interval about its encoder.

``sentprobe.stats.training`` explains that interval. Which rows are left out depends on the set alone, so it is the same
for all encoders: whole target forms, or sentences, where rows share them, balanced over classes. The same holds for the
dev rows that are resampled to choose from the grid. For each of these probes, one bit per test row is saved: whether it
is right.

In folds, groups are of all rows of the set, the same in every fold: probe i of every fold is trained without group i,
so that probes i of all folds are what cross-validation without these rows would give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sentprobe.core.hashing import hash_64
from sentprobe.data.folds import in_order_of_set
from sentprobe.data.splits import Split, Splits, cluster_ids
from sentprobe.probes import Features, Fit, Model, Probe, parse
from sentprobe.probes.baselines import CONSTANT_BASELINES
from sentprobe.probes.convex import Linear, logits
from sentprobe.probes.fitting import leave_groups_out
from sentprobe.probes.kind import kind_of
from sentprobe.results.result import Result
from sentprobe.results.verify import CHOSEN_ARRAY, RESAMPLED
from sentprobe.run.job import FitJob, features_of
from sentprobe.stats.intervals import proportion_interval
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.training import BASELINE_GROUPS, Retrained, Systems, mutual_share

if TYPE_CHECKING:
    from sentprobe.probes.baselines.predict import Baselines

DEV_DRAWS = 20
"""Bootstrap samples of dev rows."""
MAX_DEFAULT_COST = 5 * 10**10
"""Training rows × dimensions × classes² above which no probes are retrained by default: with many classes there are
more parameters, and fits converge more slowly."""
BASELINE_RESAMPLES = 20
"""Baselines trained again by default, as often as linear probes."""
MAX_BASELINE_COST = 10**8
"""Training rows × classes² above which no baseline is trained again by default."""

Ints = npt.NDArray[np.int64]
Groups = Ints | str | None
"""The group of each row in every round, (rounds, n); or why there are none; None if none were requested."""


def resample_count(requested: int | None, probe: Probe, rows: int, dimensions: int, classes: int) -> int:
    """How many probes to retrain: as requested, or the default."""
    if requested is not None:
        return requested
    outputs = 1 if classes == 2 else classes
    if rows * dimensions * outputs**2 > MAX_DEFAULT_COST:
        return 0
    return kind_of(probe).resamples


def resample_rounds(count: int, groups: int, folds: int | None) -> int:
    """How often rows are divided into groups; in folds less often, so that twice as many probes are trained in all."""
    rounds = count // groups
    return rounds if folds is None or not rounds else max(1, round(2 * rounds / folds))


def baseline_resample_count(requested: int | None, name: str, rows: int, classes: int) -> int:
    """How often to train a baseline again: as requested, or the default; a constant one does not vary."""
    outputs = 1 if classes == 2 else classes
    if name in CONSTANT_BASELINES or (requested is None and rows * outputs**2 > MAX_BASELINE_COST):
        return 0
    return BASELINE_RESAMPLES if requested is None else requested // BASELINE_GROUPS * BASELINE_GROUPS


def has_enough_resamples(result: Result, requested: int | None) -> bool:
    """Whether a finished cell has as many retrained probes as requested, or cannot have any."""
    if result.not_resampled is not None:
        return True
    rows, classes = result.n["tr"], len(result.labels)
    if result.cell.probe is None:
        count = baseline_resample_count(requested, result.cell.encoder, rows, classes)
        return result.resamples >= BASELINE_GROUPS * resample_rounds(count, BASELINE_GROUPS, result.cell.folds)
    _, probe = parse(result.cell.probe)
    needed, groups = resample_count(requested, probe, rows, result.dimension or 0, classes), kind_of(probe).groups
    return result.resamples >= groups * resample_rounds(needed, groups, result.cell.folds)


def cluster_numbers(split: Split) -> Ints:
    """The number (n,) of each row's target form or sentence, or of the row itself: the same in whatever order rows are.

    Rows with the same content are told apart by their order, which changes nothing.
    """
    clusters, has_keys = cluster_ids(split.keys, split.texts), any(key is not None for key in split.keys)
    repeats, names = Counter[str](), []
    for i, content in enumerate(zip(split.texts, split.labels.tolist(), *split.inputs.values(), strict=True)):
        if clusters is not None and not (has_keys and split.keys[i] is None):
            names.append(clusters[i])
            continue
        row = "\x1f".join(map(str, content))
        repeats[row] += 1
        names.append(f"\x1f{row}\x1f{repeats[row]}")
    number = {name: i for i, name in enumerate(sorted(set(names), key=lambda name: (hash_64(name), name)))}
    return np.fromiter(map(number.__getitem__, names), np.int64, len(names))


def assign_groups(train: Split, rounds: int, groups: int) -> Ints | str:
    """Groups (rounds, n) of the training rows, 0 … groups - 1, or why there are none."""
    cluster = cluster_numbers(train)
    n_clusters = int(cluster.max()) + 1
    if n_clusters < 2 * groups:
        return f"the training rows have {n_clusters} target forms or sentences; {2 * groups} are needed"
    # rows of a cluster stay together; clusters of one class, the first that they have rows of, are assigned in turn
    label = np.full(n_clusters, np.iinfo(np.int64).max)
    np.minimum.at(label, cluster, train.labels)
    assigned = np.empty((rounds, len(train)), np.int64)
    for i in range(rounds):
        order = np.random.default_rng([i, n_clusters]).permutation(n_clusters)
        order = order[np.argsort(label[order], kind="stable")]
        group = np.empty(n_clusters, np.int64)
        group[order] = np.arange(n_clusters) % groups
        assigned[i] = group[cluster]
    return _checked(assigned, train.labels)


def _checked(assigned: Ints, labels: Ints) -> Ints | str:
    """Groups (rounds, n), or why there are none: every class (n,) must have rows in two of them."""
    classes = np.unique(labels)
    if any(len(np.unique(row_groups[labels == c])) < 2 for row_groups in assigned for c in classes):
        return "all training rows of a class may be left out at once"
    return assigned


def groups_to_leave_out(job: FitJob) -> Groups:
    """The groups of the training rows of a set, or of all its rows if it is in folds."""
    splits, probe = job.splits, job.probe
    if not splits.folds and splits.test is splits.train:
        return None
    rows, dimension = splits.sizes["tr"], features_of(job, splits.test).shape[1]
    count = resample_count(job.resample, probe, rows, dimension, len(splits.labels))
    if not count:
        return None
    if (reason := _too_few_test_rows(splits)) is not None:
        return reason
    groups = kind_of(probe).groups
    return assign_groups(splits.train, resample_rounds(count, groups, splits.fold_count), groups)


def groups_of_fold(assigned: Groups, splits: Splits) -> Groups:
    """The groups of the training rows of a fold, from those of all rows; as they are if this is not a fold."""
    if assigned is None or isinstance(assigned, str) or splits.pool_rows is None:
        return assigned
    of_fold = assigned[:, splits.pool_rows]
    groups = int(assigned.max()) + 1
    if any(len(np.unique(row_groups)) < groups for row_groups in of_fold):
        return "a fold trains on no row of a group that is left out: there are too few target forms or sentences"
    return _checked(of_fold, splits.train.labels)


def retrain(
    probe: Probe, fitted: Fit, assigned: Groups, splits: Splits, features: Sequence[Features], device: str | None
) -> Retrained | str | None:
    """The test rows that retrained probes have right. ``assigned``: groups of the training rows, or of all rows of a
    set in folds; ``features``: train, dev and test."""
    train, dev, test = features
    assigned = groups_of_fold(assigned, splits)
    if assigned is None or isinstance(assigned, str):
        return assigned
    models = leave_groups_out(
        probe,
        fitted,
        train,
        splits.train.labels,
        dev,
        splits.dev.labels,
        len(splits.labels),
        assigned,
        device=device,
    )
    candidates = _right(fitted.candidates, test, splits.test.labels)
    return Retrained(
        _right(list(models), test, splits.test.labels),
        kind_of(probe).groups,
        candidates[bootstrap_choices(probe, fitted.candidates, dev, splits.dev)],
        wide=train.shape[1] > len(train),
        train_rows=len(train),
    )


def join_retrained(splits: Splits, parts: Sequence[Retrained | str | None]) -> Retrained | str | None:
    """The test rows of all folds, in the order of the set, or why there are none."""
    reasons = [part for part in parts if not isinstance(part, Retrained)]
    if reasons:
        return reasons[0]
    retrained = [part for part in parts if isinstance(part, Retrained)]
    first = retrained[0]
    trained, chosen = (
        in_order_of_set(splits, [column.T for column in columns]).T
        for columns in ([part.trained for part in retrained], [part.chosen for part in retrained])
    )
    mutual = mutual_share(splits.test.labels)
    return Retrained(trained, first.groups, chosen, any(part.wide for part in retrained), splits.fold_of, mutual)


def _right(models: Sequence[Model], test: Features, labels: Ints) -> npt.NDArray[np.float64]:
    """Which test rows each probe has right, (probes, n)."""
    right = np.empty((len(models), len(labels)))
    linear = [model for model in models if isinstance(model, Linear)]
    if len(linear) == len(models):  # scored in one pass over the rows
        for rows, scores in logits(linear, test):
            right[:, rows] = scores.argmax(axis=1) == labels[rows]
    else:
        for i, model in enumerate(models):
            right[i] = model.scores(test).argmax(axis=1) == labels
    return right


def bootstrap_choices(probe: Probe, candidates: Sequence[Model], dev: Features, split: Split) -> list[int]:
    """Which candidate is chosen on each bootstrap sample of the dev rows, or of their clusters."""
    correct = np.empty((len(candidates), len(split)))
    losses = np.empty_like(correct)
    in_train = split.labels >= 0
    for i, model in enumerate(candidates):
        logs = model.scores(dev)
        correct[i] = logs.argmax(axis=1) == split.labels
        losses[i] = np.where(in_train, -logs[np.arange(len(split)), split.labels], 0.0)
    choices = []
    for times in dev_draws(split):
        times_in_train = max(1.0, float((times * in_train).sum()))
        accuracies, mean_losses = correct @ times / times.sum(), losses @ times / times_in_train
        choices.append(kind_of(probe).select_best(probe, accuracies.tolist(), mean_losses.tolist()))
    return choices


def dev_draws(split: Split) -> Ints:
    """How often each dev row is drawn (draws, n) in bootstrap samples of the rows, or of their clusters."""
    if not len(split):
        return np.zeros((DEV_DRAWS, 0), np.int64)
    cluster = cluster_numbers(split)
    n_clusters = int(cluster.max()) + 1
    shares = np.full(n_clusters, 1 / n_clusters)
    return np.array(
        [np.random.default_rng([i, n_clusters]).multinomial(n_clusters, shares)[cluster] for i in range(DEV_DRAWS)]
    )


def retrain_baseline(name: str, baselines: Baselines, requested: int | None) -> Retrained | str | None:
    """The test rows that a baseline has right without each group of its training rows, or why there are none.

    None if none were requested, or if it is constant. In folds, the groups are of all rows, as those of probes are.
    """
    splits = baselines.splits
    count = baseline_resample_count(requested, name, splits.sizes["tr"], len(splits.labels))
    if not count:
        return None
    if (reason := _too_few_test_rows(splits)) is not None:
        return reason
    rounds = resample_rounds(count, BASELINE_GROUPS, splits.fold_count)
    assigned = assign_groups(splits.train, rounds, BASELINE_GROUPS)
    if not splits.folds:
        return _retrained_baseline(name, baselines, assigned)
    folds = [replace(baselines, splits=fold) for fold in splits.folds]
    return join_retrained(splits, [_retrained_baseline(name, fold, assigned) for fold in folds])


def _retrained_baseline(name: str, baselines: Baselines, assigned: Groups) -> Retrained | str | None:
    assigned = groups_of_fold(assigned, baselines.splits)
    if assigned is None or isinstance(assigned, str):
        return assigned
    return baselines.retrain(name, assigned, dev_draws(baselines.splits.dev))


def _too_few_test_rows(splits: Splits) -> str | None:
    clusters = cluster_ids(splits.test.keys, splits.test.texts)
    if len(set(clusters or range(len(splits.test)))) < 2:
        return "there is only one test row, or all test rows share one target form or sentence"
    return None


def about_encoder(
    correct: npt.NDArray[np.bool_], retrained: Retrained, clusters: Sequence[str] | None
) -> tuple[tuple[float, float], float]:
    """The interval of the encoder's accuracy, and its standard deviation over samples of train and dev rows.

    Computed from the test rows (n) that the probe has right, and those that retrained probes have right.
    """
    rows = ScoredRows.of(len(correct), clusters)
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
