"""The mean over training sets and test rows, both of which are samples.

Every training set was scored on the same test rows. Two things vary: which rows were drawn, or which clusters of rows,
and which training sets. The variance of the mean is that of the rows' own means, cluster by cluster, plus that of the
training sets' means. The quantile is that of t with Satterthwaite's degrees of freedom, as a handful of training sets
says little about how training sets vary. How training sets differ on the rows that were drawn is in both parts, which
makes the interval slightly conservative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.stats import inputs
from sentprobe.stats.means import ScoredRows, quantile
from sentprobe.stats.resample import Clusters


@dataclass(frozen=True)
class Crossed:
    """A mean over training sets and test rows."""

    mean: float
    low: float
    high: float
    between: float
    """The variance between training sets, without the part that test rows contribute."""
    sets: int
    """The number of training sets it was estimated from."""


def crossed(
    values: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    share: float = 0.0,
    like: Crossed | None = None,
) -> Crossed:
    """The mean of values (sets, n) of several training sets on the same test rows, and its interval.

    ``share``: training sets are subsamples of one pool, each with this share f of it. They have rows in common, and
    vary less than independent ones: the variance of their mean over other pools is s² / k + b f / (1 - f), if the
    contributions of single training rows add up. s² is the variance of the subsamples' means, and b is s² minus what
    the test rows contribute to it by chance (Nadeau and Bengio's correction of cross-validation has the same reason).
    ``like``: a single training set is taken to vary as much as those of this result; without it, its interval is about
    test rows only.
    """
    table = inputs.numbers(values, "values", dimensions=2)
    if not 0 <= share < 1:
        raise UsageError(f"share must be 0 or more and below 1, got {share}.")
    k, mean = len(table), float(table.mean())
    of_rows = table.mean(axis=0)
    sample = ScoredRows.of(table.shape[1], clusters)
    tested = sample.mean(of_rows)
    rows = tested.variance
    if k > 1:
        chance = float(np.square(sample.influence(table - of_rows)).sum(axis=1).mean()) * k / (k - 1)
        over = float(table.mean(axis=1).var(ddof=1))
        between, sets = max(0.0, over - chance), k
    else:
        between, sets = (like.between, like.sets) if like is not None else (0.0, 1)
        over = between
    trained = over / k + between * share / (1 - share)
    total = rows + trained
    if not total:
        return Crossed(mean, mean, mean, between, sets)
    # its uncertainty is that of the variance before anything was subtracted
    seen = over / k + over * share / (1 - share)
    freedom = total**2 / (rows**2 / tested.df + seen**2 / max(1, sets - 1))
    half = quantile(None, freedom) * math.sqrt(total)
    return Crossed(mean, mean - half, mean + half, between, sets)
