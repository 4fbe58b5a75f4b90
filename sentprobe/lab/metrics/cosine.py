"""The mean cosine of words and their translations."""

from __future__ import annotations

from sentprobe.results.metric import Metric

metric = Metric(
    name="cosine",
    title="cosine",
    doc="The mean cosine of words and their translations, times 100.",
    predicts="none",
    range=(-1.0, 1.0),
    interval_note=": bootstrap over pairs",
    tested=False,
    trained=False,
    axis="cosine × 100",
    order=110,
)
