"""Features + labels + Probe → a classifier, one per seed: the whole grid is fitted, and dev chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, assert_never

import numpy as np
import numpy.typing as npt

from sonde.probes.features import Features
from sonde.probes.probe import Probe

if TYPE_CHECKING:
    from sonde.probes.convex import TrainingStatistics


class Model(Protocol):
    """A trained classifier."""

    def scores(self, features: Features) -> npt.NDArray[np.float32]:
        """Log-probabilities of the classes, (n, classes)."""
        ...


@dataclass(frozen=True)
class Fit:
    """A classifier, and how it was come by."""

    model: Model
    seed: int
    chosen: Mapping[str, float | int]
    """The point of the grid that dev chose: l2, and hidden and dropout where the probe has them."""
    dev: float
    """Accuracy on dev."""
    tried: Sequence[Mapping[str, Any]]
    """Every point of the grid: its settings, accuracy and loss on dev, passes over the training rows."""
    candidates: Sequence[Model] = ()
    """The classifier of each of these points."""


def fit(
    probe: Probe,
    train: Features,
    labels: npt.NDArray[np.int64],
    dev: Features,
    dev_labels: npt.NDArray[np.int64],
    classes: int,
    *,
    seeds: Sequence[int] = (1111,),
    device: str | None = None,
    statistics: TrainingStatistics | None = None,
) -> list[Fit]:
    """Fit a probe, once per seed. ``labels`` are 0 … classes - 1; a dev label of -1 was never met, and is a miss.

    Without ``device`` this takes numpy, and numba where it is installed; with it, torch on that device. The same seed
    gives the same classifier whatever the number of threads. ``ground`` is that of the training rows, if it is known;
    only a linear probe has a use for it.
    """
    from sonde.probes import convex, network

    given = (probe, train, labels, dev, dev_labels, classes)
    match probe.kind:
        case "convex":
            return convex.fit(*given, seeds=seeds, device=device, statistics=statistics)
        case "network":
            return network.fit(*given, seeds=seeds, device=device)
        case _:  # a kind that is new would be trained as another one under its name
            assert_never(probe.kind)
