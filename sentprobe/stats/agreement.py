"""How well several people agree who label the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def krippendorff_alpha(counts: Sequence[Mapping[str, int]]) -> float | None:
    """Krippendorff's alpha for labels without an order; items may have different numbers of judgments.

    1 is perfect agreement, 0 what chance would give, and less than 0 disagreement. With the same number of judgments of
    every item it is Fleiss' kappa, corrected for small samples: kappa + (1 - kappa) / (items × judgments).

    Parameters
    ----------
    counts
        For every item, how many people gave each label. Items with fewer than two judgments do not count.

    Returns
    -------
    float or None
        None if no item has two judgments, or all judgments are the same: agreement then cannot be told from habit.

    Examples
    --------
    >>> from sentprobe.stats.agreement import krippendorff_alpha
    >>> krippendorff_alpha([{"a": 2}, {"b": 2}, {"a": 1, "b": 1}])
    0.4444444444444444
    """
    labels = sorted({label for item in counts for label in item})
    table = np.array([[item.get(label, 0) for label in labels] for item in counts], dtype=float)
    table = table.reshape(len(counts), len(labels))
    table = table[table.sum(axis=1) > 1]
    totals = table.sum(axis=0)
    n = totals.sum()
    expected = n * n - (totals**2).sum()
    if expected == 0:
        return None
    of_item = table.sum(axis=1)
    disagreements = ((of_item**2 - (table**2).sum(axis=1)) / (of_item - 1)).sum()
    return float(1 - (n - 1) * disagreements / expected)
