"""Means of rows that may be clustered: their variance, and its degrees of freedom.

Rows that share a target form, or a sentence, tend to be right or wrong together. The variance of a mean is therefore
estimated from the sums of clusters, each corrected for its own share in the mean (the cluster-robust estimator "CR2":
Bell and McCaffrey 2002, Surv. Methodol. 28:169), which is not too small where clusters are few or of uneven size, as
the usual sandwich estimator is. With every row a cluster of its own it is s² / n.

Degrees of freedom are Satterthwaite's: clusters count by their contribution to the variance, given the correlation of
rows within a cluster. A hundred forms, five of which have half of the rows, are worth about a dozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import TooFewError
from sentprobe.stats import inputs
from sentprobe.stats.level import checked_level
from sentprobe.stats.resample import Clusters, Floats, cluster_numbers

INFINITE_DF = 1e9
"""Degrees of freedom of a variance that is treated as known."""


@dataclass(frozen=True)
class Mean:
    """A mean, its variance and the degrees of freedom of that variance."""

    value: float
    variance: float
    df: float

    def interval(self, level: float | None = None) -> tuple[float, float]:
        """The interval by Student's t distribution."""
        half = quantile(level, self.df) * self.variance**0.5
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """The two-sided p-value of a mean of 0."""
        from scipy.special import stdtr

        if self.variance <= 0:
            return 0.0 if self.value else 1.0
        return 2 * float(stdtr(self.df, -abs(self.value) / self.variance**0.5))


def quantile(level: float | None, df: float) -> float:
    """Standard errors on each side of an interval."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + checked_level(level)) / 2))


def combined(value: float, *parts: tuple[float, float]) -> Mean:
    """A value whose variance is a sum of independent parts, each with its degrees of freedom (Welch–Satterthwaite)."""
    total = sum(max(0.0, variance) for variance, _ in parts)
    below = sum(max(0.0, variance) ** 2 / df for variance, df in parts)
    return Mean(value, total, total**2 / below if below else max(df for _, df in parts))


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """n test rows and their clusters, for means with their variance."""

    number: npt.NDArray[np.int64]
    """The cluster of each row, (n)."""
    sizes: Floats
    """The number of rows in each cluster, (m)."""

    @classmethod
    def of(cls, n: int, clusters: Clusters | None = None) -> ScoredRows:
        """Rows that are independent, or in clusters (n)."""
        number = np.arange(n) if clusters is None else cluster_numbers(clusters, n)
        sizes = np.bincount(number).astype(np.float64)
        if len(sizes) < 2:
            raise TooFewError("There is only one row or cluster; expected at least two, to estimate a variance.")
        return cls(number, sizes)

    @property
    def clustered(self) -> bool:
        """Whether any rows share a cluster."""
        return len(self.sizes) < len(self.number)

    def sums(self, values: Floats) -> Floats:
        """Values (…, n) summed by cluster, (…, m)."""
        if not self.clustered:
            return values
        flat = values.reshape(-1, len(self.number))
        sums = np.empty((len(flat), len(self.sizes)))
        for row, out in zip(flat, sums, strict=True):
            out[:] = np.bincount(self.number, row, len(self.sizes))
        return sums.reshape(*values.shape[:-1], len(self.sizes))

    def influence(self, values: Floats) -> Floats:
        """The influence of each cluster on means over values (…, n): (…, m) whose sum of squares is the variance.

        It is linear: the variance of a difference of means follows from the difference of these.
        """
        n = len(self.number)
        deviations = self.sums(values) - values.mean(axis=-1, keepdims=True) * self.sizes
        influence: Floats = deviations / np.sqrt(n * (n - self.sizes))
        return influence

    def df(self, values: Floats) -> float:
        """Degrees of freedom of the variance of the mean of values (n)."""
        n, m = len(self.number), len(self.sizes)
        if m == n:
            return float(n - 1)
        # the variance is a sum of correlated squares: moments of their covariance matrix
        a = self.sizes * (1 + self._correlation(values) * (self.sizes - 1))  # the variance of each cluster's sum
        h, w, total = self.sizes / n, 1 / (n * (n - self.sizes)), a.sum()
        hh, aa, ha = ((w * product).sum() for product in (h * h, a * a, h * a))
        shared = total * h * h - 2 * h * a
        trace = (w * (a + shared)).sum()
        squares = 2 * hh * aa + 2 * ha**2 + total**2 * hh**2 - 4 * total * hh * ha
        squares += (w * w * ((a + shared) ** 2 - shared**2)).sum()
        return max(1.0, float(trace**2 / squares))

    def _correlation(self, values: Floats) -> float:
        """The intraclass correlation, from the analysis of variance; between 0 and 1."""
        n, m = len(self.number), len(self.sizes)
        sums = self.sums(values)
        between = float((sums**2 / self.sizes).sum()) - values.sum() ** 2 / n
        within = float((values**2).sum() - (sums**2 / self.sizes).sum()) / max(1, n - m)
        typical = (n - np.square(self.sizes).sum() / n) / (m - 1)
        of_means = between / (m - 1)
        total = of_means + (typical - 1) * within
        return float(np.clip((of_means - within) / total, 0.0, 1.0)) if total > 0 else 1.0

    def mean(self, values: npt.ArrayLike) -> Mean:
        """The mean of values (n)."""
        array = inputs.numbers(values, "values", minimum=2)
        return Mean(float(array.mean()), float(np.square(self.influence(array)).sum()), self.df(array))


def mean(values: npt.ArrayLike, clusters: Clusters | None = None) -> Mean:
    """The mean of values (n), whose rows are independent or in clusters (n)."""
    array = inputs.numbers(values, "values", minimum=2)
    return ScoredRows.of(len(array), clusters).mean(array)
