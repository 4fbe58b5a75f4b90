"""Cells of the transfer tasks: folds, relatedness, similarity and retrieval, each by its own protocol."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import Splits
from sentprobe.errors import UsageError
from sentprobe.probes import Features
from sentprobe.probes.baselines import CONSTANT_BASELINES
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import Arrays
from sentprobe.run.job import FitJob, features_of, split_features
from sentprobe.run.scoring import classification_result, saved_predictions, versions, without_interval
from sentprobe.stats import corrected_t, log2_loss, wilson
from sentprobe.transfer.protocols import OUTER_SEED, ProbeEvaluation, ProtocolResult, folds
from sentprobe.transfer.relatedness import relate
from sentprobe.transfer.retrieval import Gallery, rank
from sentprobe.transfer.similarity import correlations, similarity

FOLDS = 10
"""SentEval's default configuration."""
CORRELATION_DRAWS = 2000
"""Bootstrap samples of rows for the interval of a correlation."""


def transfer_cells(job: FitJob) -> list[tuple[Result, Arrays]]:
    """Train and test the cells of a job by the protocol of its set."""
    return [_protocol_cell(job, cell) for cell in job.cells]


def _protocol_cell(job: FitJob, cell: Cell) -> tuple[Result, Arrays]:
    started = time.perf_counter()
    match job.splits.protocol:
        case "nested" | "kfold":
            result, arrays = _folded(job, cell)
        case "relatedness":
            result, arrays = _related(job, cell)
        case "similarity":
            result, arrays = _similar(job, cell)
        case "retrieval":
            result, arrays = _retrieved(job, cell)
        case "split":
            raise ValueError("a set with splits is for probe_cells")
        case _:
            assert_never(job.splits.protocol)
    seconds = {"encode": job.encode_seconds, "fit": time.perf_counter() - started, "score": 0.0}
    return replace(result, seconds=seconds), arrays


def _folded(job: FitJob, cell: Cell) -> tuple[Result, Arrays]:
    splits = job.splits
    train, truth = features_of(job, splits.train), splits.test.labels
    evaluation = ProbeEvaluation(job.probe, len(splits.labels), cell.seed, cell.device)
    if splits.protocol == "nested":
        outcome = evaluation.nested(train, truth, k=FOLDS)
    else:
        outcome = evaluation.kfold(train, splits.train.labels, features_of(job, splits.test), truth, k=FOLDS)
    arrays = saved_predictions(outcome.scores, truth)
    result = classification_result(cell, splits, arrays["predicted"], truth, job.baselines)
    scores = {**result.scores, "log2_loss": log2_loss(outcome.scores, truth)}
    if splits.task == "MRPC":
        scores["f1"] = _f1(arrays["predicted"], truth)
    result = replace(
        result,
        scores=scores,
        dimension=train.shape[1],
        dev_score=outcome.dev / 100,
        chosen=_most_common_choice(outcome),
        tried=tuple(dict(point) for point in outcome.chosen),
    )
    return (_over_folds(result, outcome.fold_accuracies) if outcome.fold_accuracies else result), arrays


def _most_common_choice(outcome: ProtocolResult) -> Mapping[str, Any]:
    """The grid point that was chosen on most outer folds."""
    return dict(Counter(tuple(point.items()) for point in outcome.chosen).most_common(1)[0][0])


def _over_folds(result: Result, accuracies: tuple[float, ...]) -> Result:
    """The mean over folds with Nadeau and Bengio's interval: folds share training rows."""
    n = result.n["te"]
    held_out = n / len(accuracies)
    spread = corrected_t(accuracies, n - held_out, held_out)
    return replace(
        result,
        score=spread.mean,
        n={"tr": round(n - held_out), "va": 0, "te": n},
        interval=(max(0.0, spread.low), min(1.0, spread.high)),
        interval_kind="nadeau-bengio",
    )


