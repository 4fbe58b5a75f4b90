"""Learning curves: the accuracy of a linear probe trained on fewer rows.

Sizes are those of the online code, each about twice the one before, up to a half. Several subsamples of every size are
drawn from the training rows:

- Stratified: each has the classes' shares, as far as possible.
- By cluster: rows that share a target form, or a sentence, are drawn together. A curve over single rows would rise too
  early, as all forms would be there from the start.
- Nested: a subsample is a prefix of an order of the rows, and the next larger one extends it. Different orders are
  independent.

The protocol is that of the probe ``linear``: the penalty is chosen from its grid by accuracy on dev, for each subsample
separately; dev is used in full. The search moves from the penalty of the next smaller size to neighbours in the grid as
long as dev improves. Dimensions are standardised on all training rows, since vectors are available without labels. The
last point is the plain probe.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.errors import TooFewError
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics
from sentprobe.probes.features import Features, Ints, Truths
from sentprobe.probes.online import MIN_ROWS, MIN_ROWS_PER_CLASS, BlockModel, PenaltySearch, block_ends, label_costs
from sentprobe.stats.resample import cluster_numbers

SUBSAMPLES = 4
"""Subsamples of each size but the last."""
SMALLEST = 64
"""The smallest size is at least one in this many rows: smaller ones say nothing about where a curve ends."""
CURVE_TOLERANCE = 3e-5
"""As ``TOLERANCE`` of ``convex``, but coarser; with a third of it, means differ by 0.2 points at most."""


@dataclass(frozen=True, eq=False)
class LearningPoint:
    """The probes that were trained on this many rows."""

    rows: int
    """On average over the subsamples, as target forms are not split."""
    right: Truths
    """Whether each test row is predicted correctly, (subsamples, n)."""
    majority: Truths
    """The same for the majority label of the subsample."""
    l2: tuple[float, ...]
    """The penalty that dev chose, by subsample."""


def subsample_order(labels: Ints, clusters: Sequence[Hashable] | None, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """An order of rows (n,) of which every prefix has about the classes' shares, and where it may be cut.

    Rows of one cluster follow each other and count for the class that most of them have. The second array has the
    number of rows up to the end of each cluster.
    """
    n = len(labels)
    cluster = np.arange(n) if clusters is None else cluster_numbers(clusters, n)
    sizes = np.bincount(cluster)
    table = np.zeros((len(sizes), int(labels.max()) + 1), np.int64)
    np.add.at(table, (cluster, labels), 1)
    kind, shuffled = table.argmax(axis=1), rng.permutation(len(sizes))
    position = np.empty(len(sizes))
    for label in np.unique(kind):
        members = shuffled[kind[shuffled] == label]
        after = np.cumsum(sizes[members])
        # the position of a cluster's middle within its class
        position[members] = (after - sizes[members] / 2) / after[-1]
    order = shuffled[np.argsort(position[shuffled], kind="stable")]
    rank = np.empty(len(sizes), np.int64)
    rank[order] = np.arange(len(sizes))
    return np.argsort(rank[cluster], kind="stable"), np.cumsum(sizes[order])


def _cut(labels: Ints, allowed: Ints, rows: int) -> int:
    """How many rows to take: the cut nearest to the requested number that leaves two classes."""
    both = int(np.flatnonzero(labels != labels[0])[0]) + 1
    cuts = allowed[allowed >= both]
    return int(cuts[np.abs(cuts - rows).argmin()])


def subsets(
    labels: Ints, clusters: Sequence[Hashable] | None, classes: int, *, seed: int, subsamples: int = SUBSAMPLES
) -> list[list[Ints]]:
    """The indices of the rows of each subsample, by size, from the smallest to the last but all rows."""
    sizes = [end for end in block_ends(len(labels), classes)[:-1] if SMALLEST * end >= len(labels)]
    subsamples_by_size: list[list[Ints]] = [[] for _ in sizes]
    for i in range(subsamples):
        order, cuts = subsample_order(labels, clusters, np.random.default_rng([seed, i]))
        for by_size, size in zip(subsamples_by_size, sizes, strict=True):
            by_size.append(order[: _cut(labels[order], cuts, size)])
    return subsamples_by_size


def learning(
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    test: Features,
    test_labels: Ints,
    classes: int,
    *,
    l2: Sequence[float],
    plain: tuple[float, Linear],
    seed: int,
    subsamples: int = SUBSAMPLES,
    clusters: Sequence[Hashable] | None = None,
    statistics: TrainingStatistics | None = None,
    device: str | None = None,
) -> list[LearningPoint]:
    """Points of the curve, from few rows to all (n), whose labels are 0 … classes - 1.

    ``l2`` is the grid, and ``plain`` the penalty and the probe of all rows. A dev or test label of -1 is not in train,
    and always a miss.
    """
    labelled = np.flatnonzero(dev_labels >= 0)
    if len(block_ends(len(train), classes)) < 2 or not len(labelled):
        raise TooFewError(
            f"{len(train)} training rows of {classes} classes, and {len(labelled)} dev rows whose label is in train, "
            "are too few for a learning curve; expected at least "
            f"{2 * max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)} and 1."
        )
    subsamples_by_size = subsets(labels, clusters, classes, seed=seed, subsamples=subsamples)
    right: list[list[Truths]] = [[] for _ in subsamples_by_size]
    chosen: list[list[float]] = [[] for _ in subsamples_by_size]
    with single_threaded():  # with more, sums depend on how many
        statistics = TrainingStatistics.of(train, labels, classes, device) if statistics is None else statistics
        grid = tuple(sorted(l2, reverse=True))
        search = PenaltySearch(
            statistics, dev.select(labelled), dev_labels[labelled], classes, grid, device, "accuracy", CURVE_TOLERANCE
        )
        penalty_indices: list[int] = []
        for i in range(subsamples):
            order = subsamples_by_size[-1][i]  # the smaller ones are its prefixes
            fits = 4 * len(order) * train.shape[1] <= MAX_CACHED_BYTES
            rows = Features.of(train.take(order)) if fits else train.select(order)
            sizes = [len(size[i]) for size in subsamples_by_size]
            penalty_indices, models = _fit_prefixes(search, rows, labels[order], sizes, penalty_indices)
            for s, index in enumerate(penalty_indices):
                chosen[s].append(grid[index])
            for correct_by_size, hits in zip(right, label_costs(models, test, test_labels)[1], strict=True):
                correct_by_size.append(hits)
    points = [
        LearningPoint(
            round(sum(map(len, size)) / subsamples),
            np.array(right[s]),
            np.array([majority(labels[rows], test_labels) for rows in size]),
            tuple(chosen[s]),
        )
        for s, size in enumerate(subsamples_by_size)
    ]
    last = (plain[1].scores(test).argmax(axis=1) == test_labels)[None]
    return [*points, LearningPoint(len(train), last, majority(labels, test_labels)[None], (plain[0],))]


def _fit_prefixes(
    search: PenaltySearch, rows: Features, labels: Ints, sizes: Sequence[int], start_indices: Sequence[int]
) -> tuple[list[int], list[BlockModel]]:
    """The indices of the penalties that dev chooses for the first rows, by size, and the classifiers.

    ``start_indices`` are where the searches start, one per size; without them, each starts where the one before ended.
    """
    indices: list[int] = []
    models: list[BlockModel] = []
    for s, size in enumerate(sizes):
        start = start_indices[s] if start_indices else indices[-1] if indices else search.start(size)
        last = models[-1].model if models else None
        index, model = search.choose(rows.select(slice(size)), labels[:size], start, last)
        indices.append(index)
        models.append(model)
    return indices, models


def majority(labels: Ints, test_labels: Ints) -> Truths:
    """Which test rows (m,) have the most frequent of some labels (n,), the first of several."""
    has_majority: Truths = np.bincount(labels).argmax() == test_labels
    return has_majority
