"""How small a difference of two accuracies a set can show, and how many rows, folds or seeds a smaller one needs.

A paired test detects a difference with a power of 80 % if it is 2.8 standard errors large (Connor 1987, Biometrics
43:207, without the correction for large differences). The variance of a difference of two systems is a sum:

    one split     tested / test rows + trained / training rows                    + seeds / number of seeds
    in folds      tested · (1 + excess) / all rows                                + seeds / number of seeds

- *tested* is the discordance, the share of rows that only one of the two has right, times the design effect: rows of
  one target form are right or wrong together, which makes m of them worth m / (1 + (m - 1) · r).
- *trained* and *excess* are what other training rows would change (``stats/training.py``). Both get smaller as a set
  grows, in proportion to rows at least.
- *seeds* is the variance between training runs, of both systems.

``Variation`` has these numbers: observed in a pilot, or assumed before there is one. The assumptions are typical of
pairs of encoders, and of encoders and naive Bayes, on nine sets of 700 rows from UD English-GUM. There, what
``compare`` called detectable was 0.7 to 1.5 times what is planned from them, and 1.0 times in the median. It may be
twice as large for two systems at chance, most of whose answers vary with training rows.

- whether two systems are right correlates by ERROR_CORRELATION over rows (from 0.05 to 0.5 there);
- differences of rows of one target form correlate by CLUSTER_CORRELATION (from 0 to 0.2);
- training adds TRAINING times the discordance per row (in folds from 0.1 to 1.4, with one split from 0 to 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from sentprobe.errors import UsageError
from sentprobe.stats import inputs
from sentprobe.stats import level as levels

POWER = 0.8
"""The power to detect a difference that is called detectable."""
ERROR_CORRELATION = 0.3
"""Between two systems being right, over rows."""
CLUSTER_CORRELATION = 0.1
"""Of the differences of rows that share a target form."""
TRAINING = 0.5
"""What training rows add to the variance, as a share of the discordance."""


def standard_errors(power: float = POWER, alpha: float | None = None, df: float = math.inf) -> float:
    """How many standard errors a difference has that a two-sided test detects with this power: 2.8 by default."""
    from scipy.special import stdtrit

    significance = inputs.share(levels.ALPHA if alpha is None else alpha, "alpha")
    return float(stdtrit(df, 1 - significance / 2) + stdtrit(df, inputs.share(power, "power")))


def detectable_difference(
    variance: float, df: float = math.inf, *, power: float = POWER, alpha: float | None = None
) -> float:
    """The difference that a two-sided test detects with this power, given the variance of the difference.

    ``df`` are the degrees of freedom of the variance.
    """
    return standard_errors(power, alpha, df) * math.sqrt(variance)


def uncertainty_factors(df: float, level: float | None = None) -> tuple[float, float]:
    """By which factors the true standard error may differ from one that was estimated with so many degrees of freedom.

    A variance over its estimate is df / χ² (df). A detectable difference is off by the same factors.
    """
    from scipy.special import chdtri

    if df == math.inf:
        return 1.0, 1.0
    tail = (1 - levels.checked_level(level)) / 2
    return math.sqrt(df / chdtri(df, tail)), math.sqrt(df / chdtri(df, 1 - tail))


def expected_discordance(accuracy: float, correlation: float = ERROR_CORRELATION) -> float:
    """The share of rows that only one of two systems has right, if both have this accuracy."""
    if not 0 < accuracy < 1 or not -1 <= correlation < 1:
        raise UsageError(
            f"Expected an accuracy between 0 and 1 and a correlation from -1 to below 1, got {accuracy} and "
            f"{correlation}."
        )
    return 2 * accuracy * (1 - accuracy) * (1 - correlation)


def design_effect(cluster_sizes: Iterable[int], correlation: float = CLUSTER_CORRELATION) -> float:
    """How many times the variance of a mean is that of as many independent rows, given the rows of each cluster."""
    sizes = list(cluster_sizes)
    if not sizes or min(sizes) < 1:
        raise UsageError(f"Expected the sizes of clusters, of at least one row each, got {sizes[:10]}.")
    # a row has as many rows in its cluster, on average: large clusters count more than their number
    return 1 + (sum(size * size for size in sizes) / sum(sizes) - 1) * correlation


@dataclass(frozen=True, kw_only=True)
class Variation:
    """What the difference of the accuracies of two systems varies with."""

    tested: float
    """The variance due to test rows, times the number of test rows."""
    trained: float
    """The variance due to training rows of one split, times the number of training rows."""
    excess: float
    """By what share training adds to the variance due to test rows in folds."""
    seeds: float = 0.0
    """The variance between seeds, of both systems."""
    df: float = math.inf
    """Degrees of freedom of the variance, of a pilot."""
    estimate_df: float = math.inf
    """The same, counted as the estimate varies between pilots, which it does by more than a test allows for."""

    @classmethod
    def assumed(cls, accuracy: float, effect: float = 1.0) -> Variation:
        """What is assumed of two systems of this accuracy, and with this design effect."""
        discordance = expected_discordance(accuracy)
        return cls(tested=discordance * effect, trained=TRAINING * discordance, excess=TRAINING)

    @property
    def uncertainty(self) -> tuple[float, float]:
        """By which factors the differences that a pilot plans may be off, as its variance is an estimate."""
        return uncertainty_factors(self.estimate_df)

    def in_folds(self, rows: int, seeds: int = 1) -> float:
        """The difference that is detected if each of these rows is tested once."""
        return detectable_difference(self.tested * (1 + self.excess) / rows + self.seeds / seeds, self.df)

    def in_split(self, test_rows: int, train_rows: int, seeds: int = 1) -> float:
        """The difference that is detected on one test split."""
        variance = self.tested / test_rows + self.trained / train_rows + self.seeds / seeds
        return detectable_difference(variance, self.df)

    def rows_in_folds(self, difference: float, seeds: int = 1) -> float:
        """How many rows are needed to detect a difference in folds; infinity if seeds vary more than that."""
        return self._rows(self.tested * (1 + self.excess), difference, seeds)

    def test_rows_in_split(self, difference: float, train_per_test: float, seeds: int = 1) -> float:
        """How many test rows are needed on one split, with ``train_per_test`` training rows for each."""
        return self._rows(self.tested + self.trained / train_per_test, difference, seeds)

    def seeds_in_folds(self, difference: float, rows: int) -> float:
        """How many seeds are needed to detect a difference in folds; infinity if rows are too few with any number."""
        spare = self._variance_for(difference) - self.tested * (1 + self.excess) / rows
        return max(1.0, self.seeds / spare) if spare > 0 else math.inf

    def _rows(self, by_row: float, difference: float, seeds: int) -> float:
        spare = self._variance_for(difference) - self.seeds / seeds
        return by_row / spare if spare > 0 else math.inf

    def _variance_for(self, difference: float) -> float:
        """The variance with which a difference is just detected."""
        if not 0 < difference < 1:
            raise UsageError(f"Expected a difference above 0 and below 1, got {difference}.")
        return (difference / standard_errors(df=self.df)) ** 2
