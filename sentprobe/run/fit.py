"""The cells of a fit job: features of its splits → fitted probes → predictions on the test rows → results.

    FitJob ──fit_probes──▶ Fit per cell ──predict──▶ Predictions ──score──▶ Result and the arrays to save
                           once for each fold        of all folds, in the order of the set

With cross-validation the folds of a set are fitted one after the other, and all rows are scored together, once. Vectors
are those of the set's texts, whatever fold a text is in, so nothing is encoded again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sentprobe.data.folds import in_order_of_set
from sentprobe.data.splits import Splits
from sentprobe.probes import Features, Fit, Model, fit
from sentprobe.probes.convex import Linear
from sentprobe.probes.fitting import MAX_SAVED_BYTES, from_arrays, to_arrays
from sentprobe.probes.kind import kind_of
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import FOLD_ARRAY, Arrays
from sentprobe.run.job import FitJob, clusters_of, split_features, statistics_of
from sentprobe.run.resample import (
    Groups,
    about_encoder,
    groups_to_leave_out,
    join_retrained,
    pack_resamples,
    retrain,
    retrain_baseline,
)
from sentprobe.run.scoring import (
    LogProbs,
    calibrate,
    classification_result,
    information_of,
    log2_of_true,
    saved_predictions,
    without_interval,
)
from sentprobe.stats.classification import log2_loss
from sentprobe.stats.training import Retrained

if TYPE_CHECKING:
    from sentprobe.probes.baselines.predict import Baselines

CENTRE_ROWS = 512
"""Rows whose mean is close enough to the mean of all."""

Finished = tuple[Result, Arrays, Arrays | None]
"""A result, its predictions, and its probe if that is saved."""


@dataclass(frozen=True)
class Predictions:
    """What a fitted probe says about the test rows of a split or of a fold, with the probe as it is saved."""

    fitted: Fit
    logs: LogProbs
    """Log-probabilities of the test rows, (n, classes)."""
    calibrated: LogProbs | None
    """The same at the temperature that fits dev; None if the test rows are the training rows."""
    temperature: float
    dimension: int
    saved_probe: Arrays | None
    """None if the probe is too large to be saved."""
    retrained: Retrained | str | None
    """The test rows that retrained probes have right, or why there are none; None if none were requested."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    folds: tuple[Fit, ...] = ()
    """The probe of each fold."""


def probe_cells(job: FitJob, *, trained: Fit | None = None, statistics: bool = False) -> list[Finished]:
    """Fit and score the cells of a job, in order: each with its predictions and, if it is small enough, its probe.

    With ``trained`` nothing is fitted, and that probe is scored. ``statistics`` says that the training rows are the
    plain ones, so that the linear probe can use their shared statistics.
    """
    if job.splits.folds:
        groups = groups_to_leave_out(job)
        folds = [probe_split(job.of_fold(i), groups=groups) for i in range(len(job.splits.folds))]
        return folded_cells(job, folds)
    predictions = probe_split(job, trained=trained, statistics=statistics, groups=groups_to_leave_out(job))
    return [finish(job, cell, of_cell) for cell, of_cell in zip(job.cells, predictions, strict=True)]


def folded_cells(job: FitJob, folds: Sequence[Sequence[Predictions]]) -> list[Finished]:
    """Score the cells of a job on all rows of its set, given the predictions of every fold for each cell."""
    return [
        finish(job, cell, join_folds(job.splits, of_cell))
        for cell, of_cell in zip(job.cells, zip(*folds, strict=True), strict=True)
    ]


def probe_split(
    job: FitJob, *, trained: Fit | None = None, statistics: bool = False, groups: Groups = None
) -> list[Predictions]:
    """Fit the cells of a job on its splits, and predict the test rows; ``groups`` of its rows are left out in turn."""
    features = split_features(job)
    started = time.perf_counter()
    fits = [trained] * len(job.cells) if trained is not None else fit_probes(job, features, statistics)
    fit_seconds = (time.perf_counter() - started) / len(fits)
    retrained: Retrained | str | None = None
    predictions: list[Predictions] = []
    for fitted in fits:
        if trained is None and (retrained is None or kind_of(job.probe).seeded):
            retrained = retrain(job.probe, fitted, groups, job.splits, features, job.cells[0].device)
        started = time.perf_counter()
        of_cell = predict(fitted, features, job.splits, retrained)
        seconds = {"encode": job.encode_seconds, "fit": fit_seconds, "score": time.perf_counter() - started}
        predictions.append(replace(of_cell, seconds=seconds))
    return predictions


