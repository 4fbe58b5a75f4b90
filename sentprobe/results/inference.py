"""Paired tests on the same test rows: about encoders if probes were retrained, otherwise about the trained probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from sentprobe.data.splits import cluster_ids
from sentprobe.probes import parse
from sentprobe.probes.kind import kind_of
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.verify import CHOSEN_ARRAY, FOLD_ARRAY, RESAMPLED
from sentprobe.stats import clustered_p
from sentprobe.stats.means import Mean, ScoredRows
from sentprobe.stats.paired import binomial_p
from sentprobe.stats.planning import detectable_difference
from sentprobe.stats.seeds import SeedVariance, encoder_seeds, probe_seeds
from sentprobe.stats.training import BASELINE_GROUPS, Retrained, Systems, mutual_share

T = TypeVar("T")
InferenceTarget = Literal["encoder", "partly", "probe", "system"]
"""What an interval or a p-value is about: the encoder, with any probe trained like this one; the trained probe; or
something in between: only one of two was retrained, and the other is assumed to vary as much, or only seeds vary. Or a
system as it is, if there is nothing to train, as for spaces of words.
"""


def detectable_by(difference: Mean) -> float:
    """The difference that a test with this standard error detects with a power of 80 %."""
    return detectable_difference(difference.variance, difference.df)


def difference_p(run: Run, first: Sequence[Result], second: Sequence[Result]) -> float:
    """The two-sided p-value of the difference of two encoders on the same test rows, over all seeds."""
    return system_p(systems_of(run, (first, second), row_clusters(run, first[0])), 0, 1)


def target_of(sides: Systems, *systems: int) -> InferenceTarget:
    """What a test of these systems is about: encoders, trained probes, or something in between."""
    if sides.known(*systems):
        return "encoder"
    varied = any(sides.training_variance(i) is not None or sides.seeds[i].seeds > 1 for i in systems)
    return "partly" if varied else "probe"


def system_p(sides: Systems, first: int, second: int) -> float:
    """The p-value about the encoders as far as it is known, never below that of the trained probes."""
    of_probes = probe_p(sides, first, second)
    if target_of(sides, first, second) == "probe":
        return of_probes
    return max(of_probes, sides.difference(first, second).p)


def probe_p(sides: Systems, first: int, second: int) -> float:
    """McNemar's mid-p; a permutation test over clusters if rows share them, or over rows with several seeds."""
    first_sums, second_sums = sides.sums[first], sides.sums[second]
    if sides.rows.clustered or max(sides.seeds[first].seeds, sides.seeds[second].seeds) > 1:
        return clustered_p(first_sums, second_sums)  # of clusters already
    apart = first_sums - second_sums
    return binomial_p(int((apart > 0).sum()), int((apart < 0).sum()))[1]


def systems_of(run: Run, sides: Sequence[Sequence[Result]], clusters: Sequence[str] | None) -> Systems:
    """Encoders on the same test rows, each with its results of all seeds."""
    correct = [_correct_by_seed(run, side) for side in sides]
    rows = ScoredRows.of(correct[0][0].shape[1], clusters)
    return Systems(
        rows,
        np.array([np.mean([of_encoder.mean(axis=0) for of_encoder in side], axis=0) for side in correct]),
        [_retrained([read_resamples(run, result) for result in side]) for side in sides],
        [_seed_variance(side, rows) for side in correct],
        [side[0].constant for side in sides],
        [by_training(side, [c.mean(axis=0) for c in of_side]) for side, of_side in zip(sides, correct, strict=True)],
    )


def by_encoder_seed(results: Sequence[Result]) -> list[list[Result]]:
    """The results of each encoder of a recipe, one per seed of the probe; one list for an encoder of no recipe."""
    groups: dict[tuple[str, str | None], list[Result]] = {}
    for result in results:
        groups.setdefault((result.cell.encoder, result.cell.identity), []).append(result)
    return list(groups.values())


def by_training(results: Sequence[Result], values: Sequence[T]) -> dict[str, T]:
    """Values of the encoders of a recipe, in their order, by the name of each; empty for a single one."""
    names = [group[0].cell.encoder for group in by_encoder_seed(results)]
    return dict(zip(names, values, strict=True)) if len(set(names)) == len(names) > 1 else {}


def _correct_by_seed(run: Run, side: Sequence[Result]) -> list[npt.NDArray[np.float64]]:
    """For each encoder of a side, which rows are right by seed of the probe, (seeds, n)."""
    return [np.array([run.row_scores(r) for r in results]) for results in by_encoder_seed(side)]


def _seed_variance(correct: Sequence[npt.NDArray[np.float64]], rows: ScoredRows) -> SeedVariance:
    """Between encoders, whose scores vary with the seeds of probes as well; of one encoder, between these."""
    if len(correct) == 1:
        return probe_seeds(correct[0])
    return encoder_seeds(np.array([of_encoder.mean(axis=0) for of_encoder in correct]), rows)


def _retrained(by_seed: Sequence[Retrained | None]) -> Retrained | None:
    """Which rows retrained probes have right, means over seeds; None unless known for all seeds."""
    resamples = [retrained for retrained in by_seed if retrained is not None]
    if len(resamples) < len(by_seed):
        return None
    k = min(len(retrained.trained) for retrained in resamples)  # joined runs may have retrained different numbers
    trained = np.mean([retrained.trained[:k] for retrained in resamples], axis=0)
    chosen = np.mean([retrained.chosen for retrained in resamples], axis=0)
    return replace(resamples[0], trained=trained, chosen=chosen)


def row_clusters(run: Run, result: Result) -> list[str] | None:
    """The target form or sentence of each test row, if rows share them."""
    if result.clusters is None or result.clusters < 2:
        return None
    rows = run.rows(result)
    return cluster_ids([row.key for row in rows], [row.text for row in rows])


def read_resamples(run: Run, result: Result) -> Retrained | None:
    """Which test rows the retrained probes have right; None if there are none."""
    if not result.resamples:
        return None
    arrays, n = run.paired_arrays(result), result.n["te"]
    trained, chosen = (
        np.unpackbits(arrays[name], axis=1, count=n).astype(np.float64) for name in (RESAMPLED, CHOSEN_ARRAY)
    )
    wide = (result.dimension or 0) > result.n["tr"]
    folds = None if result.cell.folds is None else arrays[FOLD_ARRAY].astype(np.int64)
    groups = BASELINE_GROUPS if result.cell.probe is None else kind_of(parse(result.cell.probe)[1]).groups
    return Retrained(trained, groups, chosen, wide, folds, mutual_share(arrays["truth"]), result.n["tr"])
