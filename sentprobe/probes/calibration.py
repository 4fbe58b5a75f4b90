"""Logits of classifiers, scaled and added up with weights that are fitted on dev.

Temperature scaling has one weight, the inverse of a temperature. A probe that was chosen for its accuracy may be over-
or underconfident, and its bits then understate what it knows. Dividing the logits of all classes by one number changes
no prediction (Guo et al. 2017). The loss is convex in 1 / temperature, so that there is one best.

A stack has a weight for each of several classifiers. Few weights need few rows; how much they would differ with other
dev rows follows from the influence of each row, by the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sentprobe.errors import DataError, ShapeError, TooFewError
from sentprobe.probes.features import Array, Doubles, Floats, Ints

BRACKET_FACTOR, BRACKET_STEPS = 4.0, 5
"""The factor by which the temperature grows until it has passed the best one, and how many times at most."""
MAX_TEMPERATURE = BRACKET_FACTOR**BRACKET_STEPS
"""As good as infinite, which is best where the logits are worse than none; its inverse is as good as 0, which is best
where all rows are right."""
BLOCK_NUMBERS = 2**18
"""Log-probabilities that are float64 at a time."""
PRIOR_ROWS = 0.1
"""Half of this times the squared weights is added to the loss of all rows, but for the first weight: logits that hardly
vary, as rounding errors do, would otherwise get weights of any size."""
MAX_STEPS, STEP_TOLERANCE, MIN_SHARE = 100, 1e-10, 1e-8
"""Newton's method ends after so many steps, or where a step promises to gain less than the second; a step is halved
down to the third."""


def fit_temperature(log_probabilities: Array, labels: Ints) -> float:
    """What to divide log-probabilities (n, K) by for the lowest loss on labels (n,) and one more row of any label.

    Rows with the label -1 do not count. It is between 1 / ``MAX_TEMPERATURE`` and ``MAX_TEMPERATURE``; and 1 if all
    temperatures cost the same, as where all classes are equally probable.
    """
    from scipy.optimize import brentq

    logs = np.asarray(log_probabilities)
    if logs.ndim != 2 or len(logs) != len(labels) or not np.isfinite(logs).all():
        raise DataError(f"log_probabilities must be finite, (rows, classes) of {len(labels)} rows, got {logs.shape}.")
    labelled = np.flatnonzero(labels >= 0)
    if not len(labelled) or labels.max() >= logs.shape[1]:
        raise TooFewError(
            f"A temperature needs rows whose label is one of {logs.shape[1]} classes, got {len(labelled)}."
        )
    if len(labelled) < len(logs):
        logs, labels = logs[labelled], labels[labelled]
    highest = logs.max(axis=1, keepdims=True)
    size = max(1, BLOCK_NUMBERS // logs.shape[1])
    blocks = [slice(start, start + size) for start in range(0, len(logs), size)]

    def below(block: slice) -> Doubles:
        differences: Doubles = np.subtract(logs[block], highest[block], dtype=np.float64)
        return differences

    # the extra row may have any label: where all rows are right, the best temperature would otherwise be 0, and one
    # wrong row of another set would cost more than all others
    label_logs = np.subtract(logs[np.arange(len(logs)), labels], highest[:, 0], dtype=np.float64)
    first = below(blocks[0])
    sums = [first.sum(), *(below(block).sum() for block in blocks[1:])]
    of_label = float(label_logs.sum() + sum(sums) / logs.size) / (len(logs) + 1)

    def slope(log_temperature: float) -> float:
        """The derivative of the loss towards a lower temperature, at exp(log_temperature)."""
        means = np.empty(len(logs))
        for block in blocks:
            differences = first if block is blocks[0] else below(block)
            shares = differences * math.exp(-log_temperature)
            np.exp(shares, out=shares)
            means[block] = np.einsum("ij,ij->i", shares, differences) / shares.sum(axis=1)
        return float(means.mean()) - of_label

    start = slope(0.0)
    if start == 0:
        return 1.0
    step = math.copysign(math.log(BRACKET_FACTOR), start)  # a slope above 0: a higher temperature is better
    for i in range(BRACKET_STEPS):
        if (slope((i + 1) * step) > 0) != (start > 0):  # not by their product, which may underflow
            return math.exp(brentq(slope, i * step, (i + 1) * step, xtol=1e-4))
    return math.exp(BRACKET_STEPS * step)


def scaled(log_probabilities: Array, t: float) -> Floats:
    """Log-probabilities (n, K) at the temperature t."""
    logs: Floats = np.divide(log_probabilities, t, dtype=np.float32)
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs


@dataclass(frozen=True, eq=False)
class Stack:
    """Weights of classifiers."""

    weights: Doubles
    """(s,)."""
    influence: Doubles
    """(m, s): the weights differ from those that all rows of the world would have by about the mean of these."""
    loss: float
    """The mean loss of the m rows, in nats."""

    def log_probabilities(self, logits: Sequence[Array]) -> Doubles:
        """Of the classes, (n, K), for the logits (n, K) of each classifier."""
        return _log_softmax(_combined(self.weights, logits))

    def slope(self, logits: Sequence[Array], labels: Ints) -> Doubles:
        """The derivative of the mean loss of other rows by each weight, (s,)."""
        slope: Doubles = _slopes(np.exp(self.log_probabilities(logits)), logits, labels).mean(axis=0)
        return slope


def centred(logits: Array) -> Doubles:
    """Logits (n, K) whose mean over the classes is 0, which changes no probability."""
    difference = logits.astype(np.float64)
    difference -= difference.mean(axis=1, keepdims=True)
    return difference


def fit_stack(logits: Sequence[Array], labels: Ints) -> Stack:
    """The weights of classifiers, given by their centred logits (m, K), with the lowest loss on labels (m,).

    As for a temperature, there is one more row that has any label, or rows that are all right would make the weights
    infinite.
    """
    if any(array.shape != logits[0].shape or len(array) != len(labels) for array in logits):
        shapes = ", ".join(str(array.shape) for array in logits)
        raise ShapeError(f"Expected logits (rows, classes) of {len(labels)} rows from each classifier, got {shapes}.")
    if not len(labels) or labels.min() < 0:
        raise TooFewError("Weights need rows whose labels are in train.")
    rows, prior = np.arange(len(labels)), np.full(len(logits), PRIOR_ROWS)
    prior[0] = 0.0
    # the mean logit of the label, where the logits of the additional row's labels add up to 0
    label_logits = np.array([array[rows, labels].sum() for array in logits]) / (len(labels) + 1)

    def loss_at(weights: Doubles) -> tuple[float, Doubles]:
        total = _combined(weights, logits)
        highest = total.max(axis=1)
        total = np.exp(total - highest[:, None])
        sums = total.sum(axis=1)
        penalty = weights @ (prior * weights) / 2 / len(rows)
        loss = float((np.log(sums) + highest).mean() - weights @ label_logits + penalty)
        return loss, total / sums[:, None]

    weights = np.zeros(len(logits))
    weights[0] = 1.0
    loss, shares = loss_at(weights)
    curvature = np.eye(len(logits))
    for _ in range(MAX_STEPS):
        means = _means(shares, logits)
        slope = means.mean(axis=0) - label_logits + prior * weights / len(rows)
        curvature = _curvature(shares, logits, means) + np.diag(prior) / len(rows)
        step = np.linalg.solve(curvature + STEP_TOLERANCE * np.eye(len(logits)), slope)
        if slope @ step < STEP_TOLERANCE:
            break
        share = 1.0
        while (better := loss_at(weights - share * step))[0] > loss and share > MIN_SHARE:
            share /= 2
        if better[0] > loss:
            break
        weights, (loss, shares) = weights - share * step, better
    slopes = _slopes(shares, logits, labels)
    inverse = np.linalg.pinv(curvature, hermitian=True)
    losses = -np.log(np.maximum(shares[rows, labels], np.finfo(np.float64).tiny))
    return Stack(weights, -slopes @ inverse, float(losses.mean()))


def _combined(weights: Doubles, logits: Sequence[Array]) -> Doubles:
    """The sum (n, K) of the classifiers' logits (n, K), by their weights (s,)."""
    total = np.zeros(logits[0].shape)
    for weight, array in zip(weights, logits, strict=True):
        total = total + weight * array
    return total


def _log_softmax(logits: Doubles) -> Doubles:
    logits = logits - logits.max(axis=1, keepdims=True)
    logs: Doubles = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logs


def _means(shares: Doubles, logits: Sequence[Array]) -> Doubles:
    """The logits that each classifier has on average over the classes, (m, s)."""
    return np.column_stack([np.einsum("ij,ij->i", shares, array) for array in logits])


def _slopes(shares: Doubles, logits: Sequence[Array], labels: Ints) -> Doubles:
    """The derivatives of the loss of each row by the weights, (m, s)."""
    rows = np.arange(len(labels))
    slopes: Doubles = _means(shares, logits) - np.column_stack([array[rows, labels] for array in logits])
    return slopes


def _curvature(shares: Doubles, logits: Sequence[Array], means: Doubles) -> Doubles:
    """The mean Hessian, (s, s)."""
    hessian = np.empty((len(logits), len(logits)))
    for i, row_logits in enumerate(logits):
        weighted = shares * row_logits
        for j, column_logits in enumerate(logits[: i + 1]):
            hessian[i, j] = hessian[j, i] = np.einsum("ij,ij->", weighted, column_logits) / len(row_logits)
    hessian -= means.T @ means / len(means)
    return hessian
