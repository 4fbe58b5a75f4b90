"""From predictions to a result: scores, intervals and information."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe import __version__
from sentprobe.data.splits import Splits
from sentprobe.probes.baselines import CONSTANT_BASELINES
from sentprobe.probes.calibration import fit_temperature, scaled
from sentprobe.results.result import CONSTANT_INTERVAL, Cell, Result
from sentprobe.results.run import MAX_SAVED_CLASSES
from sentprobe.run.job import clusters_of
from sentprobe.stats.classification import accuracy, macro_f1
from sentprobe.stats.information import Information, information, prior
from sentprobe.stats.intervals import proportion_interval, wilson
from sentprobe.stats.means import ScoredRows

LogProbs = npt.NDArray[np.float32]
"""Log-probabilities, (n, classes)."""
Bools = npt.NDArray[np.bool_]


def calibrate(logs: LogProbs, dev_logs: LogProbs, dev_labels: npt.NDArray[np.int64]) -> tuple[LogProbs, float]:
    """Log-probabilities of test rows (n, classes) after temperature scaling on dev, and the temperature.

    Test labels are not used. If no label of dev is in train, the temperature is 1.
    """
    t = fit_temperature(dev_logs, dev_labels) if (dev_labels >= 0).any() else 1.0
    return scaled(logs, t), t


def information_of(logs: LogProbs, splits: Splits) -> Information:
    """The usable information about the labels in calibrated log-probabilities of the test rows (n, classes)."""
    labels = splits.test.labels
    # in folds these are all rows, as labels have equal shares in each; a rare one may have no index
    learned = splits.train.labels[splits.train.labels >= 0]
    return information(
        log2_of_true(logs, labels),
        labels,
        prior(learned, len(splits.labels)),
        clusters=clusters_of(splits.test),
    )


def log2_of_true(logs: LogProbs, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """log2 of the probabilities of the true labels (n,); minus infinity for a label that is not in train."""
    log2_probabilities: npt.NDArray[np.float64] = np.where(
        labels >= 0, logs[np.arange(len(logs)), labels] / np.log(2), -np.inf
    )
    return log2_probabilities


def without_interval(result: Result) -> Result:
    """The result of a constant baseline without an interval: its score is a fact of the set, not an estimate.

    Another sample would have other proportions of labels; the paired test accounts for what that does to a difference
    from the baseline, as it resamples both on the same rows.
    """
    if result.cell.encoder not in CONSTANT_BASELINES:
        return result
    return replace(result, interval=(result.score,) * 2, cluster_interval=None, interval_kind=CONSTANT_INTERVAL)


def saved_predictions(logs: npt.NDArray[np.float32], truth: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[Any]]:
    """The arrays to save of the log-probabilities (n, classes)."""
    predicted = logs.argmax(axis=1)
    rows = np.arange(len(logs))
    arrays = {
        "predicted": predicted.astype(np.int32),
        "truth": truth.astype(np.int32),
        "log2": log2_of_true(logs, truth).astype(np.float32),
        "confidence": np.exp(logs[rows, predicted]).astype(np.float16),
    }
    return (
        {**arrays, "probabilities": np.exp(logs).astype(np.float16)} if logs.shape[1] <= MAX_SAVED_CLASSES else arrays
    )


def classification_result(
    cell: Cell, splits: Splits, predicted: npt.NDArray[Any], truth: npt.NDArray[Any], baselines: Mapping[str, float]
) -> Result:
    """The result of a classifier with these predictions on the test rows (n)."""
    n = len(truth)
    correct = predicted == truth
    low, high = wilson(float(correct.sum()), n)
    clusters = clusters_of(splits.test) or []
    n_clusters = len(set(clusters))
    return Result(
        key=cell.key,
        cell=cell,
        language=splits.language,
        labels=splits.labels,
        n={**splits.sizes, "te": n},
        trained_on=splits.trained_on,
        chosen_on=splits.chosen_on,
        score=accuracy(predicted, truth),
        scores={"macro_f1": macro_f1(predicted, truth)},
        interval=(low, high),
        cluster_interval=_of_clusters(correct, clusters) if n_clusters > 1 else None,
        clusters=n_clusters or None,
        baselines=baselines,
        versions=versions(),
        synthetic=splits.synthetic,
        split=splits.split,
        merged_labels=splits.merged_labels,
    )


def _of_clusters(correct: Bools, clusters: Sequence[str]) -> tuple[float, float]:
    rows = ScoredRows.of(len(correct), clusters)
    return proportion_interval(rows.mean(correct), rows)


PACKAGES_OF_ENCODERS = ("torch", "transformers", "sentence_transformers")


def versions() -> dict[str, str]:
    """Versions of the packages that a score may depend on: numba if it is installed, others if they are loaded."""
    by_package = {"sentprobe": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "numba", *PACKAGES_OF_ENCODERS):
        module = sys.modules.get(name)
        if name == "numba" and (version := _numba()):  # which is loaded for the first network
            by_package[name] = version
        elif module is not None and isinstance(getattr(module, "__version__", None), str):
            by_package[name] = str(module.__version__)  # torch has a subclass of str
    return by_package


@cache
def _numba() -> str | None:
    try:
        return metadata.version("numba")
    except metadata.PackageNotFoundError:
        return None
