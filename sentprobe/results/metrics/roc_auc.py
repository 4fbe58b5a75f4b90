"""Area under the ROC curve of similarities, for pairs with a label of 0 or 1."""

from __future__ import annotations

import numpy as np

from sentprobe.results.metric import Arrays, Floats, Metric
from sentprobe.stats.correlation import ranks


def _compute(arrays: Arrays) -> float:
    """The probability that a pair with label 1 is more similar than one with label 0; NaN with one label only."""
    positive = arrays["truth"] > 0
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    if not n_positive or not n_negative:
        return float("nan")
    rank_sum = ranks(arrays["predicted"].astype(np.float64)[None, :])[0][positive].sum()
    return float((rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def _row_parts(arrays: Arrays) -> Floats:
    """The area and the placement of each row (n) among those with the other label, as DeLong et al. (1988, Biometrics
    44:837) compare two areas: their mean is the area."""
    predicted, positive = arrays["predicted"].astype(np.float64), arrays["truth"] > 0
    of_all = ranks(predicted[None, :])[0]
    placement = np.empty(len(predicted))
    for side in (positive, ~positive):
        # ranks among all rows, less those among rows of the same label, count the rows of the other label
        placement[side] = (of_all[side] - ranks(predicted[None, side])[0]) / (~side).sum()
    placement[~positive] = 1 - placement[~positive]
    area = float(placement[positive].mean())
    return np.asarray(area + (placement - area) * np.where(positive, 1 / positive.mean(), 1 / (~positive).mean()))


metric = Metric(
    name="roc_auc",
    title="AUC",
    doc="Area under the ROC curve of similarities: how often a pair with label 1 is more similar than one with label "
    "0; a tie counts one half.",
    compute=_compute,
    predicts="numbers",
    row_parts=_row_parts,
    interval_note=": bootstrap over rows",
    trained=False,
    order=57,
)
