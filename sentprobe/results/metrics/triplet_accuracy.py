"""Of triplets, how often the positive is nearer to the anchor than the contrast is."""

from __future__ import annotations

import numpy as np

from sentprobe.results.metric import Arrays, Floats, Metric


def _row_values(arrays: Arrays) -> Floats:
    """1 where the positive is nearer, 0 where the contrast is, and one half where both are equally near (n)."""
    return np.asarray((np.sign(arrays["predicted"].astype(np.float64)) + 1) / 2)


metric = Metric(
    name="triplet_accuracy",
    title="triplet accuracy",
    doc="The share of rows whose positive is nearer to the anchor than the contrast is; a tie counts one half.",
    row_values=_row_values,
    share="rows",
    predicts="margins",
    needs=("predicted",),
    interval_note=": Wilson's{clustered}",
    trained=False,
    order=56,
)
