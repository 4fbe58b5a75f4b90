"""How near two vectors are, and what that makes of triplets and scored pairs: scores, intervals, arrays to be saved."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.errors import UsageError
from sentprobe.probes import Features
from sentprobe.results.metric import metric_named
from sentprobe.results.verify import Arrays
from sentprobe.run.pair_sets import PairSet
from sentprobe.stats.intervals import proportion_interval, wilson
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.resample import bootstrap_score, percentile_interval
from sentprobe.transfer.similarity import similarity

Floats = npt.NDArray[np.float64]
TIE = 1e-6
"""Similarities that differ by less, in relation to the lengths of the vectors, are tied: vectors are float32, and those
of the same words in another order differ by rounding."""
DRAWS = 1000
"""Bootstrap samples for the interval of a correlation."""


def cosine(first: Floats, second: Floats) -> Floats:
    """The cosine of each row of (n, d) and the one beside it; 0 if one of them is zero."""
    return np.asarray(similarity(Features.of(first), Features.of(second)))


def dot(first: Floats, second: Floats) -> Floats:
    """The dot product of each row of (n, d) and the one beside it."""
    return np.asarray(np.einsum("ij,ij->i", first, second))


def euclidean(first: Floats, second: Floats) -> Floats:
    """Minus the Euclidean distance of each row of (n, d) from the one beside it."""
    return np.asarray(-np.linalg.norm(first - second, axis=1))


SIMILARITIES: Mapping[str, Callable[[Floats, Floats], Floats]] = {"cosine": cosine, "dot": dot, "euclidean": euclidean}
"""By name; higher is nearer."""


@dataclass(frozen=True, eq=False)
class PairScores:
    """How a system does on a set."""

    score: float
    interval: tuple[float, float]
    interval_kind: str
    cluster_interval: tuple[float, float] | None
    scores: Mapping[str, float]
    arrays: Arrays


def similarities(name: str, columns: Sequence[Floats]) -> tuple[Floats, ...]:
    """Of triplets, how near positive and contrast are to the anchor, (n,) each; of pairs, how near the two are.

    What is equally near up to rounding is made equal: similarities of triplets to their mean.
    """
    compare = SIMILARITIES[name]
    near = tuple(compare(columns[0], column) for column in columns[1:])
    if len(near) == 1:
        return near
    norms = [np.linalg.norm(column, axis=1) for column in columns]
    scale = {"cosine": 1.0, "dot": norms[0] * np.maximum(norms[1], norms[2]), "euclidean": np.max(norms, axis=0)}[name]
    tied = np.abs(near[0] - near[1]) <= TIE * scale
    middle = (near[0] + near[1]) / 2
    return tuple(np.where(tied, middle, values) for values in near)


def score_pairs(pair_set: PairSet, near: Sequence[Floats]) -> PairScores:
    """Scores by these similarities, as ``similarities`` gives them."""
    if pair_set.gold is None:
        return _score_triplets(pair_set, near[0], near[1])
    return _score_gold(pair_set, near[0], pair_set.gold)


def _score_triplets(pair_set: PairSet, positive: Floats, contrast: Floats) -> PairScores:
    # the sign of the difference is what counts, and float32 would lose it where values are large
    margin = positive - contrast
    arrays = {"predicted": margin, "truth": np.zeros(len(margin)), "positive": positive, "contrast": contrast}
    metric = metric_named(pair_set.metric)
    assert metric.row_values is not None
    values = metric.row_values(arrays)
    of_clusters = None
    if pair_set.clusters is not None:
        rows = ScoredRows.of(len(values), pair_set.clusters)
        of_clusters = proportion_interval(rows.mean(values), rows)
    return PairScores(
        score=float(values.mean()),
        interval=wilson(float(values.sum()), len(values)),
        interval_kind="wilson",
        cluster_interval=of_clusters,
        scores={
            "ties": float((margin == 0).sum()),
            "positive": float(positive.mean()),
            "contrast": float(contrast.mean()),
        },
        arrays=arrays,
    )


def _score_gold(pair_set: PairSet, near: Floats, gold: Floats) -> PairScores:
    arrays = {"predicted": near, "truth": gold}
    metric = metric_named(pair_set.metric)
    value = metric.score(arrays)
    if not math.isfinite(value):
        raise UsageError(f"All pairs of {pair_set.dataset.name} are equally similar, so there is no {metric.title}.")
    draws = bootstrap_score(metric.score, arrays, pair_set.clusters, draws=DRAWS)
    low, high = percentile_interval(draws[~np.isnan(draws)])
    further = "average_precision" if pair_set.metric == "roc_auc" else "pearson"
    return PairScores(
        score=value,
        interval=(min(low, value), max(high, value)),
        interval_kind="bootstrap",
        cluster_interval=None,
        scores={further: metric_named(further).score(arrays)},
        arrays=arrays,
    )
