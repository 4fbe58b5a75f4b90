"""SentEval's three ways to train and test a classifier, as classes: on given splits, by folds, and by nested folds.

SentEval's own classifier is left to ``sentprobe.transfer.protocols``, which fits the grid at once. scikit-learn's, and
optimisers that only torch has, are fitted one by one here.
"""

# ruff: noqa: N803, N806 - the capital letters are SentEval's

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sentprobe.errors import NotInstalled
from sentprobe.probes import Features
from sentprobe.probes.network import EARLY_STOPPING_SHARE
from sentprobe.senteval.encoding import Array
from sentprobe.senteval.tools.classifier import (
    MLP,
    floats,
    grid_of,
    integers,
    is_fast,
    probe_of,
    protocol_of,
    warn_unknown_keys,
)
from sentprobe.senteval.utils import dotdict
from sentprobe.transfer.protocols import OUTER_SEED, Ints, ProbeEvaluation, folds

__all__ = ["InnerKFoldClassifier", "KFoldClassifier", "SplitClassifier", "get_classif_name"]

log = logging.getLogger("senteval")

_FOLD_MESSAGE = "Best param found at split %s: l2reg = %s                 with score %s"
_KFOLD_MESSAGE = "Cross-validation : best param found is reg = %s             with score %s"
_SPLIT_MESSAGE = "Validation : best param found is reg = %s with score             %s"


def task_config(params: dotdict, seed: int, nclasses: int, **further: Any) -> dict[str, Any]:
    """The configuration of a task's classifier, with SentEval's keys; ``further`` adds to them or replaces some."""
    shared = ("usepytorch", "classifier", "nhid", "kfold")
    return {"nclasses": nclasses, "seed": seed, **{key: params.get(key) for key in shared}, **further}


def accuracies(params: dotdict, dev: Any, test: Any, ndev: int, ntest: int, **further: Any) -> dict[str, Any]:
    """The results of a classification task, with SentEval's keys."""
    return {"devacc": dev, "acc": test, **further, "ndev": ndev, "ntest": ntest, **protocol_of(params.classifier)}


def as_labels(predicted: Array) -> Array:
    """Predicted labels, (n, 1) or (n,), as integers (n,); NaN stays as it is."""
    labels = np.ravel(predicted)
    return labels if np.isnan(labels).any() else integers(labels)


def get_classif_name(classifier_config: Mapping[str, Any], usepytorch: bool) -> str:
    """The name of a classifier in the log."""
    if not usepytorch and not is_fast(classifier_config):
        return "sklearn-LogReg"
    optim, size = classifier_config.get("optim", "adam"), classifier_config.get("batch_size", 64)
    return f"pytorch-MLP-nhid{classifier_config['nhid']}-{optim}-bs{size}"


class _Classifier:
    """What the three share: the configuration, and fitting one classifier."""

    def __init__(self, dimensions: int, config: Mapping[str, Any]) -> None:
        self.featdim = dimensions
        self.nclasses: int = config["nclasses"]
        self.seed: int = config["seed"]
        self.usepytorch: bool = config["usepytorch"]
        self.classifier_config: Mapping[str, Any] = config["classifier"]
        self.device: str | None = self.classifier_config.get("device")
        warn_unknown_keys(self.classifier_config)
        self.modelname = get_classif_name(self.classifier_config, self.usepytorch)
        self.k: int = config.get("kfold", 5)

    def _is_finite(self, *rows: Array) -> bool:
        """Whether there is no NaN or infinity in the rows, on which nothing can be trained: accuracies are then NaN."""
        finite = all(np.isfinite(matrix).all() for matrix in rows)
        if not finite:
            log.error("%s was not trained: the vectors have NaN or infinity", self.modelname)
        return finite

    def _evaluation(self, *, unregularised: bool = False) -> ProbeEvaluation | None:
        """The probe and how it is evaluated, unless classifiers have to be fitted one by one."""
        if not self.usepytorch and not is_fast(self.classifier_config):
            return None
        probe = probe_of(self.classifier_config, unregularised=unregularised)
        return ProbeEvaluation(probe, self.nclasses, self.seed, self.device) if probe else None

    def _learn(self, X: Array, y: Ints, reg: float, dev: tuple[Array, Ints] | None = None) -> Any:
        """One classifier; without dev rows, torch stops on a few of the others."""
        if not self.usepytorch:
            return _logistic(reg, self.seed).fit(X, y)
        model = MLP(self.classifier_config, self.featdim, self.nclasses, l2reg=reg, seed=self.seed, device=self.device)
        model.fit(X, y, validation_data=dev, validation_split=None if dev else EARLY_STOPPING_SHARE)
        return model

    def _choose(self, X: Array, y: Ints, inner_folds: Iterable[tuple[Ints, Ints]], grid: Sequence[float]) -> Any:
        """The best mean accuracy over folds, in per cent, the first of the grid that has it, and those of all."""
        pairs = list(inner_folds)
        scores = []
        for reg in grid:
            of_folds = [self._learn(X[a], y[a], reg, (X[b], y[b])).score(X[b], y[b]) for a, b in pairs]
            scores.append(round(100 * np.mean(of_folds), 2))
        best = int(np.argmax(scores))
        return scores[best], grid[best], list(zip(grid, map(float, scores), strict=True))