def finish(job: FitJob, cell: Cell, predictions: Predictions) -> Finished:
    """The result of a cell, with its predictions and its probe."""
    started = time.perf_counter()
    fitted = predictions.fitted
    result, arrays = score(cell, job, predictions)
    spent = predictions.seconds
    result = replace(
        result,
        dimension=predictions.dimension,
        dev_score=fitted.dev,
        chosen=fitted.chosen,
        tried=tuple(fitted.tried),
        chosen_by_fold=tuple(fold.chosen for fold in predictions.folds),
        seconds={**spent, "score": spent["score"] + time.perf_counter() - started},
    )
    return result, arrays, predictions.saved_probe


def fit_probes(job: FitJob, features: Sequence[Features], statistics: bool) -> Sequence[Fit]:
    """The probe of each cell, trained on the train rows and chosen on dev. ``features``: train, dev and test."""
    train, dev, _ = features
    splits = job.splits
    return fit(
        job.probe,
        train,
        splits.train.labels,
        dev,
        splits.dev.labels,
        len(splits.labels),
        seeds=[cell.seed for cell in job.cells],
        device=job.cells[0].device,
        statistics=statistics_of(job, train) if statistics and kind_of(job.probe).uses_statistics else None,
    )


def predict(
    fitted: Fit, features: Sequence[Features], splits: Splits, retrained: Retrained | str | None = None
) -> Predictions:
    """The predictions of a fitted probe on the test rows. ``features``: train, dev and test."""
    train, dev, test = features
    saved = saved_arrays(fitted.model, train)
    if sum(array.nbytes for array in saved.values()) > MAX_SAVED_BYTES:
        model, saved_probe = fitted.model, None
    else:
        model, saved_probe = from_arrays(saved), saved  # what is scored is what is saved
    logs, calibrated, temperature = model.scores(test), None, 1.0
    # labels of training rows may be memorised, so that no information can be measured
    if splits.test is not splits.train:
        calibrated, temperature = calibrate(logs, model.scores(dev), splits.dev.labels)
    return Predictions(fitted, logs, calibrated, temperature, train.shape[1], saved_probe, retrained, seconds={})


def join_folds(splits: Splits, folds: Sequence[Predictions]) -> Predictions:
    """The predictions of all folds, in the order of the set."""
    assert splits.fold_of is not None
    logs = [_of_all_labels(fold.logs, part, splits) for fold, part in zip(folds, splits.folds, strict=True)]
    calibrated = [_of_all_labels(fold.calibrated, part, splits) for fold, part in zip(folds, splits.folds, strict=True)]
    fits = [fold.fitted for fold in folds]
    tried = [{**point, "fold": i} for i, fitted in enumerate(fits) for point in fitted.tried]
    dev = sum(fitted.dev for fitted in fits) / len(fits)
    return Predictions(
        replace(fits[0], chosen=most_common([fitted.chosen for fitted in fits]), dev=dev, tried=tried, candidates=()),
        in_order_of_set(splits, logs),
        in_order_of_set(splits, calibrated),
        sum(fold.temperature for fold in folds) / len(folds),
        folds[0].dimension,
        _joint_probe(splits, folds),
        join_retrained(splits, [fold.retrained for fold in folds]),
        {
            "encode": folds[0].seconds["encode"],
            **{name: sum(fold.seconds[name] for fold in folds) for name in ("fit", "score")},
        },
        tuple(fits),
    )


