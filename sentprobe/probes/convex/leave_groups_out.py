"""Linear probes trained again without parts of their training rows.

The probes share the reads: the loss on all rows but some is a sum over groups, so each group is read once for all the
probes that include it, and each search starts from the optimum on all rows, which is near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from sentprobe.core.resources import single_threaded
from sentprobe.probes.convex import few_rows
from sentprobe.probes.convex.data import MAX_CACHED_BYTES, TrainingData, TrainingStatistics, curvature_of
from sentprobe.probes.convex.engine import balanced, engine_of
from sentprobe.probes.convex.few_rows import RowSpace
from sentprobe.probes.convex.linear import Linear
from sentprobe.probes.convex.optimum import TOLERANCE
from sentprobe.probes.convex.rows import sort_rows
from sentprobe.probes.convex.search import Value, descend, run_searches
from sentprobe.probes.features import Doubles, Features, Ints
from sentprobe.probes.kind import Fit
from sentprobe.probes.probe import Probe

MAX_REFIT_PASSES = 40
"""Reads after which a search gives up; from the optimum on all rows, five to fifteen are usual."""
SEPARATED_SHARE = 1e-7
"""A search goes on until the objective can fall by no larger share of itself. Where classes are separated, it is so
small from the start that a search would otherwise end there, as if the rows that are left out made no difference."""


def leave_groups_out(
    probe: Probe,
    fitted: Fit,
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    classes: int,
    groups: Ints,
    *,
    statistics: TrainingStatistics | None = None,
    device: str | None = None,
) -> Iterator[Linear]:
    """The optimum without each group of each round, at the penalty that was chosen; dev has no part in it.

    ``groups`` (rounds, n) has the group of every row in every round.
    """
    train, order = sort_rows(train, labels)
    labels, groups = labels[order], groups[:, order]
    counts, engine = np.bincount(labels, minlength=classes), engine_of(device)
    if probe.weights == "balanced":
        engine = balanced(engine, counts)  # those of all rows, whichever are left out
    searches = int(groups[0].max()) + 1
    statistics = statistics or TrainingStatistics.for_searches(train, labels, classes, device, searches)
    # all groups are cached, or none
    cache = MAX_CACHED_BYTES if 4 * len(labels) * train.shape[1] <= MAX_CACHED_BYTES else 0
    space: RowSpace | None = None
    for assigned in groups:
        members = [np.flatnonzero(assigned == group) for group in range(searches)]
        with single_threaded():
            parts = [TrainingData.of(train.select(m), labels[m], counts, engine, statistics, cache) for m in members]
            current = _Round(parts, fitted, counts)
            if not current.searched:
                models = [current.model] * searches
            elif few_rows.suits(train):
                mean, scale = statistics.mean, statistics.scale
                space = space or RowSpace.of(train, mean, scale, standardise=probe.standardise)
                inside = [TrainingData.few(space, labels, counts, engine, m) for m in members]
                models = current.refit_few_rows(space, inside)
            else:
                models = current.refit(probe, statistics)
        yield from models


class _Round:
    """The optima without each part of the rows, from the optimum on all rows."""

    def __init__(self, parts: Sequence[TrainingData], fitted: Fit, counts: Ints) -> None:
        assert isinstance(fitted.model, Linear)
        self.parts, self.counts = parts, counts
        self.model, self.l2 = fitted.model, float(fitted.chosen["l2"])
        shares = parts[0].shares
        self.entropy = -float(shares @ np.log(shares))
        self.searched = len(shares) > 1
        if self.searched:
            self.start = parts[0].point_of(self.model, counts)
            self.known = _without_each(parts, dict.fromkeys(range(len(parts)), self.start))

    def refit(self, probe: Probe, statistics: TrainingStatistics) -> list[Linear]:
        """With the means and deviations of all rows, and what preconditions a search on them."""
        d = len(statistics.scale)
        penalty = np.full(d, self.l2) if probe.standardise else self.l2 / statistics.scale**2
        solve = statistics.solver(curvature_of(self.parts[0].shares), penalty)
        searches = {
            left_out: descend(
                self.start,
                value,
                np.append(penalty, 0.0),
                solve,
                tolerance=TOLERANCE * self.entropy,
                share=SEPARATED_SHARE,
                limit=MAX_REFIT_PASSES,
            )
            for left_out, value in self.known.items()
        }
        ends = run_searches(searches, partial(_without_each, self.parts))
        return [self.parts[0].model_at(ends[left_out].point, self.counts) for left_out in range(len(self.parts))]

    def refit_few_rows(self, space: RowSpace, inside: Sequence[TrainingData]) -> list[Linear]:
        """The same in the coordinates of few rows; the first preconditioner is that of all rows."""
        rows, start = [part.features.take(slice(None)) for part in inside], space.to_coordinates(self.start)
        penalty = np.append(np.full(start.shape[1] - 1, self.l2), 0.0)
        solve = few_rows.solver_at(np.concatenate(rows), start, penalty)
        values = _without_each(inside, dict.fromkeys(range(len(inside)), start))
        searches = {
            left_out: few_rows.search(
                np.concatenate([*rows[:left_out], *rows[left_out + 1 :]]),
                start,
                value,
                penalty,
                tolerance=TOLERANCE,
                entropy=self.entropy,
                limit=MAX_REFIT_PASSES,
                confirm=False,
                solve=solve,
            )
            for left_out, value in values.items()
        }
        ends = run_searches(searches, partial(_without_each, inside))
        points = [space.from_coordinates(ends[left_out].point) for left_out in range(len(inside))]
        return [self.parts[0].model_at(point, self.counts) for point in points]


def _without_each(parts: Sequence[TrainingData], points: Mapping[int, Doubles]) -> dict[int, Value]:
    """The mean loss and its gradient at the point of each probe, on the rows of all parts but its own."""
    sizes = np.array([len(part.features) for part in parts], np.float64)
    losses = dict.fromkeys(points, 0.0)
    gradients = {left_out: np.zeros_like(point) for left_out, point in points.items()}
    for group, part in enumerate(parts):
        including = [left_out for left_out in points if left_out != group]
        values = part.values([points[left_out] for left_out in including]) if including else []
        for left_out, (loss, slope) in zip(including, values, strict=True):
            share = sizes[group] / (sizes.sum() - sizes[left_out])
            losses[left_out] += share * loss
            gradients[left_out] += share * slope
    return {left_out: (losses[left_out], gradients[left_out]) for left_out in points}
