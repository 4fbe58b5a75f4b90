"""Spearman's rank correlation of cosines and true scores of pairs."""

from __future__ import annotations

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.correlation import coefficient


def _compute(arrays: Arrays) -> float:
    return coefficient(arrays["predicted"], arrays["truth"], "spearman")


metric = Metric(
    name="spearman",
    title="Spearman",
    doc="Spearman's rank correlation of cosines with scores that people gave.",
    compute=_compute,
    predicts="numbers",
    range=(-1.0, 1.0),
    interval_note=": bootstrap over rows",
    tested=False,
    trained=False,
    set_note="Spearman's rho of the cosines times 100, over all rows at once; nothing is trained.",
    family="correlation",
    axis="Spearman × 100",
    order=70,
)
