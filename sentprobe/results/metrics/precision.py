"""Precision@1: how often the nearest neighbour is a translation."""

from __future__ import annotations

from sentprobe.results.metric import Metric

metric = Metric(
    name="precision@1",
    title="precision@1",
    doc="The share of words or sentences whose nearest neighbour is one of their translations.",
    share="rows",
    predicts="neighbours",
    interval_note=": Wilson's{clustered}",
    trained=False,
    order=90,
)
