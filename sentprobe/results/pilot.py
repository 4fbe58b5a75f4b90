"""A run as a pilot: how the difference of two of its encoders varies, for planning the sets of the next run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from sentprobe.data.planning import Plan
from sentprobe.errors import RunError, UsageError
from sentprobe.probes.baselines import BASELINES, ENCODER_BASELINES
from sentprobe.results.inference import row_clusters, systems_of
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import Side, non_baseline_encoders, nothing_shared, select_side, shown_names
from sentprobe.stats.planning import TRAINING, Variation
from sentprobe.stats.training import Systems

ADDED_DF, ADDED_DF_IN_FOLDS = 2.0, 8.0
"""Degrees of freedom of what training and dev rows add to a variance, on one split and in folds: in simulation, 95 %
intervals of the standard error then cover it in 91 and 95 %."""

Pair = tuple[str, Sequence[Result], str, Sequence[Result]]
"""Two systems on one set: their names, and the results of their seeds."""


def pilot_plans(run: Run, names: Sequence[str] = ()) -> list[Plan]:
    """What the sets of a run can show, by what was observed of two systems.

    Without names these are, of all pairs of encoders, the two whose difference varies most; or, of a run of one
    encoder, that one and the best baseline on each set.
    """
    pairs_by_set = dict[str, list[Pair]]()
    for set_id, pair in _pairs(run, names):
        pairs_by_set.setdefault(set_id, []).append(pair)
    plans = []
    for pairs in pairs_by_set.values():
        candidates = [plan for pair in pairs if (plan := _plan(run, pair)) is not None]
        if candidates:
            plans.append(max(candidates, key=lambda plan: plan.variation.in_folds(plan.rows, plan.seeds)))
    if not plans:
        raise RunError(f"{run.folder}: no two systems differ on any set; expected results of probes that do.")
    return plans


def _pairs(run: Run, names: Sequence[str]) -> Iterator[tuple[str, Pair]]:
    if len(names) not in (0, 2):
        raise UsageError(f"Expected two encoders, or none, got {len(names)}.")
    sides = [select_side(run, name) for name in names or non_baseline_encoders(run)]
    if len(sides) == 1:
        yield from _with_best_baseline(run, sides[0])
        return
    shared = {set_id for first, second in combinations(sides, 2) for set_id in first.results.keys() & second.results}
    if not shared:
        raise nothing_shared(run, sides)
    for first, second in combinations(sides, 2):
        for set_id in first.results:
            if set_id in second.results:
                yield set_id, (first.name, first.results[set_id], second.name, second.results[set_id])


def _with_best_baseline(run: Run, encoder: Side) -> Iterator[tuple[str, Pair]]:
    baselines = [select_side(run, name) for name in (*BASELINES, *ENCODER_BASELINES) if name in run.encoders]
    for set_id, results in encoder.results.items():
        scored = [side for side in baselines if set_id in side.results]
        if scored:
            best = max(scored, key=lambda side: _score(side.results[set_id]))
            yield set_id, (encoder.name, results, best.name, best.results[set_id])


def _score(results: Sequence[Result]) -> float:
    return float(np.mean([result.score for result in results]))


def _plan(run: Run, pair: Pair) -> Plan | None:
    """A plan by two systems; None if they are right on the same rows."""
    first, first_results, second, second_results = pair
    result = first_results[0]
    systems = systems_of(run, (first_results, second_results), row_clusters(run, result))
    n, train, in_folds = result.n["te"], result.n["tr"], result.cell.folds is not None
    tested = Systems(systems.rows, systems.correct).difference(0, 1).variance
    if tested <= 0 or result.metric != "accuracy":
        return None
    seeds = max(side.seeds for side in systems.seeds)
    return Plan(
        dataset=result.cell.dataset,
        pilot=" and ".join(shown_names(run, (first, second))),
        rows=n if in_folds else sum(result.n.values()),
        train=train,
        test=None if in_folds else n,
        classes=len(result.labels),
        accuracy=float(systems.correct.mean()),
        can_fold=in_folds or result.cell.probe is not None,
        by_default=in_folds,
        variation=replace(
            _variation(systems, tested, n, train),
            # sides may have different numbers of seeds: what they add together, times the larger
            seeds=seeds * sum(variance for variance, _ in systems.seed_variances(tested, 0, 1)),
            df=systems.difference(0, 1).df,
            estimate_df=_estimate_df(systems, tested, in_folds),
        ),
        seeds=seeds,
    )


def _estimate_df(systems: Systems, tested: float, in_folds: bool) -> float:
    """How certain the variance of the difference is, as degrees of freedom; ``tested`` is the part of the test rows."""
    variance = systems.difference(0, 1).variance
    df = systems.rows.df(systems.correct[0] - systems.correct[1])
    added_df = ADDED_DF_IN_FOLDS if in_folds else ADDED_DF
    return variance**2 / (tested**2 / df + (variance - tested) ** 2 / added_df)


def _variation(systems: Systems, tested: float, n: int, train: int) -> Variation:
    if not any(systems.retrained):  # with --resample 0
        return Variation(tested=tested * n, trained=TRAINING * tested * n, excess=TRAINING)

    def added(folds: np.ndarray | None) -> float:
        """The variance that training rows add, as it is estimated in folds or with one split."""
        retrained = [probes and replace(probes, folds=folds) for probes in systems.retrained]
        same_rows = Systems(systems.rows, systems.correct, retrained, constant=systems.constant)
        return same_rows.difference(0, 1).variance - tested

    # rows of one split tell as well how many predictions would change, which is what counts in folds
    return Variation(tested=tested * n, trained=added(None) * train, excess=added(np.zeros(n, np.int64)) / tested)
