"""What is computed in every fold of a set, put together: measures, and baselines that learn from words.

probes and controls     predictions of all folds, scored once (``run/fit.py``)
measures                computed in every fold, and averaged; or in the first fold only, as each measure says
baselines               predictions of all folds, scored once
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sentprobe.data.folds import in_order_of_set, relabelled
from sentprobe.data.splits import Splits
from sentprobe.probes.baselines import CONSTANT_BASELINES
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.results.metric import metric_named
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import AUXILIARY_PREFIX, FOLD_ARRAY, Arrays
from sentprobe.run.fit import Finished, most_common, with_encoder_interval
from sentprobe.run.measure import OverFolds
from sentprobe.run.resample import pack_resamples, retrain_baseline
from sentprobe.run.scoring import classification_result, without_interval

LABEL_ARRAYS = ("predicted", "truth")


def join_results(splits: Splits, finished: Sequence[Finished], over_folds: OverFolds) -> Finished:
    """One result of a measure for all folds: means weighted by test rows, and the arrays of all rows.

    An accuracy is computed from all predictions, with its interval. Otherwise the interval is that of independent test
    rows if ``over_folds`` is ``rows``, or else as wide as that of one fold.
    """
    results, arrays = [result for result, *_ in finished], join_arrays(splits, [arrays for _, arrays, _ in finished])
    first = results[0]
    shares = np.array([len(fold.test) for fold in splits.folds]) / len(splits.test)
    names = [name for name in first.scores if all(name in result.scores for result in results)]
    scores = {name: float(shares @ [result.scores[name] for result in results]) for name in names}
    score = float(shares @ [result.score for result in results])
    joined = replace(
        first,
        labels=splits.labels,
        n=splits.sizes,
        score=score,
        scores=scores,
        interval=_interval(score, results, [result.interval for result in results], shares, over_folds),
        dev_score=_mean([result.dev_score for result in results]),
        chosen=most_common([result.chosen for result in results]),
        chosen_by_fold=tuple(result.chosen for result in results),
        tried=_mean_points([result.tried for result in results], shares),
        seconds={name: sum(result.seconds.get(name, 0.0) for result in results) for name in first.seconds},
    )
    if metric_named(first.metric).predicts == "classes" and arrays.keys() >= {*LABEL_ARRAYS}:
        pooled = classification_result(joined.cell, splits, arrays["predicted"], arrays["truth"], {})
        joined = replace(
            joined,
            score=pooled.score,
            scores={**scores, **pooled.scores},
            interval=pooled.interval,
            cluster_interval=pooled.cluster_interval,
            clusters=pooled.clusters,
        )
    elif first.cluster_interval is not None:
        intervals = [result.cluster_interval or result.interval for result in results]
        joined = replace(joined, cluster_interval=_interval(score, results, intervals, shares, over_folds))
    return joined, arrays, None


def join_arrays(splits: Splits, arrays: Sequence[Arrays]) -> dict[str, Any]:
    """The arrays of all rows, in the order of the set; those without a row per test row have the number of the fold."""
    assert splits.fold_of is not None
    joined: dict[str, Any] = {FOLD_ARRAY: splits.fold_of.astype(np.uint8)}
    for name in arrays[0]:
        values = [of_fold[name] for of_fold in arrays if name in of_fold]
        if name.startswith(AUXILIARY_PREFIX):
            joined |= {f"{name}_{number + 1}": value for number, value in enumerate(values)}
            continue
        if name in LABEL_ARRAYS:
            pairs = zip(values, splits.folds, strict=True)
            values = [relabelled(value, fold.labels, splits.labels).astype(value.dtype) for value, fold in pairs]
        if len(values) == len(splits.folds) and len({value.shape[1:] for value in values}) == 1:
            joined[name] = in_order_of_set(splits, values)
    if "truth" in joined:  # a label that is not in train of its own fold is a miss, and a label of the set
        joined["truth"] = splits.test.labels.astype(joined["truth"].dtype)
    return joined


def _interval(
    score: float,
    results: Sequence[Result],
    intervals: Sequence[tuple[float, float]],
    shares: np.ndarray,
    over_folds: OverFolds,
) -> tuple[float, float]:
    """The interval of a mean over folds."""
    values, ends = np.array([result.score for result in results]), np.array(intervals)
    widths = np.abs(ends - values[:, None])
    # training rows of folds overlap, so that what varies with them does not get less by averaging
    below, above = np.sqrt(shares**2 @ widths**2) if over_folds == "rows" else shares @ widths
    return float(score - below), float(score + above)


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _mean_points(curves: Sequence[Sequence[Mapping[str, Any]]], shares: np.ndarray) -> tuple[Mapping[str, Any], ...]:
    """The points of a curve, averaged over folds; those of the first fold if the others have other points."""
    if len({tuple(tuple(point) for point in curve) for curve in curves}) > 1:
        return tuple(curves[0])
    return tuple(
        {name: _mean_value([point[name] for point in points], shares) for name in points[0]}
        for points in zip(*curves, strict=True)
    )


def _mean_value(values: Sequence[Any], shares: np.ndarray) -> Any:
    """The mean of numbers, whole if they all are; of anything else, the first."""
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return values[0]
    mean = float(shares @ values)
    return round(mean) if all(isinstance(value, int) for value in values) else mean


def folded_baseline(
    cell: Cell, baselines: Baselines, splits: Splits, resample: int | None = None
) -> tuple[Result, Arrays]:
    """The result of a baseline that learns from words, trained in the same folds as probes, and again for its interval.

    A constant answer is one answer for all rows, and so the same in every fold.
    """
    started = time.perf_counter()
    if cell.encoder in CONSTANT_BASELINES:
        predictions = [baselines.predict(cell.encoder)]
        labels = predictions[0].labels
    else:
        predictions = [Baselines(fold).predict(cell.encoder) for fold in splits.folds]
        by_fold = [np.array(prediction.labels, object) for prediction in predictions]
        labels = tuple(in_order_of_set(splits, by_fold).tolist())
    number = {label: i for i, label in enumerate(splits.labels)}
    predicted, truth = np.array([number[label] for label in labels], np.int32), splits.test.labels.astype(np.int32)
    settings = [dict(prediction.settings) for prediction in predictions]
    trained_on, chosen_on = splits.trained_on, splits.chosen_on if settings[0].get("chosen_on") else None
    result = replace(
        without_interval(classification_result(cell, splits, predicted, truth, {})),
        n={**splits.sizes, **({} if chosen_on else {"va": 0})},
        trained_on=trained_on,
        chosen_on=chosen_on,
        chosen=most_common(settings),
        chosen_by_fold=tuple(settings) if len(settings) > 1 else (),
    )
    assert splits.fold_of is not None
    arrays: dict[str, Any] = {"predicted": predicted, "truth": truth, FOLD_ARRAY: splits.fold_of.astype(np.uint8)}
    retrained = retrain_baseline(cell.encoder, baselines, resample)
    if isinstance(retrained, str):
        result = replace(result, not_resampled=retrained)
    elif retrained is not None:
        result = with_encoder_interval(result, predicted == truth, retrained, splits)
        arrays |= pack_resamples(retrained)
    return replace(result, seconds={"fit": time.perf_counter() - started}), arrays
