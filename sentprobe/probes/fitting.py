"""Features + labels + Probe → a classifier per seed: the grid is fitted, and dev chooses. And classifiers as arrays.

Whatever the kind of probe, a classifier can be fitted, fitted again without groups of its rows, and saved: as plain
arrays with weights in float32. A run scores the model it saves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sentprobe.errors import DataError
from sentprobe.probes.features import Array, Features, Ints
from sentprobe.probes.kind import PROBE_KINDS, Arrays, Fit, Model, check_arrays, kind_of
from sentprobe.probes.probe import Probe

if TYPE_CHECKING:
    from sentprobe.probes.convex import TrainingStatistics

KIND = "kind"
"""The array with the name of a model's kind, where no other array identifies it."""
MAX_SAVED_BYTES = 1 << 24
"""Bytes of weights up to which a run saves a probe: those of 1000 words, the most classes a task of the papers has, on
4096 dimensions. Beyond, a run of many layers would be mostly weights."""


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

    Rows are (n, d), labels (n,); there may be any number of dev rows.
    Without ``device`` the built-in kinds use numpy, and numba where it is installed; with it, torch on that device.
    The same seed gives the same classifier whatever the number of threads. ``statistics`` are those of the training
    rows, if they are known; kinds that do not use them do not get them.
    """
    kind = kind_of(probe)
    return kind.fit(
        probe,
        train,
        labels,
        dev,
        dev_labels,
        classes,
        seeds=seeds,
        device=device,
        statistics=statistics if kind.uses_statistics else None,
    )


def refit(probe: Probe, train: Features, labels: Ints, classes: int, *, seed: int, device: str | None = None) -> Model:
    """Fit a probe whose grid is one point on all training rows, where there is no dev."""
    kind = kind_of(probe)
    if kind.refit is not None:
        return kind.refit(probe, train, labels, classes, seed=seed, device=device)
    first = slice(0, 1)  # there is nothing to choose
    return fit(probe, train, labels, train.select(first), labels[first], classes, seeds=(seed,), device=device)[0].model


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
) -> Iterator[Model]:
    """The probe ``fitted`` trained again without each group of each round; ``groups`` (rounds, n) are 0 … g - 1.

    It is trained at the settings that were chosen for all rows. Every class must have rows in at least two groups.
    """
    kind = kind_of(probe)
    if kind.leave_groups_out is not None:
        yield from kind.leave_groups_out(
            probe, fitted, train, labels, dev, dev_labels, classes, groups, statistics=statistics, device=device
        )
        return
    chosen: dict[str, Any] = {name: (value,) for name, value in fitted.chosen.items()}
    chosen_point = replace(probe, **chosen)
    for assigned in groups:
        for group in range(int(assigned.max()) + 1):
            rows = np.flatnonzero(assigned != group)
            (refitted,) = fit(
                chosen_point,
                train.select(rows),
                labels[rows],
                dev,
                dev_labels,
                classes,
                seeds=[fitted.seed],
                device=device,
            )
            yield refitted.model


def to_arrays(model: Model, centre: Array | None = None) -> dict[str, Array]:
    """A classifier as arrays by name. ``centre`` (d,) is a central point of the vectors it was trained on."""
    for kind in PROBE_KINDS.parts().values():
        if type(model) is kind.model:
            name_array = {} if kind.marker else {KIND: np.array(kind.name)}
            return {**model.to_arrays(centre), **name_array}
    raise TypeError(f"expected a model of a known kind of probe, got {type(model).__name__}")


def from_arrays(arrays: Arrays) -> Model:
    """The classifier that was saved. DataError if the arrays are not those of one."""
    kinds = PROBE_KINDS.parts()
    if KIND in arrays:
        name = str(arrays[KIND])
        if name not in kinds:
            raise DataError(
                f"This is a probe of the kind {name!r}; expected one of {', '.join(kinds)}. Install the package that "
                "offers it."
            )
        return kinds[name].model.from_arrays({key: array for key, array in arrays.items() if key != KIND})
    marked = next((kind for kind in kinds.values() if kind.marker and kind.marker in arrays), None)
    check_arrays(marked is not None, arrays)
    assert marked is not None
    return marked.model.from_arrays(arrays)
