"""The area under the ROC curve."""

from __future__ import annotations

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.classification import auc


def _compute(arrays: Arrays) -> float:
    return auc(arrays["probabilities"], arrays["truth"])


metric = Metric(
    name="auc",
    title="area under the ROC curve",
    doc="How often a row of a class is given a higher probability of it than a row of another, the mean over classes; "
    "50 for a constant prediction, however rare a class is.",
    compute=_compute,
    needs=("probabilities", "truth"),
    order=36,
)
