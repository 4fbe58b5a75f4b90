"""The score on a task minus that on its control task, and how sure that is.

The rows of the two are not the same: the control deals those of all splits anew, so that its test rows are mostly
training rows of the task. A paired test is thus out of the question, and so is one for independent samples, as some
rows, and many target forms, are in both. What the two do share are keys, and rows of one key stand and fall together.
So keys are drawn with replacement from those of either, and each brings all its rows of both: what is shared is paired,
what is not is not, and rows of a key are not taken for independent. A control label is drawn per key, so that drawing
keys also shows what another draw of the labels of these keys would do; what another training set would do it does not
show, as no interval here does. Several seeds of the control do.

Where all rows of a task are right, or all wrong, drawing them again tells nothing. So the interval is never narrower
than that of two shares of independent rows (Newcombe 1998, Stat. Med. 17:873, method 10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from sonde.errors import DataError
from sonde.stats import inputs
from sonde.stats.intervals import wilson
from sonde.stats.resample import add_up, ends, redraw


@dataclass(frozen=True, slots=True)
class Selectivity:
    """By how much a task is solved better than its control."""

    value: float
    low: float
    high: float
    task: float
    """Accuracy on the task."""
    control: float
    """Accuracy on the control."""
    keys: int
    """Different keys of the test rows of either."""
    shared: int
    """Keys that are in both."""


def selectivity(
    right_task: npt.ArrayLike,
    right_control: npt.ArrayLike,
    task_keys: Sequence[str | None],
    control_keys: Sequence[str | None],
    *,
    seed: int = 0,
    draws: int = 2000,
    level: float = 0.95,
) -> Selectivity:
    """Accuracy on the task minus accuracy on the control, from the test rows that are right, (n) and (m).

    ``task_keys`` (n) and ``control_keys`` (m) are those of ``lexical_keys``; a row without one stands for itself.
    """
    task, control = inputs.truths(right_task, "right_task"), inputs.truths(right_control, "right_control")
    n, m = len(task), len(control)
    for name, rows, keys in (("task", n, task_keys), ("control", m, control_keys)):
        if rows != len(keys):
            raise DataError(f"The {name} has {rows} rows and {len(keys)} keys; expected the key of each row.")
    clusters: list[tuple[str, int | str]] = [
        ("key", key) if key is not None else ("row", i) for i, key in enumerate([*task_keys, *control_keys])
    ]
    columns = np.zeros((4, n + m))
    columns[0, :n], columns[1, :n], columns[2, n:], columns[3, n:] = task, 1, control, 1
    sums = redraw(add_up(columns, clusters), inputs.enough(draws), np.random.default_rng(seed))
    both = sums[(sums[:, 1] > 0) & (sums[:, 3] > 0)]  # a draw may lack one of the two where keys are few
    value = float(task.mean() - control.mean())
    low, high = _independent(int(task.sum()), n, int(control.sum()), m, inputs.share(level, "level"))
    if len(both):
        drawn = ends(both[:, 0] / both[:, 1] - both[:, 2] / both[:, 3], level)
        low, high = min(low, drawn[0]), max(high, drawn[1])
    shared = {key for key in task_keys if key is not None} & set(control_keys)
    return Selectivity(value, low, high, float(task.mean()), float(control.mean()), len(set(clusters)), len(shared))


def _independent(k: int, n: int, j: int, m: int, level: float) -> tuple[float, float]:
    """The square-and-add interval of k/n - j/m."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    (low_one, high_one), (low_two, high_two) = wilson(k, n, z), wilson(j, m, z)
    one, two = k / n, j / m
    return one - two - math.hypot(one - low_one, high_two - two), one - two + math.hypot(high_one - one, two - low_two)