def most_common(choices: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The settings that most folds chose, of several the first."""
    return max(choices, key=choices.count)


def _of_all_labels(logs: LogProbs | None, fold: Splits, splits: Splits) -> LogProbs:
    """Log-probabilities of the labels of a set, from those of a fold, (n, classes): a label that it lacks has none."""
    assert logs is not None
    if fold.labels == splits.labels:
        return logs
    columns = [splits.labels.index(label) for label in fold.labels]
    all_logs = np.full((len(logs), len(splits.labels)), -np.inf, logs.dtype)
    all_logs[:, columns] = logs
    return all_logs


def _joint_probe(splits: Splits, folds: Sequence[Predictions]) -> Arrays | None:
    """The probe that is saved of a set in folds: the mean of linear ones, otherwise that of the first fold.

    The mean of their weights is the mean of their logits.
    """
    saved = [fold.saved_probe for fold in folds]
    if saved[0] is None or any(fold.labels != splits.labels for fold in splits.folds):
        return None
    if not all(isinstance(fold.fitted.model, Linear) for fold in folds):
        return saved[0]
    return {
        name: np.mean([arrays[name] for arrays in saved if arrays], axis=0, dtype=np.float64).astype(array.dtype)
        for name, array in saved[0].items()
    }


def score(cell: Cell, job: FitJob, predictions: Predictions) -> tuple[Result, Arrays]:
    """The result of a cell, and the arrays to save: accuracy, its intervals, and usable information."""
    splits, labels, logs = job.splits, job.splits.test.labels, predictions.logs
    retrained, calibrated = predictions.retrained, predictions.calibrated
    arrays = saved_predictions(logs, labels)
    if splits.fold_of is not None:
        arrays[FOLD_ARRAY] = splits.fold_of.astype(np.uint8)
    result = classification_result(cell, splits, arrays["predicted"], labels, job.baselines)
    if isinstance(retrained, str):
        result = replace(result, not_resampled=retrained)
    elif retrained is not None:
        result = with_encoder_interval(result, arrays["predicted"] == arrays["truth"], retrained, splits)
        arrays |= pack_resamples(retrained)
    scores = {**result.scores, "log2_loss": log2_loss(logs, labels)}
    if (labels >= 0).any() and calibrated is not None:
        scores |= {"log2_loss_calibrated": log2_loss(calibrated, labels), "temperature": predictions.temperature}
        arrays["log2_calibrated"] = log2_of_true(calibrated, labels).astype(np.float32)
        clusters = clusters_of(splits.test) or range(len(splits.test))
        if len({clusters[i] for i in np.flatnonzero(labels >= 0)}) > 1:
            usable = information_of(calibrated, splits)
            arrays["pointwise"] = usable.pointwise.astype(np.float32)
            scores |= {
                "information": usable.bits,
                "information_low": usable.low,
                "information_high": usable.high,
                "entropy": usable.entropy,
            }
    return replace(result, scores=scores), arrays


def with_encoder_interval(
    result: Result, correct: npt.NDArray[np.bool_], retrained: Retrained, splits: Splits
) -> Result:
    """The result with an interval that covers other training rows, from the test rows (n) that are right."""
    interval, deviation = about_encoder(correct, retrained, clusters_of(splits.test))
    return replace(result, encoder_interval=interval, training_sd=deviation, resamples=len(retrained.trained))


def saved_arrays(model: Model, train: Features) -> Arrays:
    """The probe as a run saves it, with rounded weights."""
    return to_arrays(model, train.take(slice(0, CENTRE_ROWS)).mean(axis=0, dtype=np.float64))


def baseline_result(
    cell: Cell, baselines: Baselines, splits: Splits, resample: int | None = None
) -> tuple[Result, Arrays]:
    """The result of a baseline that learns from words, on the rows that ``splits`` are of.

    It is trained again for its interval as linear probes are, ``resample`` times; by default twenty times.
    """
    started = time.perf_counter()
    prediction, learned = baselines.predict(cell.encoder), baselines.splits
    # where dev rows are held out from train, a baseline still learns from all rows, and may know more labels
    labels = tuple(sorted({*splits.labels, *prediction.labels}))
    number = {label: i for i, label in enumerate(labels)}
    predicted = np.array([number[label] for label in prediction.labels], np.int32)
    truth = np.array([number.get(label, -1) for label in learned.test.label_names], np.int32)
    result = without_interval(replace(classification_result(cell, splits, predicted, truth, {}), labels=labels))
    arrays: dict[str, Any] = {"predicted": predicted, "truth": truth}
    retrained = retrain_baseline(cell.encoder, baselines, resample)
    if isinstance(retrained, str):
        result = replace(result, not_resampled=retrained)
    elif retrained is not None:
        result = with_encoder_interval(result, predicted == truth, retrained, splits)
        arrays |= pack_resamples(retrained)
    trained_on, chosen_on = prediction.settings["trained_on"], prediction.settings.get("chosen_on")
    result = replace(
        result,
        n={**result.n, "tr": len(learned.train), "va": len(learned.dev) if chosen_on else 0},
        trained_on=str(trained_on),
        chosen_on=None if chosen_on is None else str(chosen_on),
        chosen=dict(prediction.settings),
        seconds={"fit": time.perf_counter() - started},
    )
    return result, arrays
