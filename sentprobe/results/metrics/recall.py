"""Recall@1: how often a caption finds its image first."""

from __future__ import annotations

from sentprobe.results.metric import Metric

metric = Metric(
    name="recall@1",
    title="recall@1",
    doc="The share of queries that find what they belong to first.",
    predicts="neighbours",
    interval_note=": Wilson's{clustered}",
    tested=False,
    set_note="share of captions that find their image first, in points.",
    order=80,
)
