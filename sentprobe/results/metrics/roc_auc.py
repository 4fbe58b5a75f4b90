"""Area under the ROC curve of similarities, for pairs with a label of 0 or 1."""

from __future__ import annotations

import numpy as np

from sentprobe.results.metric import Arrays, Metric
from sentprobe.stats.correlation import ranks


def _compute(arrays: Arrays) -> float:
    """The probability that a pair with label 1 is more similar than one with label 0; NaN with one label only."""
    positive = arrays["truth"] > 0
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if not n_positive or not n_negative:
        return float("nan")
    rank_sum = ranks(arrays["predicted"].astype(np.float64)[None, :])[0][positive].sum()
    return float((rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def _rescale(arrays: Arrays) -> Arrays:
    return {**arrays, "predicted": ranks(arrays["predicted"].astype(np.float64)[None, :])[0]}


metric = Metric(
    name="roc_auc",
    title="AUC",
    doc="Area under the ROC curve of similarities: how often a pair with label 1 is more similar than one with label "
    "0; a tie counts one half.",
    compute=_compute,
    predicts="numbers",
    rescale=_rescale,
    interval_note=": bootstrap over rows",
    trained=False,
    order=57,
)
