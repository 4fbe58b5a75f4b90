"""A probe trained again without parts of its training rows, at the settings that were chosen for all of them.

The rows are dealt into groups, and a probe is trained without each. Linear probes share the readings: the loss of all
rows but some is a sum over groups, so that each group is read once for all the probes that have it, and each search
starts from the optimum on all rows, which is near.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sonde.core.threads import single_threaded
from sonde.probes import network
from sonde.probes.convex import (
    MAX_CACHED_BYTES,
    TOLERANCE,
    Data,
    Linear,
    TrainingStatistics,
    curvature_of,
    engine_of,
    model_at,
    point_of,
)
from sonde.probes.convex_numpy import Doubles
from sonde.probes.convex_search import Value, descend, run, solver
from sonde.probes.features import Features
from sonde.probes.fit import Fit, Model
from sonde.probes.probe import Probe

Ints = npt.NDArray[np.int64]

MAX_REFIT_PASSES = 40
"""Readings after which a search gives up; from the optimum on all rows, five to fifteen are usual."""


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
) -> Iterator[Model]:
    """The probe ``found`` trained again without each group of each round; ``groups`` (rounds, n) are 0 … g - 1.

    Every class must have rows in two groups or more.
    """
    match probe.kind:
        case "convex":
            assert isinstance(found.model, Linear)
            statistics = statistics or TrainingStatistics.of(train, labels, classes, device)
            for dealt in groups:
                yield from _linear(probe, found, train, labels, classes, dealt, statistics, device)
        case "network":
            chosen = found.chosen
            once = replace(probe, l2=(float(chosen["l2"]),))
            if "hidden" in chosen:
                once = replace(once, hidden=(int(chosen["hidden"]),), dropout=(float(chosen["dropout"]),))
            for dealt in groups:
                for group in range(int(dealt.max()) + 1):
                    rows = np.flatnonzero(dealt != group)
                    (again,) = network.fit(
                        once, train.select(rows), labels[rows], dev, dev_labels, classes,
                        seeds=[found.seed], device=device,
                    )  # fmt: skip
                    yield again.model


def _linear(
    probe: Probe, found: Fit, train: Features, labels: Ints, classes: int, dealt: Ints, statistics: TrainingStatistics,
    device: str | None,
) -> list[Linear]:  # fmt: skip
    """The optimum without each group, with the means and deviations of all rows."""
    counts, d = np.bincount(labels, minlength=classes), train.shape[1]
    members = [np.flatnonzero(dealt == group) for group in range(int(dealt.max()) + 1)]
    model, l2 = found.model, float(found.chosen["l2"])
    assert isinstance(model, Linear)
    with single_threaded():
        room = MAX_CACHED_BYTES if 4 * len(labels) * d <= MAX_CACHED_BYTES else 0  # all groups are kept, or none
        parts = [Data.of(train.select(m), labels[m], counts, engine_of(device), statistics, room) for m in members]
        shares = parts[0].shares
        if len(shares) == 1:
            return [model] * len(members)
        sizes = np.array([len(m) for m in members], np.float64)
        promised = -TOLERANCE * float(shares @ np.log(shares))
        penalty = np.full(d, l2) if probe.standardise else l2 / statistics.scale**2
        solve = solver(
            statistics.correlations,
            curvature_of(shares),
            penalty,
            statistics.inverse(l2) if probe.standardise else None,
        )

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

        start = point_of(parts[0], model, counts)
        known = answer(dict.fromkeys(range(len(parts)), start))
        searches = {
            each: descend(
                start, known[each], np.append(penalty, 0.0), solve, tolerance=promised, limit=MAX_REFIT_PASSES
            )
            for each in range(len(parts))
        }
        ends = run(searches, answer)
        return [model_at(parts[0], ends[each].point, counts) for each in range(len(parts))]
