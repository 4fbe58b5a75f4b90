"""Macro-averaged F1."""

from __future__ import annotations

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.classification import macro_f1


def _compute(arrays: Arrays) -> float:
    return macro_f1(arrays["predicted"], arrays["truth"])


metric = Metric(
    name="macro_f1",
    title="macro-averaged F1",
    doc="The mean F1 of the classes.",
    compute=_compute,
    order=30,
)
