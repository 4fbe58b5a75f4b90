"""Linear probes trained again without parts of their training rows.

The probes share the reads: the loss on all rows but some is a sum over groups, so each group is read once for all the
probes that include it, and each search starts from the optimum on all rows, which is near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from sentprobe.core.threads import single_threaded
from sentprobe.probes.convex import few_rows
from sentprobe.probes.convex.data import MAX_CACHED_BYTES, Data, Ints, TrainingStatistics, curvature_of, engine_of
from sentprobe.probes.convex.engine import Doubles
from sentprobe.probes.convex.few_rows import RowSpace
from sentprobe.probes.convex.linear import Linear
from sentprobe.probes.convex.optimum import TOLERANCE
from sentprobe.probes.convex.order import sort_rows
from sentprobe.probes.convex.search import Value, descend, run
from sentprobe.probes.features import Features
from sentprobe.probes.model import Fit
from sentprobe.probes.probe import Probe

MAX_REFIT_PASSES = 40
"""Reads after which a search gives up; from the optimum on all rows, five to fifteen are usual."""


def leave_groups_out(
    probe: Probe,
    found: Fit,
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
    """The optimum without each group of each round, at the penalty that was chosen; dev has no part in it."""
    train, order = sort_rows(train, labels)
    labels, groups = labels[order], groups[:, order]
    counts, engine = np.bincount(labels, minlength=classes), engine_of(device)
    searches = int(groups[0].max()) + 1
    statistics = statistics or TrainingStatistics.for_searches(train, labels, classes, device, searches)
    # all groups are cached, or none
    cache = MAX_CACHED_BYTES if 4 * len(labels) * train.shape[1] <= MAX_CACHED_BYTES else 0
    space: RowSpace | None = None
    for assigned in groups:
        members = [np.flatnonzero(assigned == group) for group in range(searches)]
        with single_threaded():
            parts = [Data.of(train.select(m), labels[m], counts, engine, statistics, cache) for m in members]
            around = _Round(parts, found, counts)
            if not around.searched:
                models = [around.model] * searches
            elif few_rows.suits(train):
                mean, scale = statistics.mean, statistics.scale
                space = space or RowSpace.of(train, mean, scale, standardise=probe.standardise)
                inside = [Data.few(space, labels, counts, engine, m) for m in members]
                models = around.few(space, inside)
            else:
                models = around.many(probe, statistics)
        yield from models


class _Round:
    """The optima without each part of the rows, from the optimum on all rows."""

    def __init__(self, parts: Sequence[Data], found: Fit, counts: Ints) -> None:
        assert isinstance(found.model, Linear)
        self.parts, self.counts = parts, counts
        self.model, self.l2 = found.model, float(found.chosen["l2"])
        shares = parts[0].shares
        self.entropy = -float(shares @ np.log(shares))
        self.searched = len(shares) > 1
        if self.searched:
            self.start = parts[0].point_of(self.model, counts)
            self.known = _without_each(parts, dict.fromkeys(range(len(parts)), self.start))

    def many(self, probe: Probe, statistics: TrainingStatistics) -> list[Linear]:
        """With the means and deviations of all rows, and what preconditions a search on them."""
        d = len(statistics.scale)
        penalty = np.full(d, self.l2) if probe.standardise else self.l2 / statistics.scale**2
        solve = statistics.solver(curvature_of(self.parts[0].shares), penalty)
        searches = {
            each: descend(
                self.start, value, np.append(penalty, 0.0), solve,
                tolerance=TOLERANCE * self.entropy, limit=MAX_REFIT_PASSES,
            )
            for each, value in self.known.items()
        }  # fmt: skip
        ends = run(searches, partial(_without_each, self.parts))
        return [self.parts[0].model_at(ends[each].point, self.counts) for each in range(len(self.parts))]

    def few(self, space: RowSpace, inside: Sequence[Data]) -> list[Linear]:
        """The same in the coordinates of few rows; the first preconditioner is that of all rows."""
        rows, start = [part.features.take(slice(None)) for part in inside], space.inward(self.start)
        penalty = np.append(np.full(start.shape[1] - 1, self.l2), 0.0)
        solve = few_rows.solver_at(np.concatenate(rows), start, penalty)
        known = _without_each(inside, dict.fromkeys(range(len(inside)), start))
        searches = {
            each: few_rows.search(
                np.concatenate([*rows[:each], *rows[each + 1 :]]), start, value, penalty, tolerance=TOLERANCE,
                entropy=self.entropy, limit=MAX_REFIT_PASSES, confirm=False, solve=solve,
            )
            for each, value in known.items()
        }  # fmt: skip
        ends = run(searches, partial(_without_each, inside))
        points = [space.outward(ends[each].point) for each in range(len(inside))]
        return [self.parts[0].model_at(point, self.counts) for point in points]


def _without_each(parts: Sequence[Data], points: Mapping[int, Doubles]) -> dict[int, Value]:
    """The mean loss and its gradient at the point of each probe, on the rows of all parts but its own."""
    sizes = np.array([len(part.features) for part in parts], np.float64)
    losses = dict.fromkeys(points, 0.0)
    gradients = {each: np.zeros_like(point) for each, point in points.items()}
    for group, part in enumerate(parts):
        others = [each for each in points if each != group]
        values = part.values([points[each] for each in others]) if others else []
        for each, (loss, slope) in zip(others, values, strict=True):
            share = sizes[group] / (sizes.sum() - sizes[each])
            losses[each] += share * loss
            gradients[each] += share * slope
    return {each: (losses[each], gradients[each]) for each in points}
