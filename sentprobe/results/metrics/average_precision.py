"""Average precision of similarities, for pairs with a label of 0 or 1."""

from __future__ import annotations

import numpy as np

from sentprobe.results.metric import Arrays, Metric


def _compute(arrays: Arrays) -> float:
    """The mean precision at each distinct similarity, weighted by the gain in recall; NaN without a label of 1."""
    order = np.argsort(-arrays["predicted"].astype(np.float64), kind="stable")
    predicted, positive = arrays["predicted"][order], arrays["truth"][order] > 0
    if not positive.any():
        return float("nan")
    last_of_ties = np.append(predicted[1:] != predicted[:-1], True)
    hits = np.cumsum(positive)[last_of_ties]
    precision = hits / (np.flatnonzero(last_of_ties) + 1)
    return float((np.diff(hits, prepend=0) * precision).sum() / hits[-1])


metric = Metric(
    name="average_precision",
    title="average precision",
    doc="Average precision of similarities, for pairs with a label of 0 or 1.",
    compute=_compute,
    predicts="numbers",
    interval_note=": bootstrap over rows",
    tested=False,
    trained=False,
    order=58,
)
