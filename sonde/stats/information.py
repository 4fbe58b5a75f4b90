"""How many bits about a label can be had from a vector by a given family of classifiers.

V-usable information (Xu et al. 2020) is what the best constant distribution costs, less what the best classifier of the
family costs that may look at the vector: H_V(Y|0) - H_V(Y|R), in bits, both fitted on the training rows and measured on
the test rows. Of a single row the difference is its pointwise information (Ethayarajh et al. 2022): far below 0 for
a row whose label looks wrong. Conditional information (Hewitt et al. 2021) is the same with a classifier that sees some
vector B in place of the constant, against one that sees B and R.

A classifier that is too sure can cost more than the constant. The information is then below 0, and reported so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError
from sonde.stats import inputs
from sonde.stats.classification import ABOVE_ONE, MOST_BITS
from sonde.stats.means import mean
from sonde.stats.resample import Clusters, Floats


@dataclass(frozen=True, eq=False)
class Information:
    """Bits about the label of a test row, on average, and of each row."""

    bits: float
    low: float
    high: float
    """If other rows, or clusters of rows, had been drawn; the same ones for both classifiers."""
    entropy: float
    """What a label costs without the vectors in question."""
    pointwise: Floats
    """(n,): NaN for rows whose label was never met in training, which count nowhere."""
    rows: int
    """That count."""

    @property
    def share(self) -> float:
        """Of the entropy, that the vectors explain; NaN if there is none."""
        return self.bits / self.entropy if self.entropy else float("nan")


def prior(labels: npt.ArrayLike, classes: int) -> Floats:
    """The constant distribution (K,) that is best for training labels: the classes' shares.

    It is also what a classifier with biases learns of vectors that are all 0.
    """
    y = inputs.classes(labels, "labels", minimum=0)
    if y.max() >= classes:
        raise DataError(f"Of {classes} classes the last is {classes - 1}, got {y.max()}.")
    return np.bincount(y, minlength=classes) / len(y)


def information(
    log2_of_true: npt.ArrayLike,
    labels: npt.ArrayLike,
    prior: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
) -> Information:
    """The information of a classifier that gives the labels (n,) of test rows probabilities of 2 ** log2_of_true (n,).

    ``prior`` (K,) is the best constant distribution of the training rows. With ``clusters`` (n,), such as target forms,
    these could have been others, not rows. No probability counts as less than 2 ** -MOST_BITS.
    """
    y, shares = inputs.classes(labels, "labels", minimum=-1), inputs.numbers(prior, "prior")
    if y.max() >= len(shares) or shares.min() < 0 or abs(shares.sum() - 1) > 1e-6:
        raise DataError(f"prior must be the shares of {y.max() + 1} or more classes, which add up to 1, got {shares}.")
    with np.errstate(divide="ignore"):
        constant = np.log2(shares)[y]
    return conditional(log2_of_true, constant, y, clusters=clusters, level=level)


def conditional(
    log2_with: npt.ArrayLike,
    log2_without: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    clusters: Clusters | None = None,
    level: float = 0.95,
) -> Information:
    """What a classifier knows more than another one on the same test rows: I_V(R -> Y | B).

    Both are given by the logarithms, to the base of 2, of what they give to the label of each row, (n,): the first has
    seen B and R, the second B.
    """
    y = inputs.classes(labels, "labels", minimum=-1)
    known = np.flatnonzero(y >= 0)
    one, two = _costs(log2_with, "log2_with", y)[known], _costs(log2_without, "log2_without", y)[known]
    gain = two - one
    low, high = mean(gain, None if clusters is None else [clusters[i] for i in known.tolist()]).interval(level)
    pointwise = np.full(len(y), np.nan)
    pointwise[known] = gain
    return Information(float(gain.mean()), low, high, float(two.mean()), pointwise, len(known))


def _costs(logs: npt.ArrayLike, name: str, labels: npt.NDArray[np.int64]) -> Floats:
    """In bits, from 0 to MOST_BITS, (n,)."""
    found = np.asarray(logs, np.float64)
    if found.shape != labels.shape or np.isnan(found).any() or found.max() > ABOVE_ONE:
        raise DataError(
            f"{name} must be logarithms of probabilities, 0 at most, of {len(labels)} rows; got NaN, more, or "
            f"the shape {found.shape}."
        )
    return (-found).clip(0.0, MOST_BITS)
