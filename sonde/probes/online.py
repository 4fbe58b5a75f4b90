"""What it costs to learn: labels are sent block by block, each by a classifier of the blocks before.

The description length is that of the online code of Voita and Titov (2020). Both sides have all vectors, and the dev
set; what is sent are the labels of the training rows, in a random order. The first block is sent without a classifier.
Each later block is sent by the optimum of logistic regression on all rows before it, as in the probe ``linear``.

- Dimensions are standardised by all training rows, not only those before: the vectors are known, the labels are not.
- The penalty of each block is chosen on dev, by its loss. That of the plain probe would not do: it is chosen for all
  rows and for accuracy, and with it two classes that vectors hardly tell apart have cost 1.4 bits, where 1 is the price
  without vectors. The best penalty falls about as 1 / rows. So the search begins where it has ended in the block before
  and goes to neighbours in the grid as long as dev gains. The strongest penalty is as good as no vectors at all: of
  labels that cannot be told, the shares are learned and no more. Blocks of later orders are as large as those of the
  first, and take over its penalties.
- Classes that are not met yet have as much as half a row each.
- Orders depend on the number of rows and the seed only, so that encoders are compared by the same code.

The classifier trained on all rows is no part of the code. It is the last point of the curve on the test rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from sonde.core.threads import single_threaded
from sonde.errors import ShapeError, TooFewError, UsageError
from sonde.probes import convex
from sonde.probes.convex import Linear, TrainingStatistics
from sonde.probes.features import Features
from sonde.stats.classification import MOST_BITS
from sonde.stats.description_length import Description, describe
from sonde.stats.resample import Clusters

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]

PERCENTS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25.0, 50.0)
"""Of the rows, at the ends of all blocks but the last, as in Voita and Titov's configurations."""
MIN_ROWS, MIN_ROWS_PER_CLASS = 32, 2
"""Rows, and rows per class, that the first block has at least: with fewer there is nothing to train on."""
ONLINE_PENALTIES = tuple(10.0 ** (halves / 2) for halves in range(6, -15, -1))
"""Penalties, the strongest first: 1000, 316, … 1e-7. With whole decades, codes are up to 2 % longer."""
USUAL = 1000.0
"""Penalty times rows by curvature, where the search begins: about what is best where vectors tell something."""
ONLINE_TOLERANCE, MANY_CLASSES = 1e-5, 100
"""How near to an optimum is near enough, as in ``convex``, for up to so many classes: with a hundredth of it no code
differs by 0.02 %. It falls as 1 / classes, as searches among more take their ends for nearer than they are; with a
thirtieth, a code of 1000 classes is shorter by 0.5 % and takes two thirds longer."""


@dataclass(frozen=True, eq=False)
class Online:
    """The code of the training labels, and how the classifiers behind it do on test."""

    block_ends: tuple[int, ...]
    """Rows that are known after each of S blocks."""
    bits: Doubles
    """What each block costs in each order, (orders, S)."""
    rows: Doubles
    """What each training row costs on average over the orders, (n,). Of two encoders they can be compared in pairs."""
    description: Description
    l2: tuple[float, ...]
    """The penalty that was chosen after each block but the last."""
    test_bits: Doubles | None
    """Mean cost of the test rows whose label is known, after each block, (orders, S)."""
    test_accuracy: Doubles | None
    """Share of all test rows that are right after each block, (orders, S)."""

    @property
    def losses(self) -> Doubles:
        """Bits per row of the code after each block but the last, over all orders, (S - 1,)."""
        found: Doubles = self.bits[:, 1:].mean(axis=0) / np.diff(self.block_ends)
        return found


def block_ends(n: int, classes: int) -> tuple[int, ...]:
    """Rows after each block: PERCENTS of n, from the first with LEAST rows and PER_CLASS rows per class; and n."""
    least = max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)
    found = (round(n * percent / 100) for percent in PERCENTS)
    return (*(end for end in found if least <= end < n), n)


def permuted(n: int, order: int, seed: int) -> Ints:
    """Where the rows of an order, the 0th, 1st or a later one, are among n."""
    return np.random.default_rng([seed, order]).permutation(n)


