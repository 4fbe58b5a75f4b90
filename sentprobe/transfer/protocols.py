"""SentEval's three ways to train and test a classifier: on given splits, by folds and a test set, and by nested folds.

With a probe of the kind ``network`` these are SentEval's own protocols, rounding included; early stopping inside a fold
uses the same rows that the fold is scored on, as SentEval's does. With ``linear`` the same folds choose the penalty,
and nothing is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import TooFewError
from sentprobe.probes import Features, Fit, Model, Probe, fit
from sentprobe.probes.fitting import refit

Ints = npt.NDArray[np.int64]

OUTER_SEED = 1111
"""The seed of the nested folds, which SentEval fixes."""
SETTINGS = ("l2", "hidden", "dropout")
"""What a point of a grid consists of."""


@dataclass(frozen=True)
class ProtocolResult:
    """Accuracies, predictions and choices of one protocol."""

    dev: float
    """Accuracy by which the grid point was chosen, in per cent, rounded as in SentEval."""
    test: float
    """Accuracy on the test rows, in per cent, rounded as in SentEval."""
    scores: npt.NDArray[np.float32]
    """Log-probabilities of the classes for each test row, (n, classes)."""
    chosen: tuple[Mapping[str, Any], ...]
    """The grid point that was chosen, per outer fold."""
    fold_accuracies: tuple[float, ...] = ()
    """Test accuracy on each outer fold, a share of one."""
    fold_devs: tuple[float, ...] = ()
    """``dev`` of each outer fold, in per cent."""
    tried: tuple[tuple[Mapping[str, Any], float], ...] = ()
    """The grid points and their accuracies on dev, in per cent; not of nested folds."""


def folds(labels: Ints, k: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """(training rows, test rows), k times, each in ascending order; every row is tested once.

    Folds are stratified by labels (n,), and the same as those of scikit-learn's
    ``StratifiedKFold(k, shuffle=True, random_state=seed)``.
    """
    _, first_rows, classes = np.unique(labels, return_index=True, return_inverse=True)
    # scikit-learn numbers classes in order of first occurrence, and shuffles class by class in this order
    classes = np.argsort(np.argsort(first_rows))[classes]
    counts = np.bincount(classes)
    if k < 2 or counts.max(initial=0) < k:
        raise TooFewError(
            f"{k} folds cannot be made of {len(labels)} rows, the largest class of which has {counts.max(initial=0)}; "
            "expected at least two folds, and as many rows of a class as folds."
        )
    sorted_classes = np.sort(classes)
    quotas = np.array([np.bincount(sorted_classes[i::k], minlength=len(counts)) for i in range(k)])
    rng = np.random.RandomState(seed)
    fold = np.empty(len(labels), np.int64)
    for c in range(len(counts)):
        folds_of_class = np.arange(k).repeat(quotas[:, c])
        rng.shuffle(folds_of_class)
        fold[classes == c] = folds_of_class
    for i in range(k):
        yield np.flatnonzero(fold != i), np.flatnonzero(fold == i)


@dataclass(frozen=True)
class ProbeEvaluation:
    """A probe that is trained and tested by one of the protocols."""

    probe: Probe
    classes: int
    seed: int
    device: str | None = None

    def split(
        self, train: Features, labels: Ints, dev: Features, dev_labels: Ints, test: Features, test_labels: Ints
    ) -> ProtocolResult:
        """Train, choose and test on given splits: rows (n, d), with labels (n,), of each."""
        fitted = self._fit(train, labels, dev, dev_labels)
        scores = fitted.model.scores(test)
        tried = tuple((point, _percent(point["accuracy"])) for point in fitted.tried)
        return ProtocolResult(
            _percent(fitted.dev), _accuracy(scores, test_labels), scores, (fitted.chosen,), tried=tried
        )

    def kfold(self, train: Features, labels: Ints, test: Features, test_labels: Ints, *, k: int) -> ProtocolResult:
        """Choose by cross-validation on the training rows (n, d), train on all of them, and test."""
        dev, point, tried = self._choose(train, labels, list(folds(labels, k, self.seed)))
        scores = self._refit(point, train, labels).scores(test)
        return ProtocolResult(dev, _accuracy(scores, test_labels), scores, (point,), tried=tried)

    def nested(self, rows: Features, labels: Ints, *, k: int) -> ProtocolResult:
        """Test on each of k folds of rows (n, d); choose by cross-validation on the others, and train on these."""
        scores = np.empty((len(rows), self.classes), np.float32)
        devs, tests, chosen, accuracies = [], [], [], []
        for outer, held_out in folds(labels, k, OUTER_SEED):
            train, train_labels = rows.select(outer), labels[outer]
            dev, point, _ = self._choose(train, train_labels, list(folds(train_labels, k, OUTER_SEED)))
            scores[held_out] = self._refit(point, train, train_labels).scores(rows.select(held_out))
            devs.append(dev)
            tests.append(_accuracy(scores[held_out], labels[held_out]))
            accuracies.append(_share_correct(scores[held_out], labels[held_out]))
            chosen.append(point)
        # numpy's rounding and not Python's, as in SentEval: they differ for means that end in 5
        mean_dev, mean_test = (float(np.round(np.mean(values), 2)) for values in (devs, tests))
        return ProtocolResult(mean_dev, mean_test, scores, tuple(chosen), tuple(accuracies), tuple(devs))

    def _choose(
        self, train: Features, labels: Ints, inner_folds: Sequence[tuple[Ints, Ints]]
    ) -> tuple[float, Mapping[str, Any], tuple[tuple[Mapping[str, Any], float], ...]]:
        """The best mean accuracy over folds, in per cent, the first grid point that has it, and those of all points.

        A point that a fold has not tried, because dev was sure that it is worse, is not chosen.
        """
        tried: list[dict[tuple[Any, ...], float]] = []
        for inner, held_out in inner_folds:
            fitted = self._fit(train.select(inner), labels[inner], train.select(held_out), labels[held_out])
            tried.append({tuple(point.get(name) for name in SETTINGS): point["accuracy"] for point in fitted.tried})
        means = {
            point: float(np.round(100 * np.mean([fold[point] for fold in tried]), 2))
            for point in tried[0]
            if all(point in fold for fold in tried)
        }
        best = max(means, key=lambda point: means[point])
        points = {point: {k: v for k, v in zip(SETTINGS, point, strict=True) if v is not None} for point in means}
        return means[best], points[best], tuple((points[point], mean) for point, mean in means.items())

    def _fit(self, train: Features, labels: Ints, dev: Features, dev_labels: Ints) -> Fit:
        return fit(self.probe, train, labels, dev, dev_labels, self.classes, seeds=(self.seed,), device=self.device)[0]

    def _refit(self, point: Mapping[str, Any], train: Features, labels: Ints) -> Model:
        """Fit one point of the grid on all training rows, except the few used for early stopping."""
        grid_of_one: dict[str, Any] = {name: (value,) for name, value in point.items()}
        probe = replace(self.probe, **grid_of_one)
        return refit(probe, train, labels, self.classes, seed=self.seed, device=self.device)


def _share_correct(scores: npt.NDArray[np.float32], labels: Ints) -> float:
    """The share of rows whose label (n,) has the highest score, (n, classes)."""
    return float((scores.argmax(axis=1) == labels).mean())


def _accuracy(scores: npt.NDArray[np.float32], labels: Ints) -> float:
    return _percent(_share_correct(scores, labels))


def _percent(share: float) -> float:
    return round(100 * share, 2)
