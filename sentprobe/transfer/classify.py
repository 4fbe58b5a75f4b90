"""SentEval's three ways to train and test a classifier: on given splits, by folds and a test set, and by nested folds.

With a probe of the kind ``network`` these are SentEval's own protocols, rounding included; early stopping inside a fold
uses the same rows that the fold is scored on, as SentEval's does. With ``linear`` the same folds choose the penalty,
and nothing is stopped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.probes import Features, Model, Probe, fit
from sentprobe.probes.fit import refit
from sentprobe.transfer.folds import Ints, folds

OUTER_SEED = 1111
"""The seed of the nested folds, which SentEval fixes."""
SETTINGS = ("l2", "hidden", "dropout")
"""What a point of a grid consists of."""


@dataclass(frozen=True)
class Outcome:
    """The result of a protocol."""

    dev: float
    """Accuracy by which the grid point was chosen, in per cent, rounded as in SentEval."""
    test: float
    """Accuracy on the test rows, in per cent, rounded as in SentEval."""
    scores: npt.NDArray[np.float32]
    """Log-probabilities of the classes for each test row, (n, classes)."""
    chosen: tuple[Mapping[str, Any], ...]
    """The grid point that was chosen, per outer fold."""
    parts: tuple[float, ...] = ()
    """Accuracy of each outer fold, a share of one."""
    devs: tuple[float, ...] = ()
    """The same for each outer fold, in per cent."""


def split(
    probe: Probe, train: Features, labels: Ints, dev: Features, dev_labels: Ints, test: Features, test_labels: Ints,
    classes: int, *, seed: int, device: str | None = None,
) -> Outcome:  # fmt: skip
    """Train, choose and test on given splits."""
    found = fit(probe, train, labels, dev, dev_labels, classes, seeds=(seed,), device=device)[0]
    scores = found.model.scores(test)
    return Outcome(_points(found.dev), _accuracy(scores, test_labels), scores, (found.chosen,))


def kfold(
    probe: Probe, train: Features, labels: Ints, test: Features, test_labels: Ints, classes: int, *, k: int, seed: int,
    device: str | None = None,
) -> Outcome:  # fmt: skip
    """Choose by cross-validation on the training rows, train on all of them, and test."""
    dev, point = _choose(probe, train, labels, classes, list(folds(labels, k, seed)), seed, device)
    scores = _refit(probe, point, train, labels, classes, seed, device).scores(test)
    return Outcome(dev, _accuracy(scores, test_labels), scores, (point,))


def nested(
    probe: Probe, rows: Features, labels: Ints, classes: int, *, k: int, seed: int, device: str | None = None
) -> Outcome:
    """Test on each of k folds; choose by cross-validation on the others, and train on these."""
    scores = np.empty((len(rows), classes), np.float32)
    devs, tests, chosen, parts = [], [], [], []
    for outer, held in folds(labels, k, OUTER_SEED):
        train, of_train = rows.select(outer), labels[outer]
        dev, point = _choose(probe, train, of_train, classes, list(folds(of_train, k, OUTER_SEED)), seed, device)
        scores[held] = _refit(probe, point, train, of_train, classes, seed, device).scores(rows.select(held))
        devs.append(dev)
        tests.append(_accuracy(scores[held], labels[held]))
        parts.append(float((scores[held].argmax(axis=1) == labels[held]).mean()))
        chosen.append(point)
    # numpy's rounding and not Python's, as in SentEval: they differ for means that end in 5
    return Outcome(
        float(np.round(np.mean(devs), 2)), float(np.round(np.mean(tests), 2)), scores, tuple(chosen), tuple(parts),
        tuple(devs),
    )  # fmt: skip


def _choose(
    probe: Probe, train: Features, labels: Ints, classes: int, parts: Sequence[tuple[Ints, Ints]], seed: int,
    device: str | None,
) -> tuple[float, Mapping[str, Any]]:  # fmt: skip
    """The best mean accuracy over folds, in per cent, and the first grid point that has it.

    A point that a fold has not tried, because dev was sure that it is worse, is not chosen.
    """
    tried: list[dict[tuple[Any, ...], float]] = []
    for inner, held in parts:
        given = (train.select(inner), labels[inner], train.select(held), labels[held], classes)
        points = fit(probe, *given, seeds=(seed,), device=device)[0].tried
        tried.append({tuple(point.get(name) for name in SETTINGS): point["accuracy"] for point in points})
    means = {
        point: float(np.round(100 * np.mean([fold[point] for fold in tried]), 2))
        for point in tried[0]
        if all(point in fold for fold in tried)
    }
    best = max(means, key=lambda point: means[point])
    return means[best], {name: value for name, value in zip(SETTINGS, best, strict=True) if value is not None}


def _refit(
    probe: Probe, point: Mapping[str, Any], train: Features, labels: Ints, classes: int, seed: int, device: str | None
) -> Model:
    """Fit one point of the grid on all training rows, except the few used for early stopping."""
    only: dict[str, Any] = {name: (value,) for name, value in point.items()}
    return refit(replace(probe, **only), train, labels, classes, seed=seed, device=device)


def _accuracy(scores: npt.NDArray[np.float32], labels: Ints) -> float:
    return _points(float((scores.argmax(axis=1) == labels).mean()))


def _points(share: float) -> float:
    return round(100 * share, 2)