def online(
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    classes: int,
    *,
    l2: Sequence[float] = ONLINE_PENALTIES,
    orders: int = 3,
    seed: int,
    test: Features | None = None,
    test_labels: Ints | None = None,
    clusters: Clusters | None = None,
    statistics: TrainingStatistics | None = None,
    device: str | None = None,
) -> Online:
    """Code the labels (n,) of the training rows, 0 … classes - 1, in so many orders.

    ``l2`` are the penalties to choose from, the strongest first. Dev and test labels of -1 were never met in training.
    ``clusters`` (n,) of training rows widen the interval. ``ground`` is that of the training rows, if it is known.
    """
    tested = None if test is None or test_labels is None else (test, test_labels)
    blocks = _checked([(train, labels), (dev, dev_labels), *([tested] if tested else [])], classes, l2, orders)
    costs = np.empty((orders, len(train)))
    bits = np.empty((orders, len(blocks)))
    tests = np.empty((2, orders, len(blocks)))
    places, senders = tuple[int, ...](), list[BlockModel]()
    with single_threaded():  # with more, sums depend on how many
        statistics = TrainingStatistics.of(train, labels, classes, device) if statistics is None else statistics
        known = np.flatnonzero(dev_labels >= 0)
        work = Work(statistics, dev.select(known), dev_labels[known], classes, tuple(l2), device)
        for i in range(orders):
            order = permuted(len(train), i, seed)
            rows = (
                Features.of(train.take(order))
                if 4 * math.prod(train.shape) <= convex.MAX_CACHED_BYTES
                else train.select(order)
            )
            sent, places, senders = work.send(rows, labels[order], blocks, places)
            costs[i, order], bits[i] = sent, np.add.reduceat(sent, (0, *blocks[:-1]))
            if tested is not None:
                tests[:, i, :-1] = _averages(senders, *tested)
        if tested is not None:
            last = work.choose(train, labels, places[-1], senders[-1].model)[1]
            tests[:, :, -1:] = _averages([last], *tested)[:, None]
    return Online(
        blocks,
        bits,
        costs.mean(axis=0),
        describe(costs, labels, classes, clusters=clusters),
        tuple(l2[place] for place in places),
        None if tested is None else tests[0],
        None if tested is None else tests[1],
    )


def _checked(parts: Sequence[tuple[Features, Ints]], classes: int, l2: Sequence[float], orders: int) -> tuple[int, ...]:
    """The ends of the blocks, if there are two."""
    for rows, labels in parts:
        if len(rows) != len(labels):
            raise ShapeError(f"There are {len(rows)} rows and {len(labels)} labels; expected a label for each row.")
    if orders < 1 or not l2 or min(l2) <= 0:
        raise UsageError(f"An online code needs an order and penalties above 0, got {orders} orders and {tuple(l2)}.")
    train, known = len(parts[0][1]), int((parts[1][1] >= 0).sum())
    if len(block_ends(train, classes)) < 2 or not known:
        raise TooFewError(
            f"{train} training rows of {classes} classes, and {known} dev rows whose label is known, are too few to "
            f"code labels; expected at least {2 * max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)} and 1."
        )
    return block_ends(train, classes)


@dataclass(frozen=True, eq=False)
class BlockModel:
    """A classifier, and what it leaves to classes that it has not met."""

    model: Linear
    seen: Truths
    """(classes,)."""
    logs: Doubles
    """Logarithms of what each class that is not met has; and of what the others have, all together; (classes,)."""

    @classmethod
    def of(cls, model: Linear, counts: Ints) -> BlockModel:
        """That of a model and of how often its training rows have each class, (classes,)."""
        seen, missing = counts > 0, np.count_nonzero(counts == 0)
        whole = counts.sum() + missing / 2
        return cls(model, seen, np.log(np.where(seen, counts.sum(), 0.5) / whole))


