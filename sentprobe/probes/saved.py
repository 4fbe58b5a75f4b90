"""Trained classifiers as plain arrays, and back: what a run keeps of its probes.

Weights are saved as float32, and a run scores the model it saves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.errors import DataError
from sentprobe.probes.kind import PROBE_KINDS
from sentprobe.probes.model import Array, Arrays, Model, check_arrays

KIND = "kind"
"""The array with the name of a model's kind, where no other array identifies it."""
MAX_SAVED_BYTES = 1 << 24
"""Bytes of weights up to which a run saves a probe: those of 1000 words, the most classes a task of the papers has, on
4096 dimensions. Beyond, a run of many layers would be mostly weights."""


def to_arrays(model: Model, centre: npt.NDArray[Any] | None = None) -> dict[str, Array]:
    """A classifier as arrays by name. ``centre`` (d,) is a central point of the vectors it was trained on."""
    for kind in PROBE_KINDS.parts().values():
        if type(model) is kind.model:
            own = {} if kind.marker else {KIND: np.array(kind.name)}
            return {**model.to_arrays(centre), **own}
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
