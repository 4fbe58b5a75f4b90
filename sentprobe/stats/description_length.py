"""Online description length: how many bits labels cost one after another, and how that falls with more of them known.

With the vectors of all rows and the labels of the first t, a classifier can be trained for the next ones; a label costs
-log2 of its probability. The first labels are sent without a classifier, each at log2 of the number of classes. The
total is the online, or prequential, description length (Voita and Titov 2020).

The loss-data curve is the loss after t rows (Whitney et al. 2020). Surplus description length is the area between it
and a target loss; sample complexity is the number of rows at which the curve reaches the target.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.stats import inputs
from sentprobe.stats.level import checked_level, normal_quantile
from sentprobe.stats.resample import Clusters, Floats, cluster_sums


@dataclass(frozen=True)
class Description:
    """The cost of the labels of n rows, averaged over the orders in which they are sent."""

    bits: float
    low: float
    high: float
    """The interval of the expected cost of n rows, over other samples and other orders."""
    uniform: float
    """The cost if all classes are taken to be equally frequent: n log2 K."""
    prior: float
    """The cost if only the classes' shares are known: n H(y)."""
    n: int
    orders: int

    @property
    def compression(self) -> tuple[float, float, float]:
        """How many times less than with equally frequent classes, and its interval."""
        return self._times(self.uniform)

    @property
    def prior_compression(self) -> tuple[float, float, float]:
        """The same against the classes' shares. Below 1, vectors save less than learning from them costs."""
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
    level: float | None = None,
) -> Description:
    """Sum the costs in bits of n labels in each order, (orders, n); labels (n,) are 0 … classes - 1.

    The interval has two parts, whose squares add up. One is due to the sample of rows: how the costs of rows, or with
    ``clusters`` (n,) of clusters of rows, differ within an order. The other is due to the order, and with it to
    classifiers trained on other rows: how the sums differ, by Student's t as they are few. The parts overlap, so that
    with two or more orders the interval is conservative. With one order the second part is missing, and the interval is
    too narrow unless there are many more rows than dimensions.
    """
    table, y = inputs.numbers(costs, "costs", dimensions=2), inputs.classes(labels, "labels", minimum=0)
    inputs.check_same_shape(table, "costs", y, "labels")
    if y.max() >= classes or table.min() < 0:
        raise DataError(f"Costs must be 0 or more and labels below {classes}, got {table.min()} and {y.max()}.")
    (orders, n), level = table.shape, checked_level(level)
    totals = table.sum(axis=1)
    bits, prior = float(totals.mean()), n * entropy(np.bincount(y) / n)
    half = normal_quantile(level) * math.sqrt(np.mean([_variance(row, clusters) for row in table]))
    if orders > 1:
        half = math.hypot(half, _student(orders - 1, level) * float(totals.std(ddof=1)) / math.sqrt(orders))
    return Description(bits, max(0.0, bits - half), bits + half, n * math.log2(classes), prior, n, orders)


def entropy(shares: npt.ArrayLike) -> float:
    """The entropy of a distribution (K,) in bits."""
    array = inputs.numbers(shares, "shares")
    positive = array[array > 0]
    return abs(float(positive @ np.log2(positive)))


def surplus_description_length(ends: Sequence[int], losses: npt.ArrayLike, target: float, *, first: float) -> float:
    """Surplus description length: the total cost of the labels of ``ends[-1]`` rows above ``target`` bits each.

    ``losses`` are bits per row after the rows of ``ends`` (S,), and hold for the rows up to the next end; that after
    the last may be missing. Before the first end a row costs ``first``. Rows that cost less than the target do not
    offset others. If the loss never reaches the target, more rows would add to the surplus: this is a lower bound.
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
            f"There are {len(curve)} losses after {list(ends)} rows; expected one loss per end, and increasing ends."
        )
    return curve


def _variance(costs: Floats, clusters: Clusters | None) -> float:
    """The variance of the sum of costs (n,) over samples of rows, or of clusters of rows."""
    sums, sizes = cluster_sums(costs[None, :], clusters).T
    deviations = sums - costs.mean() * sizes
    return float(deviations @ deviations) * len(deviations) / (len(deviations) - 1)


def _student(freedom: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))
