"""Temperature scaling: one temperature for all log-probabilities of a classifier, fitted on dev.

A probe that was chosen for its accuracy may be over- or underconfident, and its bits then understate what it knows.
Dividing the logits of all classes by one number changes no prediction (Guo et al. 2017). The loss is convex in
1 / temperature, so that there is one best.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError, TooFewError

BRACKET_FACTOR, BRACKET_STEPS = 4.0, 5
"""The factor by which the temperature grows until it has passed the best one, and how many times at most."""
MAX_TEMPERATURE = BRACKET_FACTOR**BRACKET_STEPS
"""As good as infinite, which is best where the logits are worse than none; its inverse is as good as 0, which is best
where all rows are right."""


def fit_temperature(log_probabilities: npt.NDArray[Any], labels: npt.NDArray[np.int64]) -> float:
    """What to divide log-probabilities (n, K) by for the lowest loss on labels (n,) and one more row of any label.

    Rows with the label -1 do not count. It is between 1 / ``MAX_TEMPERATURE`` and ``MAX_TEMPERATURE``; and 1 if all
    temperatures cost the same, as where all classes are equally probable.
    """
    from scipy.optimize import brentq

    logs = np.asarray(log_probabilities, np.float64)
    if logs.ndim != 2 or len(logs) != len(labels) or not np.isfinite(logs).all():
        raise DataError(f"log_probabilities must be finite, (rows, classes) of {len(labels)} rows, got {logs.shape}.")
    known = np.flatnonzero(labels >= 0)
    if not len(known) or labels.max() >= logs.shape[1]:
        raise TooFewError(f"A temperature needs rows whose label is one of {logs.shape[1]} classes, got {len(known)}.")
    logs = logs[known]
    logs -= logs.max(axis=1, keepdims=True)
    # the extra row may have any label: where all rows are right, the best temperature would otherwise be 0, and one
    # wrong row of another set would cost more than all others
    of_label = float(logs[np.arange(len(known)), labels[known]].sum() + logs.mean()) / (len(known) + 1)
    shares = np.empty_like(logs)  # reused, or each temperature would allocate as many numbers

    def slope(log_temperature: float) -> float:
        """The derivative of the loss towards a lower temperature, at exp(log_temperature)."""
        np.exp(np.multiply(logs, math.exp(-log_temperature), out=shares), out=shares)
        return float((np.einsum("ij,ij->i", shares, logs) / shares.sum(axis=1)).mean()) - of_label

    start = slope(0.0)
    if start == 0:
        return 1.0
    step = math.copysign(math.log(BRACKET_FACTOR), start)  # a slope above 0: a higher temperature is better
    for i in range(BRACKET_STEPS):
        if (slope((i + 1) * step) > 0) != (start > 0):  # not by their product, which may underflow
            return math.exp(brentq(slope, i * step, (i + 1) * step, xtol=1e-4))
    return math.exp(BRACKET_STEPS * step)


def scaled(log_probabilities: npt.NDArray[Any], t: float) -> npt.NDArray[np.float32]:
    """Log-probabilities (n, K) at the temperature t."""
    logs: npt.NDArray[np.float32] = np.divide(log_probabilities, t, dtype=np.float32)
    logs -= logs.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs
