"""Features + labels + Probe → a classifier per seed: the grid is fitted, and dev chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sentprobe.probes.features import Features
from sentprobe.probes.kind import Ints, kind_of
from sentprobe.probes.model import Fit, Model
from sentprobe.probes.probe import Probe

if TYPE_CHECKING:
    from sentprobe.probes.convex import TrainingStatistics


def fit(
    probe: Probe,
    train: Features,
    labels: Ints,
    dev: Features,
    dev_labels: Ints,
    classes: int,
    *,
    seeds: Sequence[int] = (1111,),
    device: str | None = None,
    statistics: TrainingStatistics | None = None,
) -> list[Fit]:
    """Fit a probe, once per seed. ``labels`` are 0 … classes - 1; a dev label of -1 is not in train, and a miss.

    Without ``device`` the built-in kinds use numpy, and numba where it is installed; with it, torch on that device.
    The same seed gives the same classifier whatever the number of threads. ``statistics`` are those of the training
    rows, if they are known; kinds that do not use them do not get them.
    """
    kind = kind_of(probe)
    return kind.fit(
        probe, train, labels, dev, dev_labels, classes,
        seeds=seeds, device=device, statistics=statistics if kind.uses_statistics else None,
    )  # fmt: skip


def refit(probe: Probe, train: Features, labels: Ints, classes: int, *, seed: int, device: str | None = None) -> Model:
    """Fit a probe whose grid is one point on all training rows, where there is no dev."""
    kind = kind_of(probe)
    if kind.refit is not None:
        return kind.refit(probe, train, labels, classes, seed=seed, device=device)
    first = slice(0, 1)  # there is nothing to choose
    return fit(probe, train, labels, train.select(first), labels[first], classes, seeds=(seed,), device=device)[0].model


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

    It is trained at the settings that were chosen for all rows. Every class must have rows in at least two groups.
    """
    kind = kind_of(probe)
    if kind.leave_groups_out is not None:
        yield from kind.leave_groups_out(
            probe, found, train, labels, dev, dev_labels, classes, groups, statistics=statistics, device=device
        )
        return
    chosen: dict[str, Any] = {name: (value,) for name, value in found.chosen.items()}
    one = replace(probe, **chosen)
    for assigned in groups:
        for group in range(int(assigned.max()) + 1):
            rows = np.flatnonzero(assigned != group)
            (again,) = fit(
                one, train.select(rows), labels[rows], dev, dev_labels, classes, seeds=[found.seed], device=device
            )
            yield again.model
