"""The numbers of one cell: the results of its seeds as a ``CellSummary``, with means, intervals and what dev chose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np

from sentprobe.errors import SentProbeError
from sentprobe.probes import parse
from sentprobe.published import TRANSFER
from sentprobe.report.result_grid import ColumnKey, Grid, Layers, SetKey
from sentprobe.report.types import BaselineComparison, CellSummary, Score, TransferMean, UsableInformation
from sentprobe.results.inference import by_encoder_seed, row_clusters, systems_of
from sentprobe.results.metric import DEFAULT_METRIC, metric_named, table_metrics
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.scores import applies, class_score, interval_by, predictions_for, score_by
from sentprobe.results.sides import best_layer
from sentprobe.stats.intervals import proportion_interval
from sentprobe.stats.level import standard_errors
from sentprobe.stats.means import INFINITE_DF, combined
from sentprobe.stats.seeds import spread

MIN_GRID_SIZE = 3
"""Values of L2 that a grid needs to have an inside: of two, each is an end, and neither shows that it is too short."""


def value_of(cell: CellSummary | None) -> float | None:
    """The number in a cell, if it has one."""
    return None if cell is None else cell.score.value


def make_cell(
    run: Run, grid: Grid, column: ColumnKey, set_key: SetKey, metric: str, notes: list[str]
) -> CellSummary | None:
    """The layer that dev chose, over all seeds; None without results. Missing intervals are added to ``notes``."""
    layers = grid.layers(column, set_key)
    if not layers:
        return None
    results = best_layer(layers)
    metric_score = _with_interval(run, results, metric, notes)
    beside = metric_named(metric).beside
    calibrated = _with_interval(run, results, beside, notes) if beside else None
    by_metric = {name: value for name in table_metrics() if (value := _from_classes(run, results, name)) is not None}
    return _cell(run, results, metric_score, calibrated=calibrated, layers=len(layers), by_metric=by_metric)


def _from_classes(run: Run, results: Sequence[Result], metric: str) -> float | None:
    """The mean over seeds; None for a metric that needs more than predicted classes, or if they cannot be read."""
    part = metric_named(metric)
    if not {"predicted", "truth"}.issuperset(part.needs) or not applies(part, results[0]):
        return None
    with suppress(SentProbeError):  # of which the tests of the score have told
        return _mean_of_all([class_score(run, result, part) for result in results])
    return None


def make_layer_cell(
    run: Run, layers: Layers, name: str | None, metric: str, dev_cell: CellSummary | None
) -> CellSummary | None:
    """One layer on a set; ``dev_cell`` is that of the layer that dev chose, which alone has a baseline comparison."""
    if name not in layers:
        return None
    results = layers[name]
    # intervals of other metrics are left out: to compute them for every layer takes too long
    own_metric = metric == results[0].metric
    layer_score = recorded_score(run, results) if own_metric else score(results, metric, (), run)
    by_dev = best_layer(layers) is results
    against = dev_cell.against if by_dev and dev_cell is not None else None
    return _cell(run, results, layer_score, against=against, by_dev=by_dev)


def _details(trainings: Sequence[Result]) -> dict[str, float]:
    """Further numbers of what trains no probe: of several trainings their means, as far as all have them."""
    numbers = [{**r.baselines, **r.scores} for r in trainings]
    return {
        name: sum(n[name] for n in numbers) / len(numbers) for name in numbers[0] if all(name in n for n in numbers)
    }


def _with_interval(run: Run, results: Sequence[Result], metric: str, notes: list[str]) -> Score:
    """A metric over seeds, with its interval if that can be computed."""
    if metric == results[0].metric:
        return recorded_score(run, results)
    try:
        intervals = intervals_of(run, results, metric)
    except SentProbeError as e:
        intervals = []
        notes.append(f"An interval is missing: {e}")
    return score(results, metric, intervals, run)


def _cell(
    run: Run,
    results: Sequence[Result],
    metric_score: Score,
    *,
    calibrated: Score | None = None,
    layers: int = 1,
    against: BaselineComparison | None = None,
    by_dev: bool = True,
    by_metric: Mapping[str, float] | None = None,
) -> CellSummary:
    first, by_encoder = results[0], by_encoder_seed(results)
    accuracy = recorded_score(run, results)
    probe = score(results, first.metric, [] if first.constant else [r.range for r in results])
    assert accuracy.value is not None  # every result has a score
    return CellSummary(
        score=metric_score,
        calibrated=calibrated,
        accuracy=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        interval="cluster" if first.cluster_interval else first.interval_kind,
        about="encoder" if all(r.encoder_interval for r in results) else "probe",
        probe_low=probe.low,
        probe_high=probe.high,
        training_sd=first.training_sd,
        clusters=first.clusters,
        sd=accuracy.sd,
        seeds=min(map(len, by_encoder)),
        trainings={
            run.training_title(of_encoder[0].cell.encoder): sum(r.score for r in of_encoder) / len(of_encoder)
            for of_encoder in by_encoder
            if len(by_encoder) > 1
        },
        n=first.n["te"],
        by_metric=dict(by_metric or {}),
        macro_f1=_mean_of_all(r.macro_f1 for r in results),
        log2_loss=_mean_of_all(r.log2_loss for r in results),
        log2_loss_calibrated=_mean_of_all(r.log2_loss_calibrated for r in results),
        temperature=_mean(r.scores.get("temperature") for r in results),
        dev_score=_mean(r.dev_score for r in results),
        layer=first.cell.layer,
        layers=layers,
        information=_information(results),
        dimension=first.dimension,
        train_n=first.n["tr"],
        edge=_edge(first),
        chosen=tuple(dict(r.chosen) for r in results),
        converged=all(map(_converged, results)),
        details={} if first.trained_on else _details([of_encoder[0] for of_encoder in by_encoder]),
        partial=first.partial,
        signatures=tuple(r.signature for r in results),
        against=against,
        by_dev=by_dev,
    )


def _converged(result: Result) -> bool:
    """Whether the search at the chosen penalty reached its optimum, as far as that was recorded.

    Each fold has chosen for itself, and has brought that penalty to its optimum.
    """
    folds: dict[Any, list[bool]] = {}
    for point in result.tried:
        if "fold" in point or point.get("l2") == result.chosen.get("l2"):
            folds.setdefault(point.get("fold"), []).append(point.get("converged", True))
    return all(map(any, folds.values()))


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are there."""
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _mean_of_all(values: Iterable[float | None]) -> float | None:
    """The mean over seeds; None if a value is missing."""
    numbers = list(values)
    return None if None in numbers else _mean(numbers)


