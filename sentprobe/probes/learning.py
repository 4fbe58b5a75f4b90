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
import numpy.typing as npt

from sentprobe.core.threads import single_threaded
from sentprobe.errors import TooFewError
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics
from sentprobe.probes.features import Features
from sentprobe.probes.online import MIN_ROWS, MIN_ROWS_PER_CLASS, BlockModel, Work, block_ends, judge
from sentprobe.stats.resample import cluster_numbers

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

SUBSAMPLES = 4
"""Subsamples of each size but the last."""
SMALLEST = 64
"""The smallest size is at least one in this many rows: smaller ones say nothing about where a curve ends."""
CURVE_TOLERANCE = 3e-5
"""As ``TOLERANCE`` of ``convex``, but coarser; with a third of it, means differ by 0.2 points at most."""


@dataclass(frozen=True, eq=False)
class CurvePoint:
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
    kind, drawn = table.argmax(axis=1), rng.permutation(len(sizes))
    place = np.empty(len(sizes))
    for each in np.unique(kind):
        own = drawn[kind[drawn] == each]
        after = np.cumsum(sizes[own])
        place[own] = (after - sizes[own] / 2) / after[-1]  # the position of a cluster's middle within its class
    order = drawn[np.argsort(place[drawn], kind="stable")]
    rank = np.empty(len(sizes), np.int64)
    rank[order] = np.arange(len(sizes))
    return np.argsort(rank[cluster], kind="stable"), np.cumsum(sizes[order])


def _cut(labels: Ints, may: Ints, rows: int) -> int:
    """How many rows to take: the cut nearest to the requested number that leaves two classes."""
    both = int(np.flatnonzero(labels != labels[0])[0]) + 1
    found = may[may >= both]
    return int(found[np.abs(found - rows).argmin()])


def subsets(
    labels: Ints, clusters: Sequence[Hashable] | None, classes: int, *, seed: int, subsamples: int = SUBSAMPLES
) -> list[list[Ints]]:
    """The indices of the rows of each subsample, by size, from the smallest to the last but all rows."""
    sizes = [end for end in block_ends(len(labels), classes)[:-1] if SMALLEST * end >= len(labels)]
    found: list[list[Ints]] = [[] for _ in sizes]
    for i in range(subsamples):
        order, may = subsample_order(labels, clusters, np.random.default_rng([seed, i]))
        for own, size in zip(found, sizes, strict=True):
            own.append(order[: _cut(labels[order], may, size)])
    return found


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
) -> list[CurvePoint]:
    """Points of the curve, from few rows to all (n), whose labels are 0 … classes - 1.

    ``l2`` is the grid, and ``plain`` the penalty and the probe of all rows. A dev or test label of -1 is not in train,
    and always a miss.
    """
    known = np.flatnonzero(dev_labels >= 0)
    if len(block_ends(len(train), classes)) < 2 or not len(known):
        raise TooFewError(
            f"{len(train)} training rows of {classes} classes, and {len(known)} dev rows whose label is in train, are "
            f"too few for a learning curve; expected at least {2 * max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)} and 1."
        )
    drawn = subsets(labels, clusters, classes, seed=seed, subsamples=subsamples)
    right: list[list[Truths]] = [[] for _ in drawn]
    chosen: list[list[float]] = [[] for _ in drawn]
    with single_threaded():  # with more, sums depend on how many
        statistics = TrainingStatistics.of(train, labels, classes, device) if statistics is None else statistics
        grid = tuple(sorted(l2, reverse=True))
        work = Work(
            statistics, dev.select(known), dev_labels[known], classes, grid, device, "accuracy", CURVE_TOLERANCE
        )
        begin: list[int] = []
        for i in range(subsamples):
            order = drawn[-1][i]  # the smaller ones are its prefixes
            few = 4 * len(order) * train.shape[1] <= MAX_CACHED_BYTES
            rows, y = Features.of(train.take(order)) if few else train.select(order), labels[order]
            senders: list[BlockModel] = []
            for s, size in enumerate(drawn):
                some = slice(len(size[i]))
                at = begin[s] if i else begin[-1] if begin else work.start(len(size[i]))
                place, sender = work.choose(rows.select(some), y[some], at, senders[-1].model if senders else None)
                begin[s : s + 1] = [place]
                senders.append(sender)
                chosen[s].append(grid[place])
            for own, hits in zip(right, judge(senders, test, test_labels)[1], strict=True):
                own.append(hits)
    points = [
        CurvePoint(
            round(sum(map(len, size)) / subsamples), np.array(right[s]),
            np.array([majority(labels[rows], test_labels) for rows in size]), tuple(chosen[s]),
        )
        for s, size in enumerate(drawn)
    ]  # fmt: skip
    last = (plain[1].scores(test).argmax(axis=1) == test_labels)[None]
    return [*points, CurvePoint(len(train), last, majority(labels, test_labels)[None], (plain[0],))]


def majority(labels: Ints, test_labels: Ints) -> Truths:
    """Which test rows have the most frequent of some labels, the first of several."""
    found: Truths = np.bincount(labels).argmax() == test_labels
    return found
