"""What fitting a probe gives: a classifier that scores vectors and can be saved, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.probes.features import Features

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]


class Model(Protocol):
    """A trained classifier."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of classes it knows, and of dimensions it reads."""
        ...

    def scores(self, features: Features) -> npt.NDArray[np.float32]:
        """Log-probabilities of the classes, (n, classes)."""
        ...

    def to_arrays(self, centre: Array | None = None) -> dict[str, Array]:
        """The classifier as arrays by name; ``centre`` (d,) is a central point of the vectors it was trained on."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The classifier that was saved. DataError if the arrays are not those of one."""
        ...


@dataclass(frozen=True)
class Fit:
    """A classifier, and how it was found."""

    model: Model
    seed: int
    chosen: Mapping[str, float | int]
    """The point of the grid that dev chose: l2, and hidden and dropout where the probe has them."""
    dev: float
    """Accuracy on dev."""
    tried: Sequence[Mapping[str, Any]]
    """The points of the grid that were tried: settings, accuracy and loss on dev, and passes over the training rows."""
    candidates: Sequence[Model] = ()
    """The classifier of each of these points."""


def check_arrays(valid: bool, arrays: Arrays) -> None:
    """Raise DataError, with the shapes of the arrays, if they are not valid for a model."""
    if not valid:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        raise DataError(f"These are not the arrays of a probe: got {shapes}; expected what `to_arrays` returns.")
