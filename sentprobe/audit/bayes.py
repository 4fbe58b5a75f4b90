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


@dataclass(frozen=True)
class Bayes:
    """Multinomial naive Bayes: what was counted, whatever the smoothing."""

    counts: sparse.csr_array
    """Of the features of each class (classes, features). They stay sparse: log (count + alpha) is log alpha except
    where the feature occurs."""
    prior: np.ndarray
    """log of the class priors."""

    @classmethod
    def of(cls, train: sparse.csr_array, label: np.ndarray, classes: int, shares: np.ndarray | None = None) -> Bayes:
        """Count the features of training rows. ``shares`` are the class priors if they are not those of these rows."""
        from scipy import sparse

        n = len(label)
        owner = sparse.csr_array((np.ones(n, np.float32), (label, np.arange(n))), shape=(classes, n))
        with np.errstate(divide="ignore"):
            prior = np.log(np.bincount(label, minlength=classes) / n if shares is None else shares)
        return cls((owner @ train).tocsr().astype(np.float64), prior)

    def predict(self, test: sparse.csr_array, alpha: float = 1.0) -> np.ndarray:
        """The most probable class of each test row, with additive smoothing."""
        weights, base = self._weights(alpha)
        step = max(1, MAX_BAYES_CELLS // self.counts.shape[0])
        out = np.empty(test.shape[0], np.int64)
        for a in range(0, test.shape[0], step):
            out[a : a + step] = self._scores(test[a : a + step], weights, base).argmax(axis=1)
        return out

    def scores(self, test: sparse.csr_array, alpha: float = 1.0) -> np.ndarray:
        """log of the joint probability of each test row and each class (rows, classes)."""
        return self._scores(test, *self._weights(alpha))

    def _scores(self, test: sparse.csr_array, weights: sparse.csr_array, base: np.ndarray) -> np.ndarray:
        scores = _products(test, weights)
        scores += np.asarray(test.sum(axis=1)).ravel()[:, None] * base
        scores += self.prior
        return scores

    def _weights(self, alpha: float) -> tuple[sparse.csr_array, np.ndarray]:
        """log (count + alpha) - log alpha where there is a count (classes, features), and log alpha of each class."""
        from scipy import sparse

        counts, width = self.counts, self.counts.shape[1]
        base = np.log(alpha) - np.log(np.asarray(counts.sum(axis=1)).ravel() + alpha * width)
        logs = np.log1p(counts.data / alpha)
        return sparse.csr_array((logs, counts.indices, counts.indptr), shape=counts.shape), base


def _products(rows: sparse.csr_array, weights: sparse.csr_array) -> np.ndarray:
    """rows (n, features) times weights (classes, features): (n, classes).

    Sums are faster with dense weights: those of the features of these rows, a few classes at a time.
    """
    from scipy import sparse

    if not len(rows.indices):
        return np.zeros((rows.shape[0], weights.shape[0]))
    occurs = np.zeros(weights.shape[1], bool)
    occurs[rows.indices] = True
    seen, columns = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[rows.indices]
    own = sparse.csr_array((rows.data.astype(np.float64), columns, rows.indptr), shape=(rows.shape[0], len(seen)))
    some = weights[:, seen] if len(seen) < weights.shape[1] else weights
    step = max(1, MAX_BAYES_CELLS // len(seen))
    pieces = [own @ some[a : a + step].toarray().T.copy() for a in range(0, weights.shape[0], step)]
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)


def predict(
    train: sparse.csr_array,
    label: np.ndarray,
    test: sparse.csr_array,
    classes: int,
    alpha: float = 1.0,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """The most probable class of each test row by naive Bayes on training rows; ``shares`` as in ``Bayes.of``."""
    return Bayes.of(train, label, classes, shares).predict(test, alpha)
