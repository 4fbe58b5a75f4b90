"""The arithmetic of training in compiled loops, where numba is installed: several times as fast as ``steps_numpy``.

A step on few numbers is over before numpy has prepared its calls; here all batches of a block are one call of a kernel.
The arithmetic is that of ``steps_numpy``, up to the order of sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sentprobe.probes.network.group import Floats, Group, Ints
from sentprobe.probes.network.kernels_numba import OPTIMISERS, train_few_outputs, train_hidden, train_many_outputs
from sentprobe.probes.network.masks import mix
from sentprobe.probes.network.steps_numpy import copy, hold, logits
from sentprobe.probes.probe import is_relu

__all__ = ["copy", "hold", "logits", "train"]

FEW_OUTPUTS = 32
"""Up to this many logits per row, of all members together, are computed by our own loops; more by the BLAS."""


def train(group: Group, xs: Floats, rows: Ints, ys: Ints, step: int) -> None:
    """Train on these rows of ``xs`` (any, d) and their labels, batch by batch, after ``step`` batches."""
    probe = group.probe
    table = xs.view()
    table.flags.writeable = False  # numba compiles separate code for writable arrays
    l2 = np.array([setting.l2 for setting in group.settings], np.float32)
    rule = (probe.batch, probe.reduction == "mean", OPTIMISERS.index(probe.optimiser), probe.rate, step)
    arrays = (*group.weights, *group.first, *group.second, l2)
    kernel: Any
    if len(group.weights) == 2:
        kernel = train_few_outputs if group.weights[1].size <= FEW_OUTPUTS else train_many_outputs
        kernel(table, rows, ys, *arrays, *rule)
    else:
        dropout = np.array([setting.dropout for setting in group.settings], np.float64)
        form = (dropout, mix(group.seed), is_relu(probe.activation), probe.drop == "after")
        kernel = train_hidden
        kernel(table, rows, ys, *arrays, *form, *rule)
