"""Logits of several classifiers, added up with weights that are fitted on dev.

With one classifier the weight is the inverse of a temperature (``calibrate``). Few weights need few rows; how much they
would differ with other dev rows follows from the influence of each row, by the delta method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import ShapeError, TooFewError

Array = npt.NDArray[Any]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PRIOR_ROWS = 0.1
"""Half of this times the squared weights is added to the loss of all rows, but for the first weight: logits that hardly
vary, as rounding errors do, would otherwise get weights of any size."""
MAX_STEPS, STEP_TOLERANCE, MIN_SHARE = 100, 1e-10, 1e-8
"""Newton's method ends after so many steps, or where a step promises to gain less than the second; a step is halved
down to the third."""


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
        found: Doubles = _slopes(np.exp(self.log_probabilities(logits)), logits, labels).mean(axis=0)
        return found


def centred(logits: Array) -> Doubles:
    """Logits (n, K) whose mean over the classes is 0, which changes no probability."""
    found = logits.astype(np.float64)
    found -= found.mean(axis=1, keepdims=True)
    return found


def fit_stack(logits: Sequence[Array], labels: Ints) -> Stack:
    """The weights of classifiers, given by their centred logits (m, K), with the lowest loss on labels (m,).

    As in ``calibrate``, there is one more row that has any label, or rows that are all right would make the weights
    infinite.
    """
    if any(each.shape != logits[0].shape or len(each) != len(labels) for each in logits):
        shapes = ", ".join(str(each.shape) for each in logits)
        raise ShapeError(f"Expected logits (rows, classes) of {len(labels)} rows from each classifier, got {shapes}.")
    if not len(labels) or labels.min() < 0:
        raise TooFewError("Weights need rows whose labels are in train.")
    rows, prior = np.arange(len(labels)), np.full(len(logits), PRIOR_ROWS)
    prior[0] = 0.0
    # the mean logit of the label, where the logits of the additional row's labels add up to 0
    told = np.array([each[rows, labels].sum() for each in logits]) / (len(labels) + 1)

    def loss_at(weights: Doubles) -> tuple[float, Doubles]:
        total = _combined(weights, logits)
        highest = total.max(axis=1)
        total = np.exp(total - highest[:, None])
        sums = total.sum(axis=1)
        loss = float((np.log(sums) + highest).mean() - weights @ told + weights @ (prior * weights) / 2 / len(rows))
        return loss, total / sums[:, None]

    weights = np.zeros(len(logits))
    weights[0] = 1.0
    loss, shares = loss_at(weights)
    curvature = np.eye(len(logits))
    for _ in range(MAX_STEPS):
        means = _means(shares, logits)
        slope = means.mean(axis=0) - told + prior * weights / len(rows)
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
    own = -np.log(np.maximum(shares[rows, labels], np.finfo(np.float64).tiny))
    return Stack(weights, -slopes @ inverse, float(own.mean()))


def _combined(weights: Doubles, logits: Sequence[Array]) -> Doubles:
    found: Doubles = sum((w * each for w, each in zip(weights, logits, strict=True)), np.zeros(logits[0].shape))
    return found


def _log_softmax(logits: Doubles) -> Doubles:
    logits = logits - logits.max(axis=1, keepdims=True)
    found: Doubles = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return found


def _means(shares: Doubles, logits: Sequence[Array]) -> Doubles:
    """The logits that each classifier has on average over the classes, (m, s)."""
    return np.column_stack([np.einsum("ij,ij->i", shares, each) for each in logits])


def _slopes(shares: Doubles, logits: Sequence[Array], labels: Ints) -> Doubles:
    """The derivatives of the loss of each row by the weights, (m, s)."""
    rows = np.arange(len(labels))
    found: Doubles = _means(shares, logits) - np.column_stack([each[rows, labels] for each in logits])
    return found


def _curvature(shares: Doubles, logits: Sequence[Array], means: Doubles) -> Doubles:
    """The mean Hessian, (s, s)."""
    found = np.empty((len(logits), len(logits)))
    for i, one in enumerate(logits):
        weighted = shares * one
        for j, two in enumerate(logits[: i + 1]):
            found[i, j] = found[j, i] = np.einsum("ij,ij->", weighted, two) / len(one)
    found -= means.T @ means / len(means)
    return found
