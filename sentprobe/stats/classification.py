"""Classification metrics: accuracy, macro-averaged F1, bits, and the confusion matrix.

Classes are numbered from 0. A truth of -1 is a label that is not in train: whatever is predicted is wrong.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.stats import inputs
from sentprobe.stats.correlation import ranks
from sentprobe.stats.resample import Floats

Numbers = npt.NDArray[np.int64]

MOST_BITS = 52.0
"""The most a row can cost: a probability below 2^-52 counts as that, as in scikit-learn's log loss in float64.

Without it, one row whose label was given a probability of 0 would make the mean infinite.
"""
ABOVE_ONE = 1e-3
"""How far above 0 the logarithm of a probability may be by rounding."""


def correct(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Whether the prediction of each row (n) is correct."""
    p, t = _both(predicted, truth)
    return np.equal(p, t)


def accuracy(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """The share of rows (n) whose prediction is correct."""
    return float(correct(predicted, truth).mean())


def confusion(predicted: npt.ArrayLike, truth: npt.ArrayLike, classes: int) -> Numbers:
    """The confusion matrix (classes + 1, classes): how many rows of each true class were predicted as each class.

    The last row, which is also row -1, is for labels that are not in train.
    """
    p, t = _both(predicted, truth)
    if max(p.max(), t.max()) >= classes:
        raise DataError(f"Expected classes 0 … {classes - 1}, got {max(p.max(), t.max())}.")
    table = np.zeros((classes + 1, classes), np.int64)
    np.add.at(table, (t, p), 1)
    return table


def macro_f1(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """The mean F1 of the classes in truth or prediction; labels that are not in train are one more class, with F1 0."""
    p, t = _both(predicted, truth)
    classes = 2 + int(max(p.max(), t.max()))
    hits, predictions, truths = (np.bincount(rows + 1, minlength=classes) for rows in (t[p == t], p, t))
    present = predictions + truths > 0
    return float((2 * hits[present] / (predictions + truths)[present]).mean())


def balanced_accuracy(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """The mean over the classes in truth of the share of their rows that is predicted correctly.

    Labels that are not in train are one more class, all wrong. As scikit-learn's ``balanced_accuracy_score``.
    """
    p, t = _both(predicted, truth)
    classes = 2 + int(t.max())
    hits, truths = (np.bincount(rows + 1, minlength=classes) for rows in (t[p == t], t))
    present = truths > 0
    return float((hits[present] / truths[present]).mean())


def matthews(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """Matthews' correlation of predictions and truth (n), for any number of classes; 0 if either is constant.

    Gorodkin's R_K (2004, Comput. Biol. Chem. 28:367). As scikit-learn's ``matthews_corrcoef``.
    """
    p, t = _both(predicted, truth)
    n, classes = float(len(p)), 2 + int(max(p.max(), t.max()))
    predictions, truths = (np.bincount(rows + 1, minlength=classes).astype(np.float64) for rows in (p, t))
    spread = (n * n - predictions @ predictions) * (n * n - truths @ truths)
    return float((n * np.count_nonzero(p == t) - predictions @ truths) / math.sqrt(spread)) if spread > 0 else 0.0


def auc(probabilities: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """The area under the ROC curve of each class against the others, the mean over classes; NaN if no class has one.

    From probabilities (n, classes); equal ones count half. A label that is not in train (-1) belongs to the others of
    every class. As scikit-learn's ``roc_auc_score`` with ``multi_class="ovr"``.
    """
    scores, t = np.asarray(probabilities, np.float64), inputs.classes(truth, "truth", minimum=-1)
    if scores.ndim != 2 or len(scores) != len(t) or t.max() >= scores.shape[1]:
        raise DataError(f"probabilities must be (rows, classes) for {len(t)} rows, got {scores.shape}.")
    of_class = t == np.arange(scores.shape[1])[:, None]
    positive = of_class.sum(axis=1)
    both = (positive > 0) & (positive < len(t))
    if not both.any():
        return math.nan
    sums = (ranks(scores.T[both]) * of_class[both]).sum(axis=1)
    positive = positive[both]
    return float(((sums - positive * (positive + 1) / 2) / (positive * (len(t) - positive))).mean())


def bits(log_probs: npt.ArrayLike, truth: npt.ArrayLike) -> Floats:
    """The cost of the true class of each row (n) in bits, from natural logarithms of probabilities (n, classes).

    A row costs ``MOST_BITS`` at most, and exactly that if its label is not in train.
    """
    logs, t = np.asarray(log_probs), inputs.classes(truth, "truth", minimum=-1)
    if logs.ndim != 2 or len(logs) != len(t) or t.max() >= logs.shape[1]:
        raise DataError(f"log_probs must be (rows, classes) for {len(t)} rows up to class {t.max()}, got {logs.shape}.")
    if not logs.max() <= ABOVE_ONE:
        raise DataError("log_probs must be logarithms of probabilities, at most 0; got NaN or numbers above 0.")
    of_truth = np.where(t < 0, -np.inf, logs[np.arange(len(t)), t].astype(np.float64))
    return (of_truth / -math.log(2)).clip(0.0, MOST_BITS)


def log2_loss(log_probs: npt.ArrayLike, truth: npt.ArrayLike) -> float:
    """The mean cost of a row in bits, by ``bits``."""
    return float(bits(log_probs, truth).mean())


def _both(predicted: npt.ArrayLike, truth: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    p, t = inputs.classes(predicted, "predicted", minimum=0), inputs.classes(truth, "truth", minimum=-1)
    inputs.check_same_shape(p, "predicted", t, "truth")
    return p, t
