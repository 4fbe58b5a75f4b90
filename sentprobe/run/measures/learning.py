"""Learning curves: how accuracy grows with the number of training rows, and whether it still does at the end.

Subsamples depend only on the rows of a set and the seed: all encoders, and naive Bayes, are trained on the same ones.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sentprobe.data.splits import Splits, has_train_test_split
from sentprobe.probes.baselines.naive_bayes import bayes_curve
from sentprobe.probes.learning import LearningPoint, learning, majority, subsets
from sentprobe.results.result import Cell, Result
from sentprobe.results.verify import AUXILIARY_PREFIX, Arrays
from sentprobe.run.fit import Finished
from sentprobe.run.job import FitJob, clusters_of, split_features, statistics_of
from sentprobe.run.measure import Measure, empty_result, plain_probe
from sentprobe.run.variant import VariantColumn, points
from sentprobe.stats.crossed import crossed
from sentprobe.stats.intervals import wilson
from sentprobe.stats.level import standard_errors
from sentprobe.stats.paired import newcombe
from sentprobe.stats.resample import Clusters

UNSHARED_VARIANCE = 0.2
"""The share of the variance of the probe trained on all rows that its halves do not share, for ``crossed``. In
simulations of logistic models (400 and 1,000 training rows, 20 and 100 dimensions, 400 to 5,000 test rows), intervals
cover the mean gain in 95 to 98 % of cases with it, in 91 to 97 % with 0, and in 98 to 100 % with 0.5."""


def compute(job: FitJob) -> list[Finished]:
    """The learning curve of a set; the score is the gain from the last doubling of the training rows."""
    splits, (cell,) = job.splits, job.cells
    train, dev, test = split_features(job)
    l2, probe = plain_probe(job, train, dev)
    points = learning(
        train,
        splits.train.labels,
        dev,
        splits.dev.labels,
        test,
        splits.test.labels,
        len(splits.labels),
        l2=job.probe.l2,
        plain=(l2, probe),
        seed=cell.seed,
        clusters=clusters_of(splits.train),
        statistics=statistics_of(job, train),
        device=cell.device,
    )
    result = replace(empty_result(cell, splits), dimension=train.shape[1], chosen={"l2": l2})
    return [(*_with_curve(result, points, clusters_of(splits.test)), None)]


def _with_curve(result: Result, points: Sequence[LearningPoint], clusters: Clusters | None) -> tuple[Result, Arrays]:
    """The result of a curve, and the arrays to save."""
    half, last = points[-2:]
    gain, low, high = _gain(half, last, clusters)
    result = replace(
        result,
        metric="gain",
        score=gain,
        interval=(low, high),
        interval_kind="crossed",
        scores={
            "accuracy": float(last.right.mean()),
            "half": float(half.right.mean()),
            "half_rows": half.rows,
            "subsamples": len(half.right),
        },
        tried=tuple(_curve(points, clusters)),
    )
    right = np.concatenate([point.right for point in points]).astype(np.uint8)
    rows = np.repeat([point.rows for point in points], [len(point.right) for point in points])
    return result, {f"{AUXILIARY_PREFIX}right": right, f"{AUXILIARY_PREFIX}rows": rows}


def baseline_curve(cell: Cell, splits: Splits) -> tuple[Result, Arrays]:
    """The learning curve of naive Bayes, trained on the same subsamples as encoders."""
    started = time.perf_counter()
    labels = splits.train.labels
    sizes = subsets(labels, clusters_of(splits.train), len(splits.labels), seed=cell.seed)
    sizes.append([np.arange(len(labels))])
    right = bayes_curve(splits, (rows for size in sizes for rows in size))
    points = [
        LearningPoint(
            round(sum(map(len, size)) / len(size)),
            np.array([next(right) for _ in size]),
            np.array([majority(labels[rows], splits.test.labels) for rows in size]),
            (),
        )
        for size in sizes
    ]
    result, arrays = _with_curve(empty_result(cell, splits), points, clusters_of(splits.test))
    return replace(result, seconds={"encode": 0.0, "fit": time.perf_counter() - started}), arrays


def _several(clusters: Clusters | None) -> Clusters | None:
    """Clusters, if there are at least two."""
    return clusters if clusters is not None and len(set(clusters)) > 1 else None


def _curve(points: Sequence[LearningPoint], clusters: Clusters | None) -> list[dict[str, float | int]]:
    """The points as plain data: accuracies with intervals over training sets and test rows."""
    curve: list[dict[str, float | int]] = []
    all_rows, estimate = points[-1].rows, None
    for point in points:
        is_subsampled, n = len(point.right) > 1, point.right.shape[1]
        # with all rows there is only one training set. Subsamples of half of them overlap, and vary about as much as
        # training sets of twice the size
        estimate = crossed(
            point.right,
            clusters=_several(clusters),
            share=point.rows / all_rows if is_subsampled else 0.0,
            like=estimate,
        )
        low, high = wilson(estimate.mean * n, n)  # for all or no rows right
        curve.append(
            {
                "rows": point.rows,
                "accuracy": estimate.mean,
                "low": max(0.0, min(low, estimate.low)),
                "high": min(1.0, max(high, estimate.high)),
                "subsamples": len(point.right),
                "sd": float(point.right.mean(axis=1).std(ddof=1)) if is_subsampled else 0.0,
                "majority": float(point.majority.mean()),
                **({"l2": float(np.median(point.l2))} if point.l2 else {}),
            }
        )
    return curve


def _gain(half: LearningPoint, last: LearningPoint, clusters: Clusters | None) -> tuple[float, float, float]:
    """The gain of all rows over half of them, paired by test row.

    The subsamples are taken from the same rows, so most of the variance between training sets cancels.
    """
    gain = crossed(last.right.astype(float) - half.right, clusters=_several(clusters), share=UNSHARED_VARIANCE)
    both, n = (last.right & half.right).mean(axis=0).sum(), half.right.shape[1]
    only_last, only_half = last.right.sum() - both, half.right.mean(axis=0).sum() - both
    # if only few rows differ, the interval of the mean would be too narrow
    low, high = newcombe(round(both), round(only_last), round(only_half), n, standard_errors())
    return gain.mean, min(low, gain.low), max(high, gain.high)


measure = Measure(
    name="learning",
    order=20,
    interpretation=(
        "Points gained by the last doubling of the training rows: if above 0 by more than its interval, the curve "
        "still rises, and the score depends on the number of rows as much as on the encoder."
    ),
    columns=(VariantColumn(("last doubling", "adds"), points),),
    applies_to=has_train_test_split,
    compute=compute,
    over_folds="rows",
)
