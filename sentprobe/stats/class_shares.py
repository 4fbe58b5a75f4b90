"""Shares of correct rows in which every class counts the same: balanced accuracy, with its variance and interval.

Balanced accuracy is a weighted share of correct rows, whose weights depend on the true classes alone. Two systems can
therefore be swapped row by row, as for accuracy. Its variance is that within classes: how many rows a class has does
not change what its recall is an estimate of. ``ClassShares.linearised`` gives every row a value such that the usual
mean, variance and clusters of ``stats.means`` are those of the balanced accuracy.

``benchmarks/class_share_coverage.py`` measures the coverage of the interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sentprobe.stats import inputs
from sentprobe.stats.intervals import wilson
from sentprobe.stats.level import normal_quantile
from sentprobe.stats.means import Mean, ScoredRows, quantile
from sentprobe.stats.resample import Clusters, Floats, cluster_numbers


@dataclass(frozen=True, eq=False)
class ClassShares:
    """The true classes of n test rows, each of which counts the same."""

    number: npt.NDArray[np.int64]
    """The class of each row among those that occur, (n)."""
    sizes: Floats
    """The number of rows of each class, (k)."""
    clusters: Floats
    """The number of clusters of each class, (k): of its rows if rows are independent."""

    @classmethod
    def of(cls, truth: npt.ArrayLike, clusters: Clusters | None = None) -> ClassShares:
        """Rows with these true classes (n), in clusters (n); -1 is a label that is not in train, and one more class."""
        _, number = np.unique(inputs.classes(truth, "truth", minimum=-1), return_inverse=True)
        sizes = np.bincount(number).astype(np.float64)
        if clusters is None:
            return cls(number, sizes, sizes)
        pairs = np.unique(np.stack([number, cluster_numbers(clusters, len(number))]), axis=1)
        return cls(number, sizes, np.bincount(pairs[0]).astype(np.float64))

    def recalls(self, correct: Floats) -> Floats:
        """The share of each class that is correct, (…, k), from correct rows (…, n)."""
        flat = correct.reshape(-1, len(self.number))
        sums = np.array([np.bincount(self.number, row, len(self.sizes)) for row in flat])
        return np.asarray((sums / self.sizes).reshape(*correct.shape[:-1], len(self.sizes)))

    def weighted(self, correct: Floats) -> Floats:
        """Correct rows (…, n) times their weights: their mean is the balanced accuracy."""
        return np.asarray(correct * self._weights)

    def linearised(self, correct: Floats) -> Floats:
        """Values (…, n) with the mean of ``weighted`` whose deviations from it are the influence of each row.

        A class of m rows, or clusters, has m - 1 degrees of freedom, without which the variance would be too small.
        """
        recalls = self.recalls(correct)
        deviations = (correct - recalls[..., self.number]) * self._weights * self._corrections
        return np.asarray(recalls.mean(axis=-1)[..., None] + deviations)

    @cached_property
    def _weights(self) -> Floats:
        return np.asarray(len(self.number) / (len(self.sizes) * self.sizes[self.number]))

    @cached_property
    def _corrections(self) -> Floats:
        return np.asarray(np.sqrt(self.clusters / np.maximum(1.0, self.clusters - 1.0))[self.number])

    def interval(self, correct: Floats, linear_mean: Mean, rows: ScoredRows) -> tuple[float, float]:
        """The interval of the balanced accuracy of correct rows (n), whose variance may cover clusters and training.

        ``linear_mean`` is that of ``linearised``. The interval covers two. One is Wilson's of each class, combined as
        Zou and Donner (2008, Stat. Med. 27:1693) combine intervals: it has a width where a class is all right, or all
        wrong, but is too narrow over many small classes. The other is Wilson's at the number of rows that would have
        this variance, which is the reverse. Both have fewer rows where rows share clusters, or training rows vary.
        """
        z = normal_quantile()
        classes, recalls = len(self.sizes), self.recalls(correct)
        within = float((recalls * (1 - recalls) / np.maximum(1.0, self.sizes - 1.0)).sum()) / classes**2
        certain = (z / quantile(None, linear_mean.df)) ** 2
        # where all rows are right, or all wrong, the correlation within clusters is unknown
        per_row = len(rows.sizes) / len(rows.number)
        independence = min(1.0, within / linear_mean.variance) if linear_mean.variance > 0 else per_row
        value = linear_mean.value
        ends = np.array(
            [wilson(r * n, n, z) for r, n in zip(recalls, self.sizes * max(independence * certain, 1e-9), strict=True)]
        )
        below, above = (math.sqrt(float(np.square(ends[:, i] - recalls).sum())) / classes for i in (0, 1))
        size = self._effective_size(value, linear_mean.variance, independence) * certain
        low, high = wilson(value * size, size, z)
        return max(0.0, min(low, value - below)), min(1.0, max(high, value + above))

    def _effective_size(self, value: float, variance: float, independence: float) -> float:
        """How many independent rows would have this variance; without one, as many as the weights are worth (Kish)."""
        n = len(self.number)
        inner = (value * n + 0.5) / (n + 1) if not 0 < value < 1 else value
        if variance > 0:
            return inner * (1 - inner) / variance
        return independence * len(self.sizes) ** 2 / float((1 / self.sizes).sum())
