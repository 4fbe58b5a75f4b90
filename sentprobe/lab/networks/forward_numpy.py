"""A network computed by numpy: trained encoders without torch, for the architectures of ``numpy_forms``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.threads import single_threaded
from sentprobe.errors import DataError
from sentprobe.lab.networks import numpy_sequences as over
from sentprobe.lab.networks.config import NetworkConfig
from sentprobe.lab.networks.folder import ENCODER, WEIGHTS, Checkpoint, TrainedFolder
from sentprobe.lab.networks.forward import Floats, Ints
from sentprobe.lab.networks.numpy_forms import FORMS, WEIGHT_DTYPES, Body

LEARNED, PROJECT, PROJECT_BIAS = "inputs.learned.weight", "inputs.project.weight", "inputs.project.bias"
"""The weights of the inputs, as the torch module names them."""
DRAWN_BY = "numpy PCG64"
"""What draws untrained weights; torch draws others for the same seed."""


@dataclass(frozen=True, eq=False)
class NumpyForward:
    """Word vectors and a body on numpy, as a ``Forward``."""

    table: Floats
    """(words + 1, width); row 0 is the unknown word."""
    project: tuple[Floats, Floats] | None
    """Weights (projection, width) and bias (projection,) of the projection of word vectors."""
    body: Body
    pools_max: bool

    @property
    def size(self) -> int:
        """Dimensions of a sentence vector."""
        one = np.ones((1, 1), np.int64)
        return int(self.vectors(one, one[0]).shape[1])

    def inputs(self, ids: Ints) -> Floats:
        """Word vectors (sentences, time, width)."""
        found: Floats = self.table[ids]
        return found if self.project is None else found @ self.project[0].T + self.project[1]

    def vectors(self, ids: Ints, lengths: Ints) -> Floats:
        """Sentence vectors (sentences, size)."""
        with single_threaded():  # the products of a step are too small for several
            return self.body(self.inputs(ids), lengths)[0]

    def pooled(self, ids: Ints, lengths: Ints, layers: Sequence[int], pool: str) -> Floats:
        """Pooled states (layers, sentences, width)."""
        over_time = {"mean": over.mean_over_time, "max": over.max_over_time, "last": over.last_state}[pool]
        states = self._states(ids, lengths, layers)
        return np.stack([over_time(states[i], lengths) for i in layers])

    def shares(self, ids: Ints, lengths: Ints, layer: int) -> Floats:
        """Shares of dimensions (sentences, time)."""
        return over.selected_shares(self._states(ids, lengths, [layer])[layer], lengths)

    def widths(self) -> list[int]:
        """Dimensions of each layer."""
        one = np.ones((1, 1), np.int64)
        return [each.shape[-1] for each in self._states(one, one[0], [1])]

    def _states(self, ids: Ints, lengths: Ints, layers: Sequence[int]) -> list[Floats]:
        inputs = self.inputs(ids)
        with single_threaded():
            return [inputs, *(self.body(inputs, lengths)[1] if any(layers) else [])]


def load_numpy(folder: TrainedFolder, checkpoint: Checkpoint | None, seed: int | None = None) -> NumpyForward:
    """The network with the weights of a checkpoint; or, with a seed and no checkpoint, random ones."""
    network = folder.network
    shapes = _shapes(folder, network)
    drawn = None if checkpoint else _draw(network, shapes, 0 if seed is None else seed)
    given = folder.start_of_given_words() if checkpoint is None else None
    if drawn is None:
        weights = _read(folder, checkpoint, shapes)
    else:
        weights = drawn if given is None else drawn | _read(folder, given, {LEARNED: shapes[LEARNED]})
    vectors = folder.vectors()
    body = FORMS[network.architecture].build(
        {name.removeprefix("body."): value for name, value in weights.items() if name.startswith("body.")},
        network.settings,
    )
    return NumpyForward(
        weights[LEARNED] if vectors is None else np.asarray(vectors),
        (weights[PROJECT], weights[PROJECT_BIAS]) if network.projection else None,
        body,
        FORMS[network.architecture].pools_max,
    )


def _shapes(folder: TrainedFolder, network: NetworkConfig) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights of the encoder, in the order in which they are drawn."""
    found: dict[str, tuple[int, ...]] = {}
    if not network.frozen:
        found[LEARNED] = (network.words + 1, network.width)
    if network.projection:
        found[PROJECT], found[PROJECT_BIAS] = (network.projection, network.width), (network.projection,)
    try:
        body = FORMS[network.architecture].shapes(network.projection or network.width, network.settings)
    except (KeyError, TypeError, ValueError) as e:
        raise DataError(f"{folder.path / 'config.json'}: the network cannot be built: {e!r}.") from None
    return found | {f"body.{name}": shape for name, shape in body.items()}


def _read(
    folder: TrainedFolder, checkpoint: Checkpoint | None, shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Floats]:
    assert checkpoint is not None
    stored = folder.arrays(checkpoint)
    file: Path = folder.path / checkpoint.name / WEIGHTS
    found: dict[str, Floats] = {}
    for name, shape in shapes.items():
        array: Any = stored.get(ENCODER + name)
        if array is None or array.shape != shape or array.dtype not in WEIGHT_DTYPES:
            have = "is missing" if array is None else f"has shape {array.shape} and type {array.dtype}"
            raise DataError(f"{file} is not of this network: {ENCODER}{name} {have}, expected {shape} of float32.")
        found[name] = array.astype(np.float32, copy=False)
    return found


def _draw(network: NetworkConfig, shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Floats]:
    """Untrained weights, of the same distributions as torch's."""
    rng = np.random.Generator(np.random.PCG64(seed))
    inner = FORMS[network.architecture].range_of(network.projection or network.width, network.settings)
    found: dict[str, Floats] = {}
    for name, shape in shapes.items():
        if name == LEARNED:
            found[name] = rng.standard_normal(shape, np.float32)
            found[name][0] = 0
        else:
            most = inner if name.startswith("body.") else network.width**-0.5
            found[name] = rng.uniform(-most, most, shape).astype(np.float32)
    return found
