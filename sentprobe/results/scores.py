"""Results scored by any metric, from their predictions: score, interval, and how two systems differ.

What a result was scored by when it was made is in the result. Everything here is about the trained probes, on other
samples of test rows: a probe that was retrained has no other predictions than right and wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import RunError
from sentprobe.results.inference import by_encoder_seed, by_training, detectable_by, row_clusters
from sentprobe.results.metric import Arrays, Floats, Metric, metric_named
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.stats import clustered_p
from sentprobe.stats.class_shares import ClassShares
from sentprobe.stats.level import standard_errors
from sentprobe.stats.means import INFINITE_DF, Mean, ScoredRows, combined, mean
from sentprobe.stats.paired import swap_permutation
from sentprobe.stats.resample import Clusters, bootstrap_score, percentile_interval
from sentprobe.stats.seeds import SeedVariance

Interval = tuple[float, float]


def applies(metric: Metric, result: Result) -> bool:
    """Whether a result is scored by a metric, or has predictions that it can be computed from."""
    scored_by = metric_named(result.metric)
    return metric.name == result.metric or (metric.computable and metric.predicts == scored_by.predicts)


def predictions_for(run: Run, result: Result, metric: Metric) -> Arrays | None:
    """The predictions that a metric is computed from; None if the result has others."""
    if not applies(metric, result):
        return None
    arrays = run.predictions(result)
    return {name: arrays[name] for name in metric.needs} if all(name in arrays for name in metric.needs) else None


def score_by(run: Run | None, result: Result, metric: Metric) -> float | None:
    """The score: as recorded, or computed from the predictions; None if there are neither."""
    if metric.name == result.metric:
        return result.score
    if metric.name in result.scores or run is None:
        return result.scores.get(metric.name)
    arrays = predictions_for(run, result, metric)
    return None if arrays is None else _finite(metric.score(arrays))


def _finite(score: float) -> float | None:
    """None where a metric is undefined for these predictions."""
    return score if math.isfinite(score) else None


def class_score(run: Run, result: Result, metric: Metric) -> float | None:
    """The score by a metric of predicted classes alone, which are kept in memory for paired tests."""
    if metric.name == result.metric:
        return result.score
    recorded = result.scores.get(metric.name)
    return _finite(metric.score(run.paired_arrays(result))) if recorded is None else recorded


def interval_by(metric: Metric, arrays: Arrays, clusters: Clusters | None) -> Interval:
    """The interval of a score, on other samples of rows or clusters."""
    if metric.row_values is not None:
        return mean(metric.row_values(arrays), clusters).interval()
    if metric.share == "classes":
        correct = (arrays["predicted"] == arrays["truth"]).astype(np.float64)
        rows, classes = ScoredRows.of(len(correct), clusters), ClassShares.of(arrays["truth"], clusters)
        return classes.interval(correct, rows.mean(classes.linearised(correct)), rows)
    return percentile_interval(bootstrap_score(metric.score, arrays, clusters))


@dataclass(frozen=True)
class ScoreDifference:
    """The first of two systems minus the second, by a metric: a difference with its interval and a paired test."""

    value: float
    p: float
    """Two-sided."""
    p_rows: float
    """The same on other test rows alone, with these probes of these trainings."""
    interval: Callable[[float | None], Interval]
    """At a level; None: the usual one."""
    detectable: float | None
    """What is detected four times out of five; None if that is unknown, or if all rows differ equally."""


def mean_over_seeds(run: Run, results: Sequence[Result], metric: Metric) -> float:
    """The mean of a score over results; not a number if one has none."""
    scores = [score_by(run, result, metric) for result in results]
    return float(np.mean([math.nan if score is None else score for score in scores]))


def score_difference(run: Run, first: Sequence[Result], second: Sequence[Result], metric: Metric) -> ScoreDifference:
    """How two systems differ on the same test rows, each with its results of all seeds."""
    scores = [[mean_over_seeds(run, group, metric) for group in by_encoder_seed(side)] for side in (first, second)]
    by_name = [by_training(side, of_side) for side, of_side in zip((first, second), scores, strict=True)]
    if by_name[0] and by_name[0].keys() == by_name[1].keys():
        scores = [[score - by_name[1][name] for name, score in by_name[0].items()]]  # of the same trainings
    return _over_trainings(_of_rows(run, first, second, metric), scores)


def _over_trainings(difference: ScoreDifference, scores: Sequence[Sequence[float]]) -> ScoreDifference:
    """A difference that also covers other seeds of recipes, from the scores of trainings of each side, or from how
    these differ.

    Which rows each training has right is not used: variances are added, which is more than their sum if trainings are
    right on different rows.
    """
    seeds = [SeedVariance(float(np.var(s, ddof=1)), len(s), len(s) - 1.0).of_mean for s in scores if len(s) > 1]
    if not seeds:
        return difference
    low, high = difference.interval(None)
    of_rows = ((high - low) / 2 / standard_errors()) ** 2
    both = combined(difference.value, (of_rows, INFINITE_DF), *seeds)
    return ScoreDifference(
        difference.value,
        max(difference.p, both.p),
        difference.p_rows,
        both.interval,
        detectable_by(both) if both.variance > 0 else None,
    )


def _of_rows(run: Run, first: Sequence[Result], second: Sequence[Result], metric: Metric) -> ScoreDifference:
    """How two systems differ, on other samples of test rows."""
    clusters = row_clusters(run, first[0])
    sides = [[_required(run, result, metric) for result in side] for side in (first, second)]
    if metric.share is None and metric.row_values is None:
        return _swapped_difference(sides[0], sides[1], metric, clusters)
    first_values, second_values = (np.mean([_row_values(metric, arrays) for arrays in side], axis=0) for side in sides)
    gaps = first_values - second_values
    difference = _mean_difference(sides, clusters) if metric.share == "classes" else mean(gaps, clusters)
    p = clustered_p(first_values, second_values, clusters)
    return ScoreDifference(
        value=float(gaps.mean()),
        p=p,
        p_rows=p,
        interval=difference.interval,
        detectable=detectable_by(difference) if difference.variance > 0 else None,
    )


def _required(run: Run, result: Result, metric: Metric) -> Arrays:
    arrays = predictions_for(run, result, metric)
    if arrays is None:
        raise RunError(f"{result.cell.encoder} has no predictions that {metric.title} can be computed from.")
    return arrays


def only_rows(run: Run, first: Sequence[Result], second: Sequence[Result]) -> tuple[float, float]:
    """Number of test rows that only one of two systems has right, means over seeds; NaN if they are not right or
    wrong."""
    if not metric_named(first[0].metric).right_or_wrong:
        return math.nan, math.nan
    first_rows, second_rows = (np.mean([run.row_scores(r) for r in side], axis=0) for side in (first, second))
    gaps = first_rows - second_rows
    return float(gaps.clip(min=0).sum()), float((-gaps).clip(min=0).sum())


def _row_values(metric: Metric, arrays: Arrays) -> Floats:
    """What each test row (n) contributes to the score, which is their mean."""
    if metric.row_values is not None:
        return metric.row_values(arrays)
    correct = (arrays["predicted"] == arrays["truth"]).astype(np.float64)
    return ClassShares.of(arrays["truth"]).weighted(correct) if metric.share == "classes" else correct


def _mean_difference(sides: Sequence[Sequence[Arrays]], clusters: Clusters | None) -> Mean:
    """Of means over classes: how many rows a class has is no part of their variance."""
    classes = ClassShares.of(sides[0][0]["truth"], clusters)
    first, second = (
        np.mean([classes.linearised((a["predicted"] == a["truth"]).astype(np.float64)) for a in side], axis=0)
        for side in sides
    )
    return mean(first - second, clusters)


def _swapped_difference(
    first: Sequence[Arrays], second: Sequence[Arrays], metric: Metric, clusters: Clusters | None
) -> ScoreDifference:
    """By swapping predictions at random, of several seeds pair by pair: each is in as many pairs as any of its side."""
    if metric.row_parts is not None:
        parts = [np.mean([metric.row_parts(arrays) for arrays in side], axis=0) for side in (first, second)]
        p = clustered_p(parts[0], parts[1], clusters)
    else:
        count = math.lcm(len(first), len(second))
        pairs = [[side[i % len(side)] for i in range(count)] for side in (first, second)]
        p = swap_permutation(metric.score, *pairs, clusters=clusters).p
    columns = {
        (j, i, name): column
        for j, side in enumerate((first, second))
        for i, arrays in enumerate(side)
        for name, column in arrays.items()
    }

    def difference(sample: Mapping[Any, npt.NDArray[Any]]) -> float:
        scores = [
            [metric.score({name: sample[j, i, name] for name in metric.needs}) for i in range(len(side))]
            for j, side in enumerate((first, second))
        ]
        return float(np.mean(scores[0]) - np.mean(scores[1]))

    draws = cache(partial(bootstrap_score, difference, columns, clusters))

    def interval(level: float | None = None) -> Interval:
        return percentile_interval(draws(), level)

    value = float(np.mean([metric.score(a) for a in first]) - np.mean([metric.score(b) for b in second]))
    return ScoreDifference(value=value, p=p, p_rows=p, interval=interval, detectable=None)
