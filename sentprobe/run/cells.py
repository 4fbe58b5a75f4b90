"""One cell: vectors of the texts → features → a fitted probe → a Result with its predictions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sentprobe.data.splits import Splits
from sentprobe.probes import Features, Fit, Model, fit
from sentprobe.probes.fitting import MAX_SAVED_BYTES, from_arrays, to_arrays
from sentprobe.probes.kind import kind_of
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import Arrays
from sentprobe.run.resample import about_encoder, pack_resamples, resample_count, retrain
from sentprobe.run.scoring import (
    Bools,
    calibrate,
    classification_result,
    information_of,
    log2_of_true,
    saved_predictions,
    without_interval,
)
from sentprobe.run.unit import CENTRE_ROWS, Unit, clusters_of, features_of, statistics_of
from sentprobe.stats.classification import log2_loss
from sentprobe.stats.training import Retrained

if TYPE_CHECKING:
    from sentprobe.probes.baselines.predict import Baselines


def probe_unit(
    unit: Unit, *, trained: Fit | None = None, statistics: bool = False
) -> list[tuple[Result, Arrays, Arrays | None]]:
    """Fit and score the cells of a unit, in order: each with its predictions and, if it is small enough, its probe.

    With ``trained`` nothing is fitted, and that probe is scored. ``statistics`` says that the training rows are the
    plain ones, so that the linear probe can use their shared statistics.
    """
    parts, classes = unit.parts, len(unit.parts.labels)
    train, dev, test = (features_of(unit, part) for part in (parts.train, parts.dev, parts.test))
    started = time.perf_counter()
    fits = [trained] * len(unit.cells) if trained is not None else fit(
        unit.probe, train, parts.train.labels, dev, parts.dev.labels, classes,
        seeds=[cell.seed for cell in unit.cells], device=unit.cells[0].device,
        statistics=statistics_of(unit, train) if statistics and kind_of(unit.probe).uses_statistics else None,
    )  # fmt: skip
    fitted = (time.perf_counter() - started) / len(fits)
    retrained: Retrained | str | None = None
    found: list[tuple[Result, Arrays, Arrays | None]] = []
    for cell, one in zip(unit.cells, fits, strict=True):
        if trained is None and (retrained is None or kind_of(unit.probe).seeded):
            retrained = _retrain(unit, one, (train, dev, test))
        started = time.perf_counter()
        saved = _saved(one.model, train)
        model = one.model if saved is None else from_arrays(saved)  # what is scored is what is saved
        logs = model.scores(test)
        arrays = saved_predictions(logs, parts.test.labels)
        result = classification_result(cell, parts, arrays["predicted"], parts.test.labels, unit.baselines)
        if retrained is not None:
            result = _about_encoder(result, arrays["predicted"] == arrays["truth"], retrained, parts)
            arrays |= pack_resamples(retrained) if isinstance(retrained, Retrained) else {}
        more = {}
        # labels of training rows may be memorised, so that no information can be measured
        if (parts.test.labels >= 0).any() and parts.test is not parts.train:
            calibrated, t = calibrate(logs, model.scores(dev), parts.dev.labels)
            more = {"log2_loss_calibrated": log2_loss(calibrated, parts.test.labels), "temperature": t}
            arrays["log2_calibrated"] = log2_of_true(calibrated, parts.test.labels).astype(np.float32)
            shared = clusters_of(parts.test) or range(len(parts.test))
            if len({shared[i] for i in np.flatnonzero(parts.test.labels >= 0)}) > 1:
                usable = information_of(calibrated, parts)
                arrays["pointwise"] = usable.pointwise.astype(np.float32)
                more |= {
                    "information": usable.bits, "information_low": usable.low, "information_high": usable.high,
                    "entropy": usable.entropy,
                }  # fmt: skip
        found.append(
            (
                replace(
                    result,
                    dimension=train.shape[1],
                    scores={**result.scores, "log2_loss": log2_loss(logs, parts.test.labels), **more},
                    dev_score=one.dev,
                    chosen=one.chosen,
                    tried=tuple(one.tried),
                    seconds={
                        "encode": unit.encode_seconds, "fit": fitted, "score": time.perf_counter() - started
                    },
                ),
                arrays,
                saved,
            )
        )  # fmt: skip
    return found


def _retrain(unit: Unit, one: Fit, features: Sequence[Features]) -> Retrained | str | None:
    """The test rows that retrained probes have right, or why there are none; None if none were requested."""
    parts = unit.parts
    count = resample_count(unit.resample, unit.probe, *features[0].shape, len(parts.labels))
    if not count or parts.test is parts.train:
        return None
    return retrain(unit.probe, one, count, parts, features, unit.cells[0].device)


def _about_encoder(result: Result, correct: Bools, retrained: Retrained | str, parts: Splits) -> Result:
    if isinstance(retrained, str):
        return replace(result, not_resampled=retrained)
    interval, deviation = about_encoder(correct, retrained, clusters_of(parts.test))
    return replace(result, encoder_interval=interval, training_sd=deviation, resamples=len(retrained.trained))


def saved_arrays(model: Model, train: Features) -> Arrays:
    """The probe as a run saves it, with rounded weights."""
    return to_arrays(model, train.take(slice(0, CENTRE_ROWS)).mean(axis=0, dtype=np.float64))


def _saved(model: Model, train: Features) -> Arrays | None:
    """The probe to save, if it is small enough."""
    found = saved_arrays(model, train)
    return found if sum(array.nbytes for array in found.values()) <= MAX_SAVED_BYTES else None


def baseline_result(cell: Cell, baselines: Baselines, parts: Splits) -> tuple[Result, Arrays]:
    """The result of a baseline that learns from words, on the rows that ``parts`` are of."""
    started = time.perf_counter()
    prediction, splits = baselines.predict(cell.encoder), baselines.splits
    # where dev rows are held out from train, a baseline still learns from all rows, and may know more labels
    labels = tuple(sorted({*parts.labels, *prediction.labels}))
    number = {label: i for i, label in enumerate(labels)}
    predicted = np.array([number[label] for label in prediction.labels], np.int32)
    truth = np.array([number.get(label, -1) for label in splits.test.label_names], np.int32)
    arrays = {"predicted": predicted, "truth": truth}
    result = without_interval(replace(classification_result(cell, parts, predicted, truth, {}), labels=labels))
    trained_on, chosen_on = prediction.settings["trained_on"], prediction.settings.get("chosen_on")
    n = {**result.n, "tr": len(splits.train), "va": len(splits.dev) if chosen_on else 0}
    return (
        replace(
            result,
            n=n,
            trained_on=str(trained_on),
            chosen_on=None if chosen_on is None else str(chosen_on),
            chosen=dict(prediction.settings),
            seconds={"fit": time.perf_counter() - started},
        ),
        arrays,
    )
