"""Minimum description length by online coding: labels are sent block by block, coded by a probe of the earlier blocks.

The description length is that of the online code of Voita and Titov (2020). Both sides have all vectors and the dev
set; what is sent are the labels of the training rows, in a random order. The first block is sent without a classifier,
each later block with the optimum of logistic regression on all rows before it, as in the probe ``linear``.

- Dimensions are standardised on all training rows, not only on those before: the vectors are known, the labels are not.
- The penalty of each block is chosen by its loss on dev. That of the plain probe would not do: it is chosen for all
  rows and for accuracy, and with it two classes that vectors hardly separate have cost 1.4 bits, where 1 is the cost
  without vectors. The best penalty falls about as 1 / rows, so the search starts where it ended in the block before and
  moves to neighbours in the grid as long as dev improves. With the strongest penalty, vectors have no effect: where
  labels cannot be predicted, only the classes' shares are learned. Later orders use the block sizes and the penalties
  of the first.
- Classes that are not in any block yet count as half a row each.
- Orders depend on the number of rows and the seed only, so that encoders are compared by the same code.

The classifier trained on all rows is not part of the code. It is the last point of the curve on the test rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.errors import ShapeError, TooFewError, UsageError
from sentprobe.probes import convex
from sentprobe.probes.convex import MAX_CACHED_BYTES, Linear, TrainingStatistics
from sentprobe.probes.features import Doubles, Features, Ints, Truths
from sentprobe.stats.classification import MOST_BITS
from sentprobe.stats.description_length import Description, describe
from sentprobe.stats.resample import Clusters

PERCENTS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25.0, 50.0)
"""The percentages of the rows at which all blocks but the last end, as in Voita and Titov's configurations."""
MIN_ROWS, MIN_ROWS_PER_CLASS = 32, 2
"""Minimum number of rows, and of rows per class, in the first block: with fewer there is too little to train on."""
ONLINE_PENALTIES = tuple(10.0 ** (halves / 2) for halves in range(6, -15, -1))
"""Penalties, the strongest first: 1000, 316, … 1e-7. In steps of a decade, codes are up to 2 % longer."""
START = 1000.0
"""Penalty times rows over curvature where the search starts: about the best where vectors are informative."""
ONLINE_TOLERANCE, MANY_CLASSES = 1e-5, 100
"""As ``TOLERANCE`` of ``convex``, for up to this many classes: with a hundredth of it no code differs by 0.02 %. It
falls as 1 / classes, since with more classes searches underestimate how far the optimum is; with a thirtieth of it, a
code of 1000 classes is 0.5 % shorter and takes two thirds longer."""


@dataclass(frozen=True, eq=False)
class Online:
    """The code of the training labels, and how the classifiers behind it do on test."""

    block_ends: tuple[int, ...]
    """The number of rows sent after each of S blocks."""
    bits: Doubles
    """The cost of each block in each order, (orders, S)."""
    rows: Doubles
    """The cost of each training row, averaged over the orders, (n,); two encoders can be compared row by row."""
    description: Description
    l2: tuple[float, ...]
    """The penalty that was chosen after each block but the last."""
    test_bits: Doubles | None
    """Mean cost of the test rows whose label is in train, after each block, (orders, S)."""
    test_accuracy: Doubles | None
    """Accuracy on all test rows after each block, (orders, S)."""

    @property
    def losses(self) -> Doubles:
        """Bits per row of the code after each block but the last, over all orders, (S - 1,)."""
        bits_per_row: Doubles = self.bits[:, 1:].mean(axis=0) / np.diff(self.block_ends)
        return bits_per_row


def block_ends(n: int, classes: int) -> tuple[int, ...]:
    """Rows after each block: ``PERCENTS`` of n, from the first that has enough rows and rows per class; and n."""
    least = max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)
    ends = (round(n * percent / 100) for percent in PERCENTS)
    return (*(end for end in ends if least <= end < n), n)


