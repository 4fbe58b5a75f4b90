"""Accuracy."""

from __future__ import annotations

from sentprobe.results.metric import Metric

metric = Metric(
    name="accuracy",
    title="accuracy",
    doc="The share of test rows that are classified correctly.",
    share="rows",
    interval_note=": Wilson's{clustered}",
    order=10,
)
