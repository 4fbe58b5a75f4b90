"""Multinomial logistic regression on the number of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from sentprobe.data.splits import Splits
from sentprobe.probes.baselines.naive_bayes import choose

L2_STRENGTHS = (512.0, 64.0, 8.0, 1.0, 0.25)
"""Inverse strengths of the L2 penalty, scikit-learn's C. One feature is hard to overfit, so the weakest penalty comes
first."""


@dataclass(frozen=True)
class _Lengths:
    """The training rows as a table of lengths and labels: rows of one length have the same scores.

    The fit is over the table, not over rows: unlike in scikit-learn, a thousand classes are as cheap as two.
    """

    lengths: np.ndarray
    table: np.ndarray
    """How many rows of each length have each label, (lengths, classes)."""
    mean: float
    deviation: float

    @classmethod
    def of(cls, rows: np.ndarray, labels: np.ndarray, classes: int) -> _Lengths:
        """The table of rows, given their lengths and labels (n,)."""
        lengths, of_row = np.unique(rows, return_inverse=True)
        table = np.zeros((len(lengths), classes))
        np.add.at(table, (of_row, labels), 1.0)
        return cls(lengths, table, float(rows.mean()), float(rows.std()) or 1.0)

    def fit(self, strength: float) -> tuple[np.ndarray, np.ndarray]:
        """Slopes and intercepts (classes,)."""
        return _fit((self.lengths - self.mean) / self.deviation, self.table, strength)

    def predict(self, weights: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> np.ndarray:
        """The class of each of other rows, given their lengths (n,)."""
        slope, intercept = weights
        distinct, of_row = np.unique(rows, return_inverse=True)
        scores = np.outer((distinct - self.mean) / self.deviation, slope) + intercept
        # classes of equal frequency and mean length tie: the first by name wins, not the last bit
        return np.asarray(scores.round(6).argmax(axis=1)[of_row])


def _read(splits: Splits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lengths of train, dev and test."""
    train, dev, test = (np.array(rows.lengths, np.float64) for rows in (splits.train, splits.dev, splits.test))
    return train, dev, test


def predict_by_length(splits: Splits) -> tuple[np.ndarray, dict[str, object]]:
    """Predict labels (test rows,) from the number of tokens."""
    train, dev, test = _read(splits)
    table = _Lengths.of(train, splits.train.labels, len(splits.labels))

    def predict(strength: float, rows: np.ndarray) -> np.ndarray:
        return table.predict(table.fit(strength), rows)

    strength = choose(L2_STRENGTHS, predict, splits, dev)
    return predict(strength, test), {"C": strength, "feature": "tokens, standardised"}


def retrain_by_length(
    splits: Splits, subsets: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, Iterator[np.ndarray]]:
    """Predictions for dev and test (strengths, n) with each penalty, and for test (n,) trained on subsets of train.

    A subset has the penalty that dev chooses for all rows.
    """
    train, dev, test = _read(splits)
    classes = len(splits.labels)
    table = _Lengths.of(train, splits.train.labels, classes)
    fits = [table.fit(strength) for strength in L2_STRENGTHS]
    on_dev, on_test = (np.array([table.predict(weights, rows) for weights in fits]) for rows in (dev, test))
    strength = choose(L2_STRENGTHS, lambda strength, _: on_dev[L2_STRENGTHS.index(strength)], splits, dev)
    tables = (_Lengths.of(train[subset], splits.train.labels[subset], classes) for subset in subsets)
    return on_dev, on_test, (part.predict(part.fit(strength), test) for part in tables)


def _fit(x: np.ndarray, table: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Slopes and intercepts (classes,) of a logistic regression on values x (n,) with counts ``table`` (n, classes).

    The intercepts are not penalised, as in scikit-learn.
    """
    classes, per_value, total = table.shape[1], table.sum(axis=1, keepdims=True), table.sum()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        slope, intercept = weights.reshape(2, classes)
        logs = log_softmax(np.outer(x, slope) + intercept, axis=1)
        excess = per_value * np.exp(logs) - table
        value = 0.5 / strength * (slope @ slope) - (table * logs).sum()
        return float(value / total), np.concatenate([x @ excess + slope / strength, excess.sum(axis=0)]) / total

    # intercepts that give the classes' shares: the optimum without slopes
    # (a class without rows in a part of the rows: less than one)
    initial = np.concatenate([np.zeros(classes), np.log(np.maximum(table.sum(axis=0), 1e-3) / total)])
    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 20}
    slope, intercept = minimize(loss, initial, jac=True, method="L-BFGS-B", options=options).x.reshape(2, classes)
    return slope, intercept
