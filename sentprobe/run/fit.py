"""The cells of a fit job: features of its splits → fitted probes → predictions on the test rows → results.

    FitJob ──fit_probes──▶ Fit per cell ──predict──▶ Predictions ──score──▶ Result and the arrays to save

A set is trained on and tested once, on its own splits. Cross-validation belongs in ``probe_cells``: ``fit_probes`` and
``predict`` for the splits of each fold, whose test rows, put together in the order of the set, are then scored once.
Vectors are those of the set's texts, whatever split a text is in, so nothing is encoded again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import Splits
from sentprobe.probes import Features, Fit, Model, fit
from sentprobe.probes.fitting import MAX_SAVED_BYTES, from_arrays, to_arrays
from sentprobe.probes.kind import kind_of
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import Arrays
from sentprobe.run.job import FitJob, clusters_of, split_features, statistics_of
from sentprobe.run.resample import about_encoder, pack_resamples, resample_count, retrain, retrain_baseline
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
    """What a probe says about the test rows, with the probe as it is saved."""

    logs: LogProbs
    """Log-probabilities of the test rows, (n, classes)."""
    dev_logs: LogProbs | None
    """The same for dev, to calibrate on; None if the test rows are the training rows."""
    saved_probe: Arrays | None
    """None if the probe is too large to be saved."""


def probe_cells(job: FitJob, *, trained: Fit | None = None, statistics: bool = False) -> list[Finished]:
    """Fit and score the cells of a job, in order: each with its predictions and, if it is small enough, its probe.

    With ``trained`` nothing is fitted, and that probe is scored. ``statistics`` says that the training rows are the
    plain ones, so that the linear probe can use their shared statistics.
    """
    features = split_features(job)
    started = time.perf_counter()
    fits = [trained] * len(job.cells) if trained is not None else fit_probes(job, features, statistics)
    fit_seconds = (time.perf_counter() - started) / len(fits)
    retrained: Retrained | str | None = None
    finished: list[Finished] = []
    for cell, fitted in zip(job.cells, fits, strict=True):
        if trained is None and (retrained is None or kind_of(job.probe).seeded):
            retrained = _retrain(job, fitted, features)
        started = time.perf_counter()
        predictions = predict(fitted, features, job.splits)
        result, arrays = score(cell, job, predictions, retrained)
        result = replace(
            result,
            dimension=features[0].shape[1],
            dev_score=fitted.dev,
            chosen=fitted.chosen,
            tried=tuple(fitted.tried),
            seconds={"encode": job.encode_seconds, "fit": fit_seconds, "score": time.perf_counter() - started},
        )
        finished.append((result, arrays, predictions.saved_probe))
    return finished


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


def predict(fitted: Fit, features: Sequence[Features], splits: Splits) -> Predictions:
    """The predictions of a fitted probe on the test rows. ``features``: train, dev and test."""
    train, dev, test = features
    saved = saved_arrays(fitted.model, train)
    if sum(array.nbytes for array in saved.values()) > MAX_SAVED_BYTES:
        model, saved_probe = fitted.model, None
    else:
        model, saved_probe = from_arrays(saved), saved  # what is scored is what is saved
    dev_logs = None if splits.test is splits.train else model.scores(dev)
    return Predictions(model.scores(test), dev_logs, saved_probe)


def score(
    cell: Cell, job: FitJob, predictions: Predictions, retrained: Retrained | str | None
) -> tuple[Result, Arrays]:
    """The result of a cell, and the arrays to save: accuracy, its intervals, and usable information."""
    splits, labels, logs = job.splits, job.splits.test.labels, predictions.logs
    arrays = saved_predictions(logs, labels)
    result = classification_result(cell, splits, arrays["predicted"], labels, job.baselines)
    if isinstance(retrained, str):
        result = replace(result, not_resampled=retrained)
    elif retrained is not None:
        result = with_encoder_interval(result, arrays["predicted"] == arrays["truth"], retrained, splits)
        arrays |= pack_resamples(retrained)
    scores = {**result.scores, "log2_loss": log2_loss(logs, labels)}
    # labels of training rows may be memorised, so that no information can be measured
    if (labels >= 0).any() and predictions.dev_logs is not None:
        calibrated, temperature = calibrate(logs, predictions.dev_logs, splits.dev.labels)
        scores |= {"log2_loss_calibrated": log2_loss(calibrated, labels), "temperature": temperature}
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


def _retrain(job: FitJob, fitted: Fit, features: Sequence[Features]) -> Retrained | str | None:
    """The test rows that retrained probes have right, or why there are none; None if none were requested."""
    splits = job.splits
    count = resample_count(job.resample, job.probe, *features[0].shape, len(splits.labels))
    if not count or splits.test is splits.train:
        return None
    return retrain(job.probe, fitted, count, splits, features, job.cells[0].device)


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