def permuted(n: int, order: int, seed: int) -> Ints:
    """The indices of n rows in an order, which is the 0th, the 1st, …"""
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
    """Code the labels (n,) of the training rows, 0 … classes - 1, in several orders.

    ``l2`` are the penalties to choose from, the strongest first. Dev and test labels of -1 are not in train.
    ``clusters`` (n,) of training rows widen the interval. ``statistics`` are those of the training rows, if known.
    """
    tested = None if test is None or test_labels is None else (test, test_labels)
    blocks = _checked([(train, labels), (dev, dev_labels), *([tested] if tested else [])], classes, l2, orders)
    costs = np.empty((orders, len(train)))
    bits = np.empty((orders, len(blocks)))
    tests = np.empty((2, orders, len(blocks)))
    penalty_indices, block_models = tuple[int, ...](), list[BlockModel]()
    with single_threaded():  # with more, sums depend on how many
        statistics = TrainingStatistics.of(train, labels, classes, device) if statistics is None else statistics
        labelled = np.flatnonzero(dev_labels >= 0)
        search = PenaltySearch(statistics, dev.select(labelled), dev_labels[labelled], classes, tuple(l2), device)
        for i in range(orders):
            order = permuted(len(train), i, seed)
            rows = (
                Features.of(train.take(order))
                if 4 * math.prod(train.shape) <= MAX_CACHED_BYTES
                else train.select(order)
            )
            sent, penalty_indices, block_models = search.send(rows, labels[order], blocks, penalty_indices)
            costs[i, order], bits[i] = sent, np.add.reduceat(sent, (0, *blocks[:-1]))
            if tested is not None:
                tests[:, i, :-1] = _averages(block_models, *tested)
        if tested is not None:
            last = search.choose(train, labels, penalty_indices[-1], block_models[-1].model)[1]
            tests[:, :, -1:] = _averages([last], *tested)[:, None]
    return Online(
        blocks,
        bits,
        costs.mean(axis=0),
        describe(costs, labels, classes, clusters=clusters),
        tuple(l2[index] for index in penalty_indices),
        None if tested is None else tests[0],
        None if tested is None else tests[1],
    )


def _checked(parts: Sequence[tuple[Features, Ints]], classes: int, l2: Sequence[float], orders: int) -> tuple[int, ...]:
    """The ends of the blocks, if there are at least two."""
    for rows, labels in parts:
        if len(rows) != len(labels):
            raise ShapeError(f"There are {len(rows)} rows and {len(labels)} labels; expected one per row.")
    if orders < 1 or not l2 or min(l2) <= 0:
        raise UsageError(
            f"An online code needs at least one order and penalties above 0, got {orders} orders and {tuple(l2)}."
        )
    train, labelled = len(parts[0][1]), int((parts[1][1] >= 0).sum())
    if len(block_ends(train, classes)) < 2 or not labelled:
        raise TooFewError(
            f"{train} training rows of {classes} classes, and {labelled} dev rows whose label is in train, are too few "
            f"to code labels; expected at least {2 * max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)} and 1."
        )
    return block_ends(train, classes)


@dataclass(frozen=True, eq=False)
class BlockModel:
    """A classifier, and the probability it leaves to classes that are not in its rows."""

    model: Linear
    seen: Truths
    """(classes,)."""
    logs: Doubles
    """Log-probability of each class without rows; for the others, of all of them together; (classes,)."""

    @classmethod
    def of(cls, model: Linear, counts: Ints) -> BlockModel:
        """From a model and how many of its training rows have each class, (classes,)."""
        seen, missing = counts > 0, np.count_nonzero(counts == 0)
        total = counts.sum() + missing / 2
        return cls(model, seen, np.log(np.where(seen, counts.sum(), 0.5) / total))


