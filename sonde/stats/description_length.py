"""How many bits labels cost, one after the other, and how that falls as more of them are known.

Whoever has the vectors of all rows, and the labels of the first t, has a classifier for the next ones; a label costs
-log2 of what that gives to it. The first labels are sent without one, each for log2 of the number of classes. What all
labels cost is the online, or prequential, description length (Voita and Titov 2020).

The loss-data curve is the loss after t rows (Whitney et al. 2020). Surplus description length is the area between it
and a loss that is held to be good enough; sample complexity is where the curve gets there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError
from sonde.stats import inputs
from sonde.stats.resample import Clusters, Floats, cluster_sums


@dataclass(frozen=True)
class Description:
    """What the labels of n rows cost, on average over orders in which they are sent."""

    bits: float
    low: float
    high: float
    """Between these is what n rows cost on average, if others are drawn and sent in other orders."""
    uniform: float
    """What they cost if all classes are taken to be as frequent: n log2 K."""
    prior: float
    """What they cost if their shares of the classes are known, and nothing else: n H(y)."""
    n: int
    orders: int

    @property
    def compression(self) -> tuple[float, float, float]:
        """How many times less than with all classes as frequent, and between which numbers."""
        return self._times(self.uniform)

    @property
    def prior_compression(self) -> tuple[float, float, float]:
        """The same against the classes' shares. Below 1 the vectors tell less than it costs to learn them."""
        return self._times(self.prior)

    def _times(self, other: float) -> tuple[float, float, float]:
        by_bits, minimum, most = (other / b if b else math.inf for b in (self.bits, self.high, self.low))
        return by_bits, minimum, most


def describe(
    costs: npt.ArrayLike,
    labels: npt.ArrayLike,
    classes: int,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
) -> Description:
    """Add up what each of n labels costs in each order, (orders, n), in bits; labels (n,) are 0 … classes - 1.

    The interval has two parts, whose squares add up. One is of other rows: how the costs of rows, or with ``clusters``
    (n,) those of clusters of rows, differ within an order. The other is of other orders, and with them of classifiers
    that were trained on other rows: how the sums differ, with Student's t for so few. The parts overlap, so that from
    two orders on the interval is rather too wide. That of one order lacks the second part, and is too narrow where
    there are not many more rows than dimensions.
    """
    table, y = inputs.numbers(costs, "costs", dimensions=2), inputs.classes(labels, "labels", minimum=0)
    inputs.check_same_shape(table, "costs", y, "labels")
    if y.max() >= classes or table.min() < 0:
        raise DataError(f"Costs are 0 or more and labels below {classes}, got {table.min()} and {y.max()}.")
    (orders, n), level = table.shape, inputs.share(level, "level")
    totals = table.sum(axis=1)
    bits, prior = float(totals.mean()), n * entropy(np.bincount(y) / n)
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(np.mean([_variance(row, clusters) for row in table]))
    if orders > 1:
        half = math.hypot(half, _student(orders - 1, level) * float(totals.std(ddof=1)) / math.sqrt(orders))
    return Description(bits, max(0.0, bits - half), bits + half, n * math.log2(classes), prior, n, orders)


def entropy(shares: npt.ArrayLike) -> float:
    """Of a distribution (K,), in bits."""
    found = inputs.numbers(shares, "shares")
    met = found[found > 0]
    return abs(float(met @ np.log2(met)))


def surplus_description_length(ends: Sequence[int], losses: npt.ArrayLike, target: float, *, first: float) -> float:
    """Surplus description length: what the labels of ``ends[-1]`` rows cost above ``target`` bits each, in all.

    ``losses`` are bits per row after the rows of ``ends`` (S,), and hold for the rows up to the next end; that after
    the last may be missing. Before the first end a row costs ``first``. What a row costs less than the target makes
    nothing good. If the loss never gets to the target, more rows would cost more: then this is a lower bound.
    """
    curve = _curve(ends, losses)[: len(ends) - 1]
    above = np.maximum(np.array([first, *curve]) - target, 0.0)
    return float(np.diff(ends, prepend=0) @ above)


def sample_complexity(ends: Sequence[int], losses: npt.ArrayLike, target: float) -> int | None:
    """The fewest rows of ``ends`` after which the loss is ``target`` or less; None if it never is."""
    reached = np.flatnonzero(_curve(ends, losses) <= target)
    return ends[int(reached[0])] if len(reached) else None


def _curve(ends: Sequence[int], losses: npt.ArrayLike) -> Floats:
    curve = inputs.numbers(losses, "losses")
    if len(curve) not in (len(ends) - 1, len(ends)) or (np.diff(ends, prepend=0) <= 0).any():
        raise DataError(
            f"There are {len(curve)} losses after {list(ends)} rows; expected one after each, and more rows each time."
        )
    return curve


def _variance(costs: Floats, clusters: Clusters | None) -> float:
    """Of the sum of costs (n,), if other rows or clusters of rows were drawn."""
    sums, sizes = cluster_sums(costs[None, :], clusters).T
    apart = sums - costs.mean() * sizes
    return float(apart @ apart) * len(apart) / (len(apart) - 1)


def _student(freedom: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
