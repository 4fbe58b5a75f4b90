"""Pearson's correlation of predicted and true scores of pairs."""

from __future__ import annotations

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.correlation import coefficient


def _compute(arrays: Arrays) -> float:
    return coefficient(arrays["predicted"], arrays["truth"], "pearson")


metric = Metric(
    name="pearson",
    title="Pearson",
    doc="Pearson's correlation of predicted scores with those that people gave.",
    compute=_compute,
    predicts="numbers",
    range=(-1.0, 1.0),
    interval_note=": bootstrap over rows",
    tested=False,
    set_note="Pearson's r times 100, by SentEval's regression on pairs, whatever the probe (except for pairs=…).",
    family="correlation",
    axis="Pearson × 100",
    order=60,
)
