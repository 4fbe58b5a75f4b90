"""One number for a cell: its mean over seeds, and how far off it may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, cast, get_args

import numpy as np

from sentprobe.errors import UsageError
from sentprobe.report.types import Score
from sentprobe.results.inference import row_clusters
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.stats.classification import MOST_BITS
from sentprobe.stats.level import standard_errors
from sentprobe.stats.means import combined, mean
from sentprobe.stats.seeds import spread

Metric = Literal["accuracy", "macro_f1", "log2_loss", "log2_loss_calibrated"]
METRICS: tuple[str, ...] = get_args(Metric)
LOSSES: Mapping[str, str] = {"log2_loss": "log2", "log2_loss_calibrated": "log2_calibrated"}
"""Metrics in bits, of which less is better, and what they are the mean of among the predictions."""
INFINITE_DF = 1e9
"""Degrees of freedom of a variance that is treated as known."""

Interval = tuple[float, float]


def check_metric(metric: str) -> Metric:
    """The metric of this name."""
    if metric not in METRICS:
        raise UsageError(f"There is no metric {metric!r}; expected {', '.join(METRICS)}.")
    return cast("Metric", metric)


def score(results: Sequence[Result], metric: Metric, intervals: Sequence[Interval] = ()) -> Score:
    """The metric over results that differ in their seed, each with its own interval, if it has one."""
    # the first column is what a set is scored by, which its ``scored_by`` names: an accuracy, or a correlation
    found = [result.score if metric == "accuracy" else getattr(result, metric) for result in results]
    if any(value is None for value in found):
        return Score()
    return over_seeds(found, intervals, upper=math.inf if metric in LOSSES else 1.0)


def over_seeds(
    values: Sequence[float], intervals: Sequence[Interval] = (), *, lower: float = 0.0, upper: float = 1.0
) -> Score:
    """The mean of a number over seeds, each with its own interval, if it has one; it lies between two ends.

    A single seed keeps its interval. Over several, two things vary, each with its own half width: which rows were drawn
    (the mean of the seeds' half widths, no narrower than for one seed, as all seeds were tested on the same rows) and
    which seeds (sd / √seeds). On either side variances are added, as Zou and Donner (2008, Stat. Med. 27:1693) do,
    and the quantile is that of t with Satterthwaite's degrees of freedom: a handful of seeds says little about how they
    vary.
    """
    over = spread(values)
    if not intervals:
        return Score(over.mean, sd=over.std)
    if len(values) == 1:
        return Score(over.mean, *intervals[0])
    seeds = (over.std or 0.0) ** 2 / len(values), len(values) - 1.0
    below = float(np.mean([value - low for value, (low, _) in zip(values, intervals, strict=True)]))
    above = float(np.mean([high - value for value, (_, high) in zip(values, intervals, strict=True)]))
    low, high = (
        combined(over.mean, ((half / standard_errors()) ** 2, INFINITE_DF), seeds).interval()[end]
        for end, half in enumerate((below, above))
    )
    return Score(over.mean, max(lower, low), min(upper, high), over.std)


def accuracy_intervals(results: Sequence[Result]) -> list[Interval]:
    """The interval of each accuracy: about the encoder, if all have that, else about the trained probe.

    None for a prediction that is the same for every row.
    """
    if any(result.constant for result in results):
        return []
    about = [result.encoder_interval for result in results if result.encoder_interval is not None]
    return about if len(about) == len(results) else [result.range for result in results]


def intervals_of(run: Run, results: Sequence[Result], metric: Metric) -> list[Interval]:
    """The interval of each result; none for macro-averaged F1.

    That of the accuracy is in the result. That of the loss is from the predictions, over target forms where the set
    has them or sentences, as that of the accuracy is.
    """
    if metric == "accuracy":
        return accuracy_intervals(results)
    if metric not in LOSSES or any(getattr(result, metric) is None for result in results):
        return []
    clusters = None
    if results[0].cluster_interval is not None:
        clusters = row_clusters(run, results[0])
    found = []
    for result in results:
        name = LOSSES[metric]
        bits = (-run.predictions(result, name)[name].astype(np.float64)).clip(0.0, MOST_BITS)
        found.append(mean(bits, clusters).interval())
    return found
