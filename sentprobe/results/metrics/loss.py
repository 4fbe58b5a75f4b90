"""The mean cost of the true label in bits: as the probe predicts it, and at the temperature fitted on dev."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from sentprobe.core.formatting import BITS
from sentprobe.results.metric import Arrays, Floats, Metric
from sentprobe.stats.classification import MOST_BITS


def _row_bits(arrays: Arrays, name: str) -> Floats:
    """The loss of each test row (n)."""
    return np.asarray((-arrays[name].astype(np.float64)).clip(0.0, MOST_BITS))


raw = Metric(
    name="log2_loss",
    title="mean loss",
    doc="The mean loss of a test row in bits (cross-entropy with base 2), as the probe predicts it.",
    row_values=partial(_row_bits, name="log2"),
    needs=("log2",),
    number=BITS,
    unit="bits",
    higher_is_better=False,
    range=(0.0, math.inf),
    interval_note=" over rows{clustered}, of the trained probe",
    # only baselines whose probes are overconfident have a loss, and beating them takes no knowledge
    compared=False,
    beside="log2_loss_calibrated",
    order=40,
)
calibrated = Metric(
    name="log2_loss_calibrated",
    title="mean loss",
    condition="at the temperature fitted on dev",
    doc="The same at the temperature that was fitted on dev.",
    row_values=partial(_row_bits, name="log2_calibrated"),
    needs=("log2_calibrated",),
    number=BITS,
    unit="bits",
    higher_is_better=False,
    range=(0.0, math.inf),
    interval_note=" over rows{clustered}, of the trained probe",
    order=50,
)
metrics = (raw, calibrated)
