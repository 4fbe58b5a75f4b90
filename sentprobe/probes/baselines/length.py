"""Multinomial logistic regression on the number of tokens."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from sentprobe.data.splits import Splits
from sentprobe.probes.baselines.naive_bayes import choose

L2_STRENGTHS = (512.0, 64.0, 8.0, 1.0, 0.25)
"""Inverse strengths of the L2 penalty, scikit-learn's C. One feature is hard to overfit, so the weakest penalty comes
first."""


def predict_by_length(splits: Splits) -> tuple[np.ndarray, dict[str, object]]:
    """Predict labels (test rows,) from the number of tokens.

    Sentences of one length have the same scores, so the fit is over a table of lengths and labels, not over rows:
    unlike in scikit-learn, a thousand classes are as cheap as two.
    """
    train, dev, test = (np.array(rows.lengths, np.float64) for rows in (splits.train, splits.dev, splits.test))
    mean, deviation = float(train.mean()), float(train.std()) or 1.0
    lengths, of_row = np.unique(train, return_inverse=True)
    table = np.zeros((len(lengths), len(splits.labels)))
    np.add.at(table, (of_row, splits.train.labels), 1.0)

    def predict(strength: float, row_lengths: np.ndarray) -> np.ndarray:
        slope, intercept = _fit((lengths - mean) / deviation, table, strength)
        distinct, of_row = np.unique(row_lengths, return_inverse=True)
        scores = np.outer((distinct - mean) / deviation, slope) + intercept
        # classes of equal frequency and mean length tie: the first by name wins, not the last bit
        return np.asarray(scores.round(6).argmax(axis=1)[of_row])

    strength = choose(L2_STRENGTHS, predict, splits, dev)
    return predict(strength, test), {"C": strength, "feature": "tokens, standardised"}


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
    initial = np.concatenate([np.zeros(classes), np.log(table.sum(axis=0) / total)])
    options = {"maxiter": 5000, "maxfun": 10_000, "ftol": 1e-14, "gtol": 1e-9, "maxcor": 20}
    slope, intercept = minimize(loss, initial, jac=True, method="L-BFGS-B", options=options).x.reshape(2, classes)
    return slope, intercept
