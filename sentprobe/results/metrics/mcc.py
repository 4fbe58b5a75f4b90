"""Matthews' correlation coefficient."""

from __future__ import annotations

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.classification import matthews


def _compute(arrays: Arrays) -> float:
    return matthews(arrays["predicted"], arrays["truth"])


metric = Metric(
    name="mcc",
    title="Matthews' correlation",
    doc="Matthews' correlation of predicted and true classes (of several classes, Gorodkin's R_K), times 100; 0 for a "
    "constant prediction.",
    compute=_compute,
    range=(-1.0, 1.0),
    order=34,
)
