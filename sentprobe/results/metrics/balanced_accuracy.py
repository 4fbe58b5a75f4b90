"""Balanced accuracy, for sets whose classes have different numbers of rows."""

from __future__ import annotations

from sentprobe.results.metric import Metric

metric = Metric(
    name="balanced_accuracy",
    title="balanced accuracy",
    doc="The mean over classes of the share of their test rows that are classified correctly; a constant prediction "
    "has 1 / classes.",
    share="classes",
    interval_note=": Wilson's of each class, combined{clustered}, of the trained probe",
    order=20,
)