def _edge(result: Result) -> Literal["weakest", "strongest"] | None:
    """Whether dev chose the L2 at one end of its grid, so that a better one may lie beyond."""
    chosen = result.chosen.get("l2")
    if result.cell.probe is None or chosen is None:
        return None
    with suppress(SentProbeError):  # a probe that only a later version knows
        grid = set(parse(result.cell.probe)[1].l2)
        if len(grid) >= MIN_GRID_SIZE and chosen in (min(grid), max(grid)):
            return "weakest" if chosen == min(grid) else "strongest"
    return None


def _information(results: Sequence[Result]) -> UsableInformation | None:
    """Bits about the label over all seeds; None if a result has none."""
    if any("information" not in r.scores for r in results):
        return None
    intervals = [(r.scores["information_low"], r.scores["information_high"]) for r in results]
    bits = over_seeds([r.scores["information"] for r in results], intervals, lower=-math.inf, upper=math.inf)
    assert bits.value is not None
    return UsableInformation(bits=bits.value, low=bits.low, high=bits.high, entropy=results[0].scores["entropy"])


# Over seeds


Interval = tuple[float, float]


def score(results: Sequence[Result], metric: str, intervals: Sequence[Interval] = (), run: Run | None = None) -> Score:
    """The metric over results that differ in their seed, each with its own interval, if it has one.

    A metric that was not recorded is computed from the predictions in ``run``.
    """
    values = [score_by(run, result, metric_named(metric)) for result in results]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return Score()
    lowest, highest = metric_named(metric).range
    groups = by_encoder_seed(results)
    if len(groups) == 1:
        return over_seeds(numbers, intervals, lower=lowest, upper=highest)
    by_key = {result.key: i for i, result in enumerate(results)}
    scores = []
    for group in groups:
        members = [by_key[result.key] for result in group]
        of_group = [intervals[i] for i in members] if intervals else []
        scores.append(over_seeds([numbers[i] for i in members], of_group, lower=lowest, upper=highest))
    ends = [(s.low, s.high) for s in scores if s.low is not None and s.high is not None]
    means = [s.value for s in scores if s.value is not None]
    return over_seeds(means, ends if len(ends) == len(means) else (), lower=lowest, upper=highest)


