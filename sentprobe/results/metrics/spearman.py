"""Spearman's rank correlation of cosines and true scores of pairs."""

from __future__ import annotations

import numpy as np

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.correlation import coefficient, ranks


def _compute(arrays: Arrays) -> float:
    return coefficient(arrays["predicted"], arrays["truth"], "spearman")


def _rescale(arrays: Arrays) -> Arrays:
    return {**arrays, "predicted": ranks(arrays["predicted"].astype(np.float64)[None, :])[0]}


metric = Metric(
    name="spearman",
    title="Spearman",
    doc="Spearman's rank correlation of cosines with scores that people gave.",
    compute=_compute,
    predicts="numbers",
    range=(-1.0, 1.0),
    rescale=_rescale,
    interval_note=": bootstrap over rows",
    trained=False,
    set_note="Spearman's rho of the cosines times 100, over all rows at once; nothing is trained.",
    family="correlation",
    axis="Spearman × 100",
    order=70,
)
