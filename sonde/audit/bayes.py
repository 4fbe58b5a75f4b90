"""Naive Bayes over sparse counts, for any number of classes, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

MAX_BAYES_CELLS = 1 << 22
"""Scores held in memory at a time."""


@dataclass(frozen=True)
class Bag:
    """Features per row: row i has ``ids[starts[i]:starts[i + 1]]``, repeated as often as they occur."""

    ids: np.ndarray
    starts: np.ndarray
    width: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def matrix(self) -> sparse.csr_array:
        """Counts (rows, features)."""
        from scipy import sparse

        ones = np.ones(len(self.ids), np.float32)
        return sparse.csr_array((ones, self.ids, self.starts), shape=(len(self), self.width))


def predict(
    train: sparse.csr_array,
    label: np.ndarray,
    test: sparse.csr_array,
    classes: int,
    alpha: float = 1.0,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """The most probable class of each test row: multinomial naive Bayes with additive smoothing.

    ``shares`` are the class priors if they are not those of the training rows.
    The counts of a class are kept sparse: log (count + alpha) is log alpha except where the feature occurs.
    """
    from scipy import sparse

    n = len(label)
    owner = sparse.csr_array((np.ones(n, np.float32), (label, np.arange(n))), shape=(classes, n))
    counts = (owner @ train).tocsr().astype(np.float64)
    known = np.bincount(label, minlength=classes) / n if shares is None else shares
    totals = np.asarray(counts.sum(axis=1)).ravel() + alpha * train.shape[1]
    counts.data = np.log1p(counts.data / alpha)
    weights = counts.T.tocsc()
    with np.errstate(divide="ignore"):
        prior = np.log(known)
    base = np.log(alpha) - np.log(totals)
    out = np.empty(test.shape[0], np.int64)
    step = max(1, MAX_BAYES_CELLS // classes)
    for a in range(0, test.shape[0], step):
        part = test[a : a + step]
        sizes = np.asarray(part.sum(axis=1)).ravel()
        scores = (part.astype(np.float64) @ weights).toarray() + sizes[:, None] * base + prior
        out[a : a + step] = scores.argmax(axis=1)
    return out