@dataclass(frozen=True, eq=False)
class PenaltySearch:
    """Chooses the penalty of each block on dev, by a search that moves to neighbours in the grid."""

    statistics: TrainingStatistics
    dev: Features
    dev_labels: Ints
    """All in train."""
    classes: int
    grid: tuple[float, ...]
    """Penalties, the strongest first."""
    device: str | None
    watch: Literal["loss", "accuracy"] = "loss"
    """What a penalty is chosen by on dev; ties in accuracy go to the lowest loss."""
    tolerance: float | None = None
    """As ``TOLERANCE`` of ``convex``; None for that of a code."""

    def start(self, rows: int) -> int:
        """The index of the penalty where a search on this many rows starts."""
        typical = START * max(self.statistics.curvature, 1e-9) / rows
        return int(np.abs(np.log(self.grid) - math.log(typical)).argmin())

    def send(
        self, rows: Features, labels: Ints, blocks: Sequence[int], penalty_indices: Sequence[int]
    ) -> tuple[Doubles, tuple[int, ...], list[BlockModel]]:
        """The cost of labels (n,) in order, the indices of their blocks' penalties, and the classifiers.

        ``penalty_indices`` are used if there are any; otherwise dev chooses.
        """
        costs = np.full(len(labels), math.log2(self.classes))
        indices = [self.start(blocks[0])]
        block_models: list[BlockModel] = []
        for i, (start, stop) in enumerate(pairwise(blocks)):
            before, new = (rows.select(slice(start)), labels[:start]), slice(start, stop)
            model = block_models[-1].model if block_models else None
            if not penalty_indices:
                index, block_model = self.choose(*before, indices[-1], model)
            else:
                index, (block_model,) = penalty_indices[i], self.fit(*before, [penalty_indices[i]], model)
            costs[new] = label_costs([block_model], rows.select(new), labels[new])[0][0]
            indices.append(index)
            block_models.append(block_model)
        return costs, tuple(indices[1:]), block_models

    def choose(self, rows: Features, labels: Ints, index: int, model: Linear | None) -> tuple[int, BlockModel]:
        """The index of the penalty that is best on dev, by a search among neighbours, and its classifier."""
        tried: dict[int, tuple[tuple[float, float], BlockModel]] = {}
        while new := [i for i in range(index - 1, index + 2) if i not in tried and 0 <= i < len(self.grid)]:
            block_models = self.fit(rows, labels, new, model)
            bits, right = label_costs(block_models, self.dev, self.dev_labels)
            wrong = (~right).sum(axis=1) if self.watch == "accuracy" else np.zeros(len(new))
            losses = zip(wrong.tolist(), bits.mean(axis=1).tolist(), strict=True)
            tried |= dict(zip(new, zip(losses, block_models, strict=True), strict=True))
            index = min(tried, key=lambda i: (tried[i][0], i))
            model = tried[index][1].model
        return index, tried[index][1]

    def fit(self, rows: Features, labels: Ints, indices: Sequence[int], model: Linear | None) -> list[BlockModel]:
        """The classifiers with the penalties at these indices, searched for from another one."""
        counts = np.bincount(labels, minlength=self.classes)
        models = convex.optima(
            self.statistics,
            rows,
            labels,
            self.classes,
            [self.grid[index] for index in indices],
            start=model,
            tolerance=(self.tolerance or ONLINE_TOLERANCE) * min(1.0, MANY_CLASSES / self.classes),
            device=self.device,
        )
        return [BlockModel.of(fitted, counts) for fitted in models]


def label_costs(models: Sequence[BlockModel], features: Features, labels: Ints) -> tuple[Doubles, Truths]:
    """The cost of each label (n,) by each classifier, and whether it is the one predicted, (models, n)."""
    seen = np.array([model.seen for model in models])
    log_shares = np.array([model.logs for model in models])
    logs, right = np.empty((len(models), len(labels))), np.empty((len(models), len(labels)), np.bool_)
    for part, logits in convex.logits([model.model for model in models], features):
        y = labels[part]
        logits[~seen] = -np.inf
        right[:, part] = logits.argmax(axis=1) == y
        logits -= logits.max(axis=1, keepdims=True)
        of_label = logits[:, y, np.arange(len(y))]
        of_label -= np.log(np.exp(logits, out=logits).sum(axis=1))
        logs[:, part] = np.where(seen[:, y], of_label, 0.0) + log_shares[:, y]
    return (logs / -math.log(2)).clip(0.0, MOST_BITS), right


def _averages(models: Sequence[BlockModel], features: Features, labels: Ints) -> Doubles:
    """Bits per row whose label is in train, and accuracy, (2, models)."""
    bits, right = label_costs(models, features, labels)
    labelled = labels >= 0
    return np.array(
        [bits[:, labelled].mean(axis=1) if labelled.any() else np.full(len(models), np.nan), right.mean(axis=1)]
    )
