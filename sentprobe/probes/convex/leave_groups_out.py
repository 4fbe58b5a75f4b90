"""Linear probes trained again without parts of their training rows.

The probes share the reads: the loss on all rows but some is a sum over groups, so each group is read once for all the
probes that include it, and each search starts from the optimum on all rows, which is near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from sentprobe.core.threads import single_threaded
from sentprobe.probes.convex.data import MAX_CACHED_BYTES, Data, Ints, TrainingStatistics, curvature_of, engine_of
from sentprobe.probes.convex.engine import Doubles
from sentprobe.probes.convex.linear import Linear
from sentprobe.probes.convex.optimum import TOLERANCE
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
    searches = int(groups[0].max()) + 1
    statistics = statistics or TrainingStatistics.for_searches(train, labels, classes, device, searches)
    for assigned in groups:
        yield from _round(probe, found, train, labels, classes, assigned, statistics, device)


def _round(
    probe: Probe, found: Fit, train: Features, labels: Ints, classes: int, assigned: Ints,
    statistics: TrainingStatistics, device: str | None,
) -> list[Linear]:  # fmt: skip
    """The optimum without each group, with the means and deviations of all rows."""
    counts, d = np.bincount(labels, minlength=classes), train.shape[1]
    members = [np.flatnonzero(assigned == group) for group in range(int(assigned.max()) + 1)]
    model, l2 = found.model, float(found.chosen["l2"])
    assert isinstance(model, Linear)
    with single_threaded():
        cache = MAX_CACHED_BYTES if 4 * len(labels) * d <= MAX_CACHED_BYTES else 0  # all groups are cached, or none
        parts = [Data.of(train.select(m), labels[m], counts, engine_of(device), statistics, cache) for m in members]
        shares = parts[0].shares
        if len(shares) == 1:
            return [model] * len(members)
        sizes = np.array([len(m) for m in members], np.float64)
        tolerance = -TOLERANCE * float(shares @ np.log(shares))
        penalty = np.full(d, l2) if probe.standardise else l2 / statistics.scale**2
        solve = statistics.solver(curvature_of(shares), penalty)

        def answer(points: Mapping[int, Doubles]) -> dict[int, Value]:
            """The mean loss and its gradient at the point of each probe, on the rows of all groups but its own."""
            losses = dict.fromkeys(points, 0.0)
            gradients = {each: np.zeros_like(point) for each, point in points.items()}
            for group, part in enumerate(parts):
                others = [each for each in points if each != group]
                values = part.values([points[each] for each in others]) if others else []
                for each, (loss, slope) in zip(others, values, strict=True):
                    share = sizes[group] / (len(labels) - sizes[each])
                    losses[each] += share * loss
                    gradients[each] += share * slope
            return {each: (losses[each], gradients[each]) for each in points}

        start = parts[0].point_of(model, counts)
        known = answer(dict.fromkeys(range(len(parts)), start))
        searches = {
            each: descend(
                start, known[each], np.append(penalty, 0.0), solve, tolerance=tolerance, limit=MAX_REFIT_PASSES
            )
            for each in range(len(parts))
        }
        ends = run(searches, answer)
        return [parts[0].model_at(ends[each].point, counts) for each in range(len(parts))]
