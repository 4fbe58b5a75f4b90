"""BLEU."""

from __future__ import annotations

from sentprobe.results.metric import Metric

metric = Metric(
    name="bleu",
    title="BLEU",
    doc="BLEU of a translation with one reference, times 100.",
    predicts="text",
    interval_note=": bootstrap over sentences",
    tested=False,
    trained=False,
    axis="BLEU",
    order=100,
)