@dataclass(frozen=True, eq=False)
class Work:
    """What does not change from block to block."""

    statistics: TrainingStatistics
    dev: Features
    dev_labels: Ints
    """All known."""
    classes: int
    grid: tuple[float, ...]
    """Penalties, the strongest first."""
    device: str | None
    watch: Literal["loss", "accuracy"] = "loss"
    """What a penalty is chosen by on dev; of several as accurate, that with the lowest loss."""
    tolerance: float | None = None
    """How near to an optimum is near enough; None: as for a code."""

    def start(self, rows: int) -> int:
        """The place of the penalty where a search on so many rows begins."""
        usual = USUAL * max(self.statistics.curvature, 1e-9) / rows
        return int(np.abs(np.log(self.grid) - math.log(usual)).argmin())

    def send(
        self, rows: Features, labels: Ints, blocks: Sequence[int], places: Sequence[int]
    ) -> tuple[Doubles, tuple[int, ...], list[BlockModel]]:
        """What labels (n,) cost from the first to the last; the places of the penalties, if need be to be chosen."""
        costs = np.full(len(labels), math.log2(self.classes))
        found = [self.start(blocks[0])]
        senders: list[BlockModel] = []
        for i, (start, stop) in enumerate(pairwise(blocks)):
            before, new = (rows.select(slice(start)), labels[:start]), slice(start, stop)
            model = senders[-1].model if senders else None
            if not places:
                place, sender = self.choose(*before, found[-1], model)
            else:
                place, (sender,) = places[i], self.fit(*before, [places[i]], model)
            costs[new] = judge([sender], rows.select(new), labels[new])[0][0]
            found.append(place)
            senders.append(sender)
        return costs, tuple(found[1:]), senders

    def choose(self, rows: Features, labels: Ints, place: int, model: Linear | None) -> tuple[int, BlockModel]:
        """The place of the penalty that is best on dev, as far as neighbours tell, and its classifier."""
        tried: dict[int, tuple[tuple[float, float], BlockModel]] = {}
        while new := [i for i in range(place - 1, place + 2) if i not in tried and 0 <= i < len(self.grid)]:
            senders = self.fit(rows, labels, new, model)
            bits, right = judge(senders, self.dev, self.dev_labels)
            wrong = (~right).sum(axis=1) if self.watch == "accuracy" else np.zeros(len(new))
            worth = zip(wrong.tolist(), bits.mean(axis=1).tolist(), strict=True)
            tried |= dict(zip(new, zip(worth, senders, strict=True), strict=True))
            place = min(tried, key=lambda i: (tried[i][0], i))
            model = tried[place][1].model
        return place, tried[place][1]

    def fit(self, rows: Features, labels: Ints, places: Sequence[int], model: Linear | None) -> list[BlockModel]:
        """The classifiers with the penalties at these places, looked for from another one on."""
        counts = np.bincount(labels, minlength=self.classes)
        found = convex.optima(
            self.statistics, rows, labels, self.classes, [self.grid[place] for place in places],
            start=model, tolerance=(self.tolerance or ONLINE_TOLERANCE) * min(1.0, MANY_CLASSES / self.classes),
            device=self.device,
        )  # fmt: skip
        return [BlockModel.of(each, counts) for each in found]


def judge(senders: Sequence[BlockModel], features: Features, labels: Ints) -> tuple[Doubles, Truths]:
    """What each label (n,) costs by each classifier, and whether it is the one it says, (senders, n)."""
    seen, left = np.array([sender.seen for sender in senders]), np.array([sender.logs for sender in senders])
    logs, right = np.empty((len(senders), len(labels))), np.empty((len(senders), len(labels)), np.bool_)
    for part, found in convex.logits([sender.model for sender in senders], features):
        y = labels[part]
        found[~seen] = -np.inf
        right[:, part] = found.argmax(axis=1) == y
        found -= found.max(axis=1, keepdims=True)
        of_label = found[:, y, np.arange(len(y))]
        of_label -= np.log(np.exp(found, out=found).sum(axis=1))
        logs[:, part] = np.where(seen[:, y], of_label, 0.0) + left[:, y]
    return (logs / -math.log(2)).clip(0.0, MOST_BITS), right


def _averages(senders: Sequence[BlockModel], features: Features, labels: Ints) -> Doubles:
    """Bits per row whose label is known, and accuracy, (2, senders)."""
    bits, right = judge(senders, features, labels)
    known = labels >= 0
    return np.array([bits[:, known].mean(axis=1) if known.any() else np.full(len(senders), np.nan), right.mean(axis=1)])
