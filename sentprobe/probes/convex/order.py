"""Training rows in an order that follows from the rows themselves.

Sums depend on their order in the last bit, and a search on the rows that were sampled to precondition it; what ends
near the optimum may then differ in a prediction. So rows are sorted before anything is computed from them, and results
are the same to the last bit in whatever order rows are given, unless there are very many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.probes.features import Features

MAX_SORTED_BYTES = 2**26
"""Bytes of rows up to which they are sorted, which takes a copy. Sparse rows are not sorted."""
COLUMNS = 4
"""Dimensions that are compared first: they nearly always tell rows apart."""


def sort_rows(
    features: Features, labels: npt.NDArray[np.int64] | None = None
) -> tuple[Features, npt.NDArray[np.int64]]:
    """The rows in their order, and the places (n,) that they had; rows with the same vector are sorted by label."""
    n, d = features.shape
    if features.sparse or 4 * n * d > MAX_SORTED_BYTES or not n:
        return features, np.arange(n)
    rows = features.take(slice(None))
    keys = [rows[:, i] for i in range(0, d, -(-d // COLUMNS))]
    last: list[npt.NDArray[Any]] = [] if labels is None else [labels]
    order = np.lexsort([*last, *reversed(keys)])
    sorted_keys = np.stack([key[order] for key in keys])
    if (sorted_keys[:, 1:] == sorted_keys[:, :-1]).all(axis=0).any():
        whole = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
        order = np.lexsort([*last, whole])
    return Features.of(rows[order]), order
