"""How accurate a linear probe is that was trained on fewer rows: learning curves.

Sizes are those of the online code, each about twice the one before, up to a half. Several subsamples of every size are
drawn from the training rows:

- By class: each has the classes' shares, as far as that goes.
- In one piece: rows that share a target form, or a sentence, are drawn together. A curve over single rows of forms that
  are all there from the start would rise too early.
- Nested: a subsample is the beginning of an order of the rows, and the next larger one goes on in it. Different orders
  are independent.

The protocol is that of the probe ``linear``: the penalty is one of its grid and is chosen on dev, by accuracy, for
every subsample by itself; all of dev stays. The search goes from the penalty of the next smaller size to neighbours in
the grid as long as dev gains. Dimensions are standardised by all training rows: vectors are to be had without labels.
The last point is the plain probe.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.core.threads import single_threaded
from sonde.errors import TooFewError
from sonde.probes import convex
from sonde.probes.convex import Linear, TrainingStatistics
from sonde.probes.features import Features
from sonde.probes.online import MIN_ROWS, MIN_ROWS_PER_CLASS, BlockModel, Work, block_ends, judge

Ints = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]

SUBSAMPLES = 4
"""Of each size but the last."""
SMALLEST = 64
"""The smallest size is this part of all rows, or a little more: what is below says nothing of where a curve ends."""
CURVE_TOLERANCE = 3e-5
"""How near to an optimum is near enough, as in ``convex``; with a third of it, means differ by 0.2 points at most."""


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """What was learned from so many rows."""

    rows: int
    """On average over the subsamples: target forms are not cut."""
    right: Truths
    """Whether each test row is right, (subsamples, n)."""
    majority: Truths
    """The same of the label that is most frequent in the subsample."""
    l2: tuple[float, ...]
    """The penalty that dev chose, by subsample."""


def subsample_order(labels: Ints, clusters: Sequence[Hashable] | None, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """An order of rows (n,) of which every beginning has about the classes' shares, and where it may be cut.

    Rows of one cluster follow each other and count for the class that most of them have. The second array has the
    numbers of rows after each cluster.
    """
    n = len(labels)
    number: dict[Hashable, int] = {}
    names: Sequence[Hashable] = range(n) if clusters is None else clusters
    cluster = np.array([number.setdefault(name, len(number)) for name in names], np.int64)
    sizes = np.bincount(cluster)
    table = np.zeros((len(sizes), int(labels.max()) + 1), np.int64)
    np.add.at(table, (cluster, labels), 1)
    kind, drawn = table.argmax(axis=1), rng.permutation(len(sizes))
    place = np.empty(len(sizes))
    for each in np.unique(kind):
        own = drawn[kind[drawn] == each]
        after = np.cumsum(sizes[own])
        place[own] = (after - sizes[own] / 2) / after[-1]  # where the middle of a cluster is among its class
    order = drawn[np.argsort(place[drawn], kind="stable")]
    rank = np.empty(len(sizes), np.int64)
    rank[order] = np.arange(len(sizes))
    return np.argsort(rank[cluster], kind="stable"), np.cumsum(sizes[order])


def _cut(labels: Ints, may: Ints, rows: int) -> int:
    """How many rows to take: the cut nearest to what was asked for that leaves two classes."""
    both = int(np.flatnonzero(labels != labels[0])[0]) + 1
    found = may[may >= both]
    return int(found[np.abs(found - rows).argmin()])


def subsets(
    labels: Ints, clusters: Sequence[Hashable] | None, classes: int, *, seed: int, subsamples: int = SUBSAMPLES
) -> list[list[Ints]]:
    """The numbers of the rows of each subsample, by size, from few rows to all but the last point's."""
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

    ``l2`` is the grid, and ``plain`` the penalty and the probe of all rows. A dev or test label of -1 was never met in
    training, and is a miss.
    """
    known = np.flatnonzero(dev_labels >= 0)
    if len(block_ends(len(train), classes)) < 2 or not len(known):
        raise TooFewError(
            f"{len(train)} training rows of {classes} classes, and {len(known)} dev rows whose label is known, are too "
            f"few for a learning curve; expected at least {2 * max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)} and 1."
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
            order = drawn[-1][i]  # the smaller ones are its beginnings
            few = 4 * len(order) * train.shape[1] <= convex.MAX_CACHED_BYTES
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
    """Which test rows have the most frequent of some labels; of several the first."""
    found: Truths = np.bincount(labels).argmax() == test_labels
    return found
