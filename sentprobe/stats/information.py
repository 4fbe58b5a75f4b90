"""V-usable information: how many bits about a label a given family of classifiers can extract from a vector.

It is the cost of the best constant distribution minus that of the best classifier of the family with access to the
vector (Xu et al. 2020): H_V(Y|0) - H_V(Y|R), in bits, both fitted on the training rows and measured on the test rows.
For a single row the difference is its pointwise information (Ethayarajh et al. 2022): far below 0 for a row whose label
looks wrong. Conditional information (Hewitt et al. 2021) compares a classifier that reads B and R with one that reads B
only, in place of the constant.

An overconfident classifier can cost more than the constant. The information is then below 0, and reported so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.stats import inputs
from sentprobe.stats.classification import ABOVE_ONE, MOST_BITS
from sentprobe.stats.means import Mean, combined, mean
from sentprobe.stats.resample import Clusters, Floats


@dataclass(frozen=True, eq=False)
class Information:
    """Bits about the label of a test row, on average and for each row."""

    bits: float
    low: float
    high: float
    """The interval over samples of rows, or of clusters of rows; the same ones for both classifiers."""
    entropy: float
    """The cost of a label without the vectors in question."""
    pointwise: Floats
    """(n,): NaN for rows whose label is not in train, which are left out of all means."""
    rows: int
    """The number of rows that are counted."""

    @property
    def share(self) -> float:
        """The share of the entropy that the vectors explain; NaN if the entropy is 0."""
        return self.bits / self.entropy if self.entropy else float("nan")


def prior(labels: npt.ArrayLike, classes: int) -> Floats:
    """The best constant distribution (K,) for training labels: the classes' shares.

    It is also what a classifier with biases learns from vectors that are all 0.
    """
    y = inputs.classes(labels, "labels", minimum=0)
    if y.max() >= classes:
        raise DataError(f"Expected classes 0 … {classes - 1}, got {y.max()}.")
    return np.bincount(y, minlength=classes) / len(y)


def information(
    log2_of_true: npt.ArrayLike,
    labels: npt.ArrayLike,
    prior: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
) -> Information:
    """The information of a classifier that gives the labels (n,) of test rows probabilities of 2 ** log2_of_true (n,).

    ``prior`` (K,) is the best constant distribution of the training rows. With ``clusters`` (n,), such as target forms,
    the interval is over clusters, not rows. No probability counts as less than 2 ** -MOST_BITS.
    """
    y, shares = inputs.classes(labels, "labels", minimum=-1), inputs.numbers(prior, "prior")
    if y.max() >= len(shares) or shares.min() < 0 or abs(shares.sum() - 1) > 1e-6:
        raise DataError(f"prior must be the shares of at least {y.max() + 1} classes, which sum to 1, got {shares}.")
    with np.errstate(divide="ignore"):
        constant = np.log2(shares)[y]
    return conditional(log2_of_true, constant, y, clusters=clusters)


def conditional(
    log2_with: npt.ArrayLike,
    log2_without: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    fitted: Mean | None = None,
) -> Information:
    """How much more one classifier knows than another on the same test rows: I_V(R -> Y | B).

    Both are given as the base-2 logarithm of the probability of the label of each row, (n,): the first reads B and R,
    the second B. ``fitted`` has the variance over samples of the rows that something was fitted on, such as weights on
    dev; the interval then covers it, too.
    """
    y = inputs.classes(labels, "labels", minimum=-1)
    in_train = np.flatnonzero(y >= 0)
    cost_with, cost_without = (
        _costs(log2_with, "log2_with", y)[in_train],
        _costs(log2_without, "log2_without", y)[in_train],
    )
    gain = cost_without - cost_with
    estimate = mean(gain, None if clusters is None else [clusters[i] for i in in_train.tolist()])
    if fitted is not None and fitted.variance > 0:
        parts = ((estimate.variance, estimate.df), (fitted.variance, fitted.df))
        estimate = combined(estimate.value, *parts)
    low, high = estimate.interval()
    pointwise = np.full(len(y), np.nan)
    pointwise[in_train] = gain
    return Information(float(gain.mean()), low, high, float(cost_without.mean()), pointwise, len(in_train))


def _costs(logs: npt.ArrayLike, name: str, labels: npt.NDArray[np.int64]) -> Floats:
    """In bits, from 0 to MOST_BITS, (n,)."""
    log_array = np.asarray(logs, np.float64)
    if log_array.shape != labels.shape or np.isnan(log_array).any() or log_array.max() > ABOVE_ONE:
        raise DataError(
            f"{name} must be logarithms of probabilities, at most 0, of {len(labels)} rows; got NaN, more, or "
            f"the shape {log_array.shape}."
        )
    return (-log_array).clip(0.0, MOST_BITS)
