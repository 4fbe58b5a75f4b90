"""Spearman's rank correlation of cosines and true scores of pairs."""

from __future__ import annotations

import numpy as np

from sentprobe.results.metric import Arrays, Floats, Metric
from sentprobe.stats.correlation import coefficient, ranks


def _compute(arrays: Arrays) -> float:
    return coefficient(arrays["predicted"], arrays["truth"], "spearman")


def _row_parts(arrays: Arrays) -> Floats:
    """The correlation and its influence function at each row (n), for ranks: their mean is the correlation."""
    first, second = (ranks(arrays[name].astype(np.float64)[None, :])[0] for name in ("predicted", "truth"))
    first, second = ((side - side.mean()) / side.std() for side in (first, second))
    rho = float((first * second).mean())
    return np.asarray(rho + first * second - rho * (first**2 + second**2) / 2)


metric = Metric(
    name="spearman",
    title="Spearman",
    doc="Spearman's rank correlation of cosines with scores that people gave.",
    compute=_compute,
    predicts="numbers",
    range=(-1.0, 1.0),
    row_parts=_row_parts,
    interval_note=": bootstrap over rows",
    trained=False,
    set_note="Spearman's rho of the cosines times 100, over all rows at once; nothing is trained.",
    family="correlation",
    axis="Spearman × 100",
    order=70,
)
