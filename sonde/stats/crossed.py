"""The mean over training sets and test rows, where both could have been others.

Every training set was scored on the same test rows. Two things vary: which rows were drawn, or which clusters of rows,
and which training sets. The variance of the mean is that of the rows' own means, cluster by cluster, plus that of the
training sets' means. The quantile is that of t with Satterthwaite's degrees of freedom, as a handful of training sets
says little of how training sets vary. What two training sets differ by on the rows that were drawn is in both parts,
which makes the interval a little too wide, and never too narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import UsageError
from sonde.stats import inputs
from sonde.stats.means import Rows
from sonde.stats.resample import Clusters


@dataclass(frozen=True)
class Crossed:
    """A mean over training sets and test rows."""

    mean: float
    low: float
    high: float
    between: float
    """The variance over training sets, as far as it is not that of test rows."""
    sets: int
    """Of how many that was seen."""


def crossed(
    values: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    share: float = 0.0,
    like: Crossed | None = None,
    level: float = 0.95,
) -> Crossed:
    """The mean of values (sets, n) of several training sets on the same test rows, and its interval.

    ``share``: training sets are subsamples of one pool, each with this share f of it. They have rows in common, and
    vary less than independent ones: the variance of their mean about what other pools would give is s² / k + b f /
    (1 - f), if single training rows add up. s² is the variance of the subsamples' means, and b the same less what
    chance among the test rows makes of it (Nadeau and Bengio's correction of cross-validation has the same reason).
    ``like``: where there is one training set only, one that varies as much as
    these did; without it, the interval is of rows alone.
    """
    from scipy.special import stdtrit

    table = inputs.numbers(values, "values", dimensions=2)
    if not 0 <= share < 1:
        raise UsageError(f"share must be 0 or more and below 1, got {share}.")
    k, mean = len(table), float(table.mean())
    of_rows = table.mean(axis=0)
    drawn = Rows.of(table.shape[1], clusters)
    tested = drawn.mean(of_rows)
    rows = tested.variance
    if k > 1:
        chance = float(np.square(drawn.influence(table - of_rows)).sum(axis=1).mean()) * k / (k - 1)
        over = float(table.mean(axis=1).var(ddof=1))
        between, sets = max(0.0, over - chance), k
    else:
        between, sets = (like.between, like.sets) if like is not None else (0.0, 1)
        over = between
    trained = over / k + between * share / (1 - share)
    total = rows + trained
    if not total:
        return Crossed(mean, mean, mean, between, sets)
    # as uncertain as a variance is from which nothing was subtracted
    seen = over / k + over * share / (1 - share)
    freedom = total**2 / (rows**2 / tested.df + seen**2 / max(1, sets - 1))
    half = float(stdtrit(freedom, (1 + inputs.share(level, "level")) / 2)) * math.sqrt(total)
    return Crossed(mean, mean - half, mean + half, between, sets)