def recorded_score(run: Run, results: Sequence[Result]) -> Score:
    """What results are scored by, over seeds. Of a recipe, the interval is about it, on other samples of test rows.

    Rows and seeds are told apart by which rows each training has right; where that is not known, their half widths are
    combined, which is too wide if trainings are right on different rows.
    """
    metric = metric_named(results[0].metric)
    over = score(results, metric.name, accuracy_intervals(results))
    if len(by_encoder_seed(results)) == 1 or over.low is None or not metric.right_or_wrong:
        return over
    with suppress(SentProbeError):  # of predictions that cannot be read, the paired tests tell
        systems = systems_of(run, [results], row_clusters(run, results[0]))
        return Score(over.value, *proportion_interval(systems.score(0), systems.rows, averaged=True), over.sd)
    return over


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
    # a variance and its degrees of freedom
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
    # all or none: the mean of intervals about different things would be about neither
    about = [result.encoder_interval for result in results if result.encoder_interval is not None]
    return about if len(about) == len(results) else [result.range for result in results]


def intervals_of(run: Run, results: Sequence[Result], metric: str) -> list[Interval]:
    """The interval of each result; none for a metric that has no interval, or a prediction that is the same for all.

    That of what a result is scored by is in the result. Others are from the predictions, over target forms where the
    set has them or sentences, as that of the accuracy is.
    """
    if metric == results[0].metric:
        return accuracy_intervals(results)
    part = metric_named(metric)
    if not part.has_interval or any(result.constant for result in results):
        return []
    predictions = [predictions_for(run, result, part) for result in results]
    if any(arrays is None for arrays in predictions):
        return []
    clusters = row_clusters(run, results[0]) if results[0].cluster_interval is not None else None
    return [interval_by(part, arrays, clusters) for arrays in predictions if arrays is not None]


Estimate = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval, None where there is none."""


def estimate_of(cell: CellSummary | None) -> Estimate:
    """The number in a cell and the interval that is shown with it."""
    return (None, None, None) if cell is None else (cell.score.value, cell.score.low, cell.score.high)


# Over tasks


def aggregate(results: Sequence[Result]) -> TransferMean | None:
    """Macro: the mean dev accuracy of transfer tasks; micro: weighted by rows. None with fewer than two such tasks.

    As in Conneau (2019, section 3.2.4), over tasks that are scored by accuracy. The rows are those that SentEval
    counts: of dev, or of the folds where there is none.
    """
    transfer_scores = [
        (r.dev_score, r.n["va"] or (r.n["te"] if r.interval_kind == "nadeau-bengio" else r.n["tr"]), r.cell.task)
        for r in results
        if r.cell.task in TRANSFER and r.metric == DEFAULT_METRIC and r.dev_score is not None
    ]
    if len(transfer_scores) < 2:
        return None
    rows = sum(n for _, n, _ in transfer_scores)
    return TransferMean(
        tasks=tuple(task for _, _, task in transfer_scores),
        macro=sum(score for score, _, _ in transfer_scores) / len(transfer_scores),
        micro=sum(score * n for score, n, _ in transfer_scores) / rows,
        rows=rows,
    )