def _log_choice(message: str, tried: Iterable[tuple[float, float]], reg: float, dev: float) -> None:
    """Log the scores of the grid on dev, and what was chosen."""
    log.info("%s", [(f"reg:{point}", score) for point, score in tried])
    log.info(message, reg, dev)
    log.info("Evaluating...")


class InnerKFoldClassifier(_Classifier):
    """Nested folds of the rows ``X`` (n, d) with labels ``y``; ``predicted`` are the labels of the outer folds."""

    predicted: Array

    def __init__(self, X: Any, y: Any, config: Mapping[str, Any]) -> None:
        self.X, self.y = np.asarray(X), integers(y)
        self.devresults: list[float] = []
        self.testresults: list[float] = []
        super().__init__(self.X.shape[1], config)

    def run(self) -> tuple[Any, Any]:
        """Accuracies in per cent: of the inner folds, which chose, and of the outer ones."""
        log.info("Training %s with (inner) %s-fold cross-validation", self.modelname, self.k)
        if not self._is_finite(self.X):
            self.predicted = np.full(len(self.y), np.nan)
            return np.float64(np.nan), np.float64(np.nan)
        if evaluation := self._evaluation():
            result = evaluation.nested(Features.of(floats(self.X)), self.y, k=self.k)
            for i, (point, dev) in enumerate(zip(result.chosen, result.fold_devs, strict=True), 1):
                log.info(_FOLD_MESSAGE, i, point["l2"], dev)
            self.predicted = result.scores.argmax(axis=1)
            self.devresults = list(result.fold_devs)
            self.testresults = [round(100 * share, 2) for share in result.fold_accuracies]
            return np.float64(result.dev), np.float64(result.test)
        grid = grid_of(self.classifier_config) if self.usepytorch else _powers(-2, 3)
        devs, tests = [], []
        self.predicted = np.empty_like(self.y)
        for i, (outer, held_out) in enumerate(folds(self.y, self.k, OUTER_SEED), 1):
            X, y = self.X[outer], self.y[outer]
            dev, reg, _ = self._choose(X, y, folds(y, self.k, OUTER_SEED), grid)
            log.info(_FOLD_MESSAGE, i, reg, dev)
            devs.append(dev)
            model = self._learn(X, y, reg)
            tests.append(round(100 * model.score(self.X[held_out], self.y[held_out]), 2))
            self.predicted[held_out] = np.ravel(model.predict(self.X[held_out]))
        self.devresults, self.testresults = devs, tests
        return round(np.mean(devs), 2), round(np.mean(tests), 2)


