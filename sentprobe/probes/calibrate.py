"""Temperature scaling: one temperature for all log-probabilities of a classifier, fitted on dev.

A probe that was chosen for its accuracy may be over- or underconfident, and its bits then understate what it knows.
Dividing the logits of all classes by one number changes no prediction (Guo et al. 2017). The loss is convex in
1 / temperature, so that there is one best.
"""

from __future__ import annotations

import math

import numpy as np

from sentprobe.errors import DataError, TooFewError
from sentprobe.probes.features import Array, Doubles, Floats, Ints

BRACKET_FACTOR, BRACKET_STEPS = 4.0, 5
"""The factor by which the temperature grows until it has passed the best one, and how many times at most."""
MAX_TEMPERATURE = BRACKET_FACTOR**BRACKET_STEPS
"""As good as infinite, which is best where the logits are worse than none; its inverse is as good as 0, which is best
where all rows are right."""

BLOCK_NUMBERS = 2**18
"""Log-probabilities that are float64 at a time."""


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