def _f1(predicted: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """F1 of the second label (paraphrase)."""
    hits = float(((predicted == 1) & (truth == 1)).sum())
    return 2 * hits / max(1.0, float((predicted == 1).sum() + (truth == 1).sum()))


def _related(job: FitJob, cell: Cell) -> tuple[Result, Arrays]:
    splits = job.splits
    train, dev, test = split_features(job)
    gold = [np.asarray(split.gold, np.float64) for split in (splits.train, splits.dev, splits.test)]
    regression = relate(train, gold[0], dev, gold[1], test, seed=cell.seed)
    truth = gold[2]
    agreement = correlations(regression.predicted, truth, [""] * len(truth), seed=0, draws=CORRELATION_DRAWS)
    result = _correlated(
        job, cell, "pearson", agreement.pearson.overall, (agreement.pearson.low, agreement.pearson.high)
    )
    scores = {"spearman": agreement.spearman.overall, "mse": float(np.square(regression.predicted - truth).mean())}
    return replace(result, scores=scores, dimension=train.shape[1], dev_score=regression.dev), {
        "predicted": regression.predicted.astype(np.float32),
        "truth": truth.astype(np.float32),
    }


def _similar(job: FitJob, cell: Cell) -> tuple[Result, Arrays]:
    test = job.splits.test
    first, second = (
        job.vectors.features(replace(test, texts=texts, inputs={})) for texts in (test.texts, *test.inputs.values())
    )
    cosines, truth = similarity(first, second), np.asarray(test.gold, np.float64)
    agreement = correlations(cosines, truth, test.groups, seed=0, draws=CORRELATION_DRAWS)
    result = _correlated(
        job, cell, "spearman", agreement.spearman.overall, (agreement.spearman.low, agreement.spearman.high)
    )
    scores = {
        "spearman_mean": agreement.spearman.mean,
        "spearman_weighted": agreement.spearman.weighted,
        "pearson": agreement.pearson.overall,
        "pearson_mean": agreement.pearson.mean,
        "pearson_weighted": agreement.pearson.weighted,
        **{f"spearman {name}": float(group.spearman[0]) for name, group in agreement.groups.items()},
    }
    finite = {name: value for name, value in scores.items() if math.isfinite(value)}
    return replace(result, scores=finite, dimension=first.shape[1]), {
        "predicted": cosines.astype(np.float32),
        "truth": truth.astype(np.float32),
    }


def _retrieved(job: FitJob, cell: Cell) -> tuple[Result, Arrays]:
    """Recall@1 of images by captions, on folds of a thousand images."""
    splits = job.splits
    galleries = [
        Gallery(Features.of(images), job.vectors.features(split))
        for images, split in zip(splits.images, (splits.train, splits.dev, splits.test), strict=True)
    ]
    images = len(galleries[2].images)
    ranking = rank(*galleries, seed=cell.seed, fold=min(1000, images))
    recalls = {"image": ranking.images, "text": ranking.captions}
    scores = {
        f"{of} {name}": value / 100 if name != "median" else value
        for of, side in recalls.items()
        for name, value in side._asdict().items()
    }
    first = ranking.image_ranks == 0
    result = Result(
        key=cell.key,
        cell=cell,
        language=splits.language,
        labels=(),
        n={"tr": len(splits.train), "va": len(splits.dev), "te": len(splits.test)},
        metric="recall@1",
        score=float(first.mean()),
        scores=scores,
        interval=wilson(float(first.sum()), len(first)),
        dev_score=ranking.dev / 600,
        dimension=galleries[0].captions.shape[1],
        versions=versions(),
    )
    return result, {"predicted": ranking.image_ranks.astype(np.int32), "truth": np.zeros(len(first), np.int32)}


def _correlated(job: FitJob, cell: Cell, metric: str, value: float, interval: tuple[float, float]) -> Result:
    splits = job.splits
    if not all(map(math.isfinite, (value, *interval))):
        raise UsageError(f"{cell.encoder} gives all pairs of {splits.name} the same score, so there is no correlation.")
    return Result(
        key=cell.key,
        cell=cell,
        language=splits.language,
        labels=(),
        n={"tr": len(splits.train), "va": len(splits.dev), "te": len(splits.test)},
        trained_on=splits.trained_on,
        chosen_on=splits.chosen_on,
        metric=metric,
        score=value,
        interval=interval,
        interval_kind="bootstrap",
        versions=versions(),
    )


def nested_baseline(cell: Cell, baselines: Baselines, splits: Splits) -> tuple[Result, Arrays]:
    """A baseline that learns from words, on the same outer folds; a constant answer is the same in all of them."""
    started = time.perf_counter()
    truth = splits.test.labels
    number = {label: i for i, label in enumerate(splits.labels)}
    predicted = np.empty(len(truth), np.int64)
    accuracies = []
    is_constant = cell.encoder in CONSTANT_BASELINES
    if is_constant:
        predicted[:] = [number[label] for label in baselines.predict(cell.encoder).labels]
    for learn, held_out in folds(truth, FOLDS, OUTER_SEED):
        if not is_constant:
            fold_baselines = Baselines(splits.fold(learn, held_out))
            predicted[held_out] = [number[label] for label in fold_baselines.predict(cell.encoder).labels]
        accuracies.append(float((predicted[held_out] == truth[held_out]).mean()))
    arrays = {"predicted": predicted.astype(np.int32), "truth": truth.astype(np.int32)}
    result = without_interval(_over_folds(classification_result(cell, splits, predicted, truth, {}), tuple(accuracies)))
    return replace(result, seconds={"fit": time.perf_counter() - started}), arrays