class KFoldClassifier(_Classifier):
    """Folds of the training rows choose; ``train`` and ``test`` are dictionaries of ``X`` (n, d) and ``y``."""

    def __init__(self, train: Mapping[str, Any], test: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.train, self.test = _arrays(train), _arrays(test)
        super().__init__(self.train["X"].shape[1], config)

    def run(self) -> tuple[Any, float, Array]:
        """Accuracies in per cent, of the folds and of the test rows; and the labels that were predicted for these."""
        log.info("Training %s with %s-fold cross-validation", self.modelname, self.k)
        X, y, testX, testy = self.train["X"], self.train["y"], self.test["X"], self.test["y"]
        if not self._is_finite(X, testX):
            return np.float64(np.nan), np.nan, np.full((len(testy), 1), np.nan)
        if evaluation := self._evaluation():
            train, test = (Features.of(floats(rows)) for rows in (X, testX))
            result = evaluation.kfold(train, y, test, testy, k=self.k)
            tried = [(point["l2"], dev) for point, dev in result.tried]
            _log_choice(_KFOLD_MESSAGE, tried, result.chosen[0]["l2"], result.dev)
            return np.float64(result.dev), result.test, result.scores.argmax(axis=1)[:, None].astype(np.float64)
        grid = grid_of(self.classifier_config) if self.usepytorch else _powers(-1, 5)
        dev, reg, tried = self._choose(X, y, folds(y, self.k, self.seed), grid)
        _log_choice(_KFOLD_MESSAGE, tried, reg, dev)
        model = self._learn(X, y, reg)
        return np.float64(dev), round(100 * model.score(testX, testy), 2), model.predict(testX)


class SplitClassifier(_Classifier):
    """Given splits: ``X`` and ``y`` are dictionaries with ``train``, ``valid`` and ``test``.

    ``predicted`` are the labels of the test rows.
    """

    predicted: Array

    def __init__(self, X: Mapping[str, Any], y: Mapping[str, Any], config: Mapping[str, Any]) -> None:
        self.X = {split: np.asarray(rows) for split, rows in X.items()}
        self.y = {split: integers(labels) for split, labels in y.items()}
        self.cudaEfficient: bool = config.get("cudaEfficient", False)
        self.noreg: bool = config.get("noreg", False)
        self.config = config
        super().__init__(self.X["train"].shape[1], config)

    def run(self) -> tuple[Any, float]:
        """Accuracies in per cent, of the dev rows and of the test rows."""
        log.info("Training %s with standard validation..", self.modelname)
        (X, y), dev, (testX, testy) = ((self.X[split], self.y[split]) for split in ("train", "valid", "test"))
        if not self._is_finite(X, dev[0], testX):
            self.predicted = np.full(len(testy), np.nan)
            return np.float64(np.nan), np.nan
        if evaluation := self._evaluation(unregularised=self.noreg):
            train, dev_rows, test = (Features.of(floats(rows)) for rows in (X, dev[0], testX))
            result = evaluation.split(train, y, dev_rows, dev[1], test, testy)
            tried = [(point["l2"], accuracy) for point, accuracy in result.tried]
            _log_choice(_SPLIT_MESSAGE, tried, result.chosen[0]["l2"], result.dev)
            self.predicted = result.scores.argmax(axis=1)
            return np.float64(result.dev), result.test
        grid: Sequence[float] = _powers(-2, 3) if not self.noreg else [1e9]
        if self.usepytorch:
            grid = grid_of(self.classifier_config, unregularised=self.noreg)
        models = [self._learn(X, y, reg, dev) for reg in grid]
        scores = [round(100 * model.score(*dev), 2) for model in models]
        best = int(np.argmax(scores))
        _log_choice(_SPLIT_MESSAGE, zip(grid, map(float, scores), strict=True), grid[best], scores[best])
        self.predicted = integers(np.ravel(models[best].predict(testX)))
        return np.float64(scores[best]), round(100 * models[best].score(testX, testy), 2)


def _arrays(split: Mapping[str, Any]) -> dict[str, Array]:
    return {"X": np.asarray(split["X"]), "y": integers(split["y"])}


def _powers(low: int, high: int) -> list[float]:
    """Powers of two, which are what the inverse of the penalty is chosen from in scikit-learn."""
    return [2.0**power for power in range(low, high + 1)]


def _logistic(inverse: float, seed: int) -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as why:
        raise NotInstalled(
            f"usepytorch=False needs scikit-learn, which cannot be imported ({why}): pip install scikit-learn, or "
            "leave usepytorch out: SentEval's other classifier needs neither it nor torch."
        ) from why
    return LogisticRegression(C=inverse, random_state=seed)
