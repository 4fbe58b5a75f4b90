"""Encoding with numpy: trained networks of some architectures without torch.

``FORMS`` has how numpy computes an architecture. Each form has the weights of the torch module of the same name in
``architectures/``, and gives the same vectors but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.resources import single_threaded
from sentprobe.errors import DataError
from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.folder import CONFIG, ENCODER, WEIGHTS, Checkpoint, TrainedFolder
from sentprobe.lab.networks.inference import Floats, Ints

GATES = {"lstm": 4, "gru": 3}
"""Parts of the weights of a recurrent layer, by the name of its units."""
LAYER_WEIGHTS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
"""The weights of a recurrent layer, as torch names them."""
LEARNED, PROJECT, PROJECT_BIAS = "inputs.learned.weight", "inputs.project.weight", "inputs.project.bias"
"""The weights of the inputs, as the torch module names them."""
WEIGHT_DTYPES = (np.dtype(np.float32), np.dtype(np.float16))
"""What weights may be stored as; they are computed with as float32."""
DRAWN_BY = "numpy PCG64"
"""What draws untrained weights; torch draws others for the same seed."""

# ---------------------------------------------------------------- sentences of different lengths in one array


def padding_mask(lengths: Ints, time: int) -> NDArray[np.bool_]:
    """(sentences, time): true after the end of a sentence."""
    return np.arange(time) >= lengths[:, None]


def max_over_time(states: Floats, lengths: Ints) -> Floats:
    """The maximum (sentences, width) of states (sentences, time, width), dimension by dimension."""
    return _fill_padding(states, lengths, -np.inf).max(1)  # type: ignore[no-any-return]


def sum_over_time(states: Floats, lengths: Ints) -> Floats:
    """The sum (sentences, width) of states (sentences, time, width)."""
    return _fill_padding(states, lengths, 0).sum(1)  # type: ignore[no-any-return]


def mean_over_time(states: Floats, lengths: Ints) -> Floats:
    """The mean (sentences, width) of states (sentences, time, width)."""
    return np.divide(sum_over_time(states, lengths), lengths[:, None], dtype=np.float32)


def last_state(states: Floats, lengths: Ints) -> Floats:
    """The state (sentences, width) of the last word of each sentence."""
    return states[np.arange(len(states)), lengths - 1]


def selected_shares(states: Floats, lengths: Ints) -> Floats:
    """(sentences, time): the share of dimensions whose maximum over time is at a word; of equal ones the first."""
    winners = _fill_padding(states, lengths, -np.inf).argmax(1)
    counts = np.zeros(states.shape[:2], np.float32)
    np.add.at(counts, (np.arange(len(states))[:, None], winners), np.float32(1))
    return counts / np.float32(states.shape[2])


def _fill_padding(states: Floats, lengths: Ints, value: float) -> Floats:
    return np.where(padding_mask(lengths, states.shape[1])[:, :, None], np.float32(value), states)


def sigmoid(x: Floats) -> Floats:
    """The logistic function, which cannot overflow this way."""
    half = np.float32(0.5)
    return half * np.tanh(half * x) + half  # type: ignore[no-any-return]


# ---------------------------------------------------------------- LSTM and GRU


class NumpyRecurrent:
    """A stack of layers that read forwards, backwards or both ways, with the weights of the torch module.

    All sentences of a batch advance together, the longest first, and those that have ended drop out.
    """

    def __init__(self, cell: str, weights: Mapping[str, Floats], layers: int, *, ahead: bool, back: bool) -> None:
        self.step = {"lstm": _lstm, "gru": _gru}[cell]
        self.stacks = [
            [[weights[f"{way}.{depth}.{name}"] for name in LAYER_WEIGHTS] for depth in range(layers)]
            for way, used in (("forwards", ahead), ("backwards", back))
            if used
        ]
        self.ways = [way for way, used in ((False, ahead), (True, back)) if used]
        self.hidden = self.stacks[0][0][1].shape[1]

    def __call__(self, inputs: Floats, lengths: Ints) -> list[Floats]:
        """The states (sentences, time, size) of each layer over inputs (sentences, time, width)."""
        layers, states = [], inputs
        order = np.argsort(-lengths, kind="stable")
        for depth in range(len(self.stacks[0])):
            directions = [
                _read_layer(self.step, stack[depth], states, lengths, order, back=back)
                for stack, back in zip(self.stacks, self.ways, strict=True)
            ]
            states = np.concatenate(directions, axis=2) if len(directions) > 1 else directions[0]
            layers.append(states)
        return layers

    def final(self, states: Floats, lengths: Ints) -> Floats:
        """Where each direction ends: (sentences, size) of (sentences, time, size)."""
        ahead = 0 if self.ways[0] else self.hidden
        return np.concatenate((last_state(states[:, :, :ahead], lengths), states[:, 0, ahead:]), axis=1)


RecurrentStep = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats]]


def _read_layer(
    step: RecurrentStep, weights: list[Floats], inputs: Floats, lengths: Ints, order: Ints, *, back: bool
) -> Floats:
    """The states (sentences, time, hidden) of one layer in one direction; zeros after the end of a sentence."""
    by_input, by_state, input_bias, state_bias = weights
    sentences, time = inputs.shape[:2]
    steps = np.arange(time)
    # (sentences, time), longest sentence first: the position of the word that is read at each step
    positions = np.where(steps < lengths[order, None], lengths[order, None] - 1 - steps, steps) if back else steps[None]
    # steps first, so that what one step needs is in one block
    gates = inputs[order[None], np.broadcast_to(positions, (sentences, time)).T] @ by_input.T
    gates += input_bias
    hidden = by_state.shape[1]
    by_step = np.zeros((time, sentences, hidden), np.float32)
    state = np.zeros((sentences, hidden), np.float32)
    memory = np.zeros((sentences, hidden), np.float32)
    transposed = np.ascontiguousarray(by_state.T)
    active = np.searchsorted(-lengths[order], -steps, side="left")  # sentences with a word at each step
    for at, n in enumerate(active.tolist()):
        state, memory = step(gates[at, :n], state[:n] @ transposed + state_bias, state[:n], memory[:n])
        by_step[at, :n] = state
    states = np.empty((sentences, time, hidden), np.float32)
    states[order[:, None], positions] = by_step.transpose(1, 0, 2)
    return states


def _lstm(from_input: Floats, from_state: Floats, state: Floats, memory: Floats) -> tuple[Floats, Floats]:
    """State and memory (sentences, hidden) after a word; gates are in torch's order: input, forget, cell, output."""
    gates = from_input + from_state
    hidden = state.shape[1]
    admit, forget = sigmoid(gates[:, :hidden]), sigmoid(gates[:, hidden : 2 * hidden])
    memory = forget * memory + admit * np.tanh(gates[:, 2 * hidden : 3 * hidden])
    return sigmoid(gates[:, 3 * hidden :]) * np.tanh(memory), memory


def _gru(from_input: Floats, from_state: Floats, state: Floats, memory: Floats) -> tuple[Floats, Floats]:
    """The state (sentences, hidden) after a word, twice; gates are in torch's order: reset, update, new."""
    hidden = state.shape[1]
    reset = sigmoid(from_input[:, :hidden] + from_state[:, :hidden])
    update = sigmoid(from_input[:, hidden : 2 * hidden] + from_state[:, hidden : 2 * hidden])
    new = np.tanh(from_input[:, 2 * hidden :] + reset * from_state[:, 2 * hidden :])
    state = (np.float32(1) - update) * new + update * state
    return state, state


# ---------------------------------------------------------------- architectures

Shapes = dict[str, tuple[int, ...]]
NumpyBody = Callable[[Floats, Ints], tuple[Floats, list[Floats]]]
"""From word vectors (sentences, time, width) and lengths to vectors (sentences, size) and the states of each layer."""


class NumpyForm(NamedTuple):
    """How numpy computes one architecture."""

    shapes: Callable[[int, Mapping[str, Any]], Shapes]
    """The shapes of the weights, from the width of the word vectors and the settings."""
    build: Callable[[Mapping[str, Floats], Mapping[str, Any]], NumpyBody]
    """The network, from its weights and the settings."""
    pools_max: bool = False
    range_of: Callable[[int, Mapping[str, Any]], float] = lambda width, settings: width**-0.5
    """Untrained weights are drawn uniformly from minus this number to this number, as torch draws them."""


def _bag(
    pool: Callable[[Floats, Ints], Floats], weights: Mapping[str, Floats], settings: Mapping[str, Any]
) -> NumpyBody:
    return lambda inputs, lengths: (pool(inputs, lengths), [inputs])


def _weighted(weights: Mapping[str, Floats], settings: Mapping[str, Any]) -> NumpyBody:
    weight, bias = weights["weight.weight"], weights["weight.bias"]

    def body(inputs: Floats, lengths: Ints) -> tuple[Floats, list[Floats]]:
        return mean_over_time(inputs * sigmoid(inputs @ weight.T + bias), lengths), [inputs]

    return body


def _recurrent_shapes(cell: str, ahead: bool, back: bool, width: int, settings: Mapping[str, Any]) -> Shapes:
    hidden, layers, gates = int(settings["hidden"]), int(settings["layers"]), GATES[cell]
    shapes: Shapes = {}
    for way in ["forwards"] * ahead + ["backwards"] * back:
        for depth in range(layers):
            inner = width if depth == 0 else hidden * (ahead + back)
            layer = ((gates * hidden, inner), (gates * hidden, hidden), (gates * hidden,), (gates * hidden,))
            names = (f"recurrent.{way}.{depth}.{name}" for name in LAYER_WEIGHTS)
            shapes |= dict(zip(names, layer, strict=True))
    return shapes


def _recurrent(
    cell: str, ahead: bool, back: bool, pool: str, weights: Mapping[str, Floats], settings: Mapping[str, Any]
) -> NumpyBody:
    by_layer = {name.removeprefix("recurrent."): value for name, value in weights.items()}
    stack = NumpyRecurrent(cell, by_layer, int(settings["layers"]), ahead=ahead, back=back)
    pools = {"max": max_over_time, "mean": mean_over_time, "last": stack.final}

    def body(inputs: Floats, lengths: Ints) -> tuple[Floats, list[Floats]]:
        layers = stack(inputs, lengths)
        return pools[pool](layers[-1], lengths), layers

    return body


def _recurrent_form(cell: str, pool: str, *, ahead: bool = True, back: bool = True) -> NumpyForm:
    return NumpyForm(
        partial(_recurrent_shapes, cell, ahead, back),
        partial(_recurrent, cell, ahead, back, pool),
        pool == "max",
        lambda width, settings: int(settings["hidden"]) ** -0.5,
    )


FORMS = {
    "bow-mean": NumpyForm(lambda *_: {}, partial(_bag, mean_over_time)),
    "bow-max": NumpyForm(lambda *_: {}, partial(_bag, max_over_time), pools_max=True),
    "bow-sum": NumpyForm(lambda *_: {}, partial(_bag, sum_over_time)),
    "bow-weighted": NumpyForm(lambda width, _: {"weight.weight": (1, width), "weight.bias": (1,)}, _weighted),
    "lstm": _recurrent_form("lstm", "last", back=False),
    "gru": _recurrent_form("gru", "last", back=False),
    "lstm-reversed": _recurrent_form("lstm", "last", ahead=False),
    "bigru-last": _recurrent_form("gru", "last"),
    "bilstm-last": _recurrent_form("lstm", "last"),
    "bilstm-mean": _recurrent_form("lstm", "mean"),
    "bilstm-max": _recurrent_form("lstm", "max"),
}
"""By the name of the architecture."""

# ---------------------------------------------------------------- trained networks


@dataclass(frozen=True, eq=False)
class NumpyInference:
    """Word vectors and a body on numpy, as an ``Inference``."""

    table: Floats
    """(words + 1, width); row 0 is the unknown word."""
    project: tuple[Floats, Floats] | None
    """Weights (projection, width) and bias (projection,) of the projection of word vectors."""
    body: NumpyBody
    pools_max: bool

    @property
    def size(self) -> int:
        """Dimensions of a sentence vector."""
        word = np.ones((1, 1), np.int64)
        return int(self.vectors(word, word[0]).shape[1])

    def inputs(self, ids: Ints) -> Floats:
        """Word vectors (sentences, time, width)."""
        vectors: Floats = self.table[ids]
        return vectors if self.project is None else vectors @ self.project[0].T + self.project[1]

    def vectors(self, ids: Ints, lengths: Ints) -> Floats:
        """Sentence vectors (sentences, size)."""
        with single_threaded():  # the products of a step are too small for several
            return self.body(self.inputs(ids), lengths)[0]

    def pooled(self, ids: Ints, lengths: Ints, layers: Sequence[int], pool: str) -> Floats:
        """Pooled states (layers, sentences, width)."""
        over_time = {"mean": mean_over_time, "max": max_over_time, "last": last_state}[pool]
        states = self._states(ids, lengths, layers)
        return np.stack([over_time(states[i], lengths) for i in layers])

    def shares(self, ids: Ints, lengths: Ints, layer: int) -> Floats:
        """Shares of dimensions (sentences, time)."""
        return selected_shares(self._states(ids, lengths, [layer])[layer], lengths)

    def widths(self) -> list[int]:
        """Dimensions of each layer."""
        word = np.ones((1, 1), np.int64)
        return [states.shape[-1] for states in self._states(word, word[0], [1])]

    def _states(self, ids: Ints, lengths: Ints, layers: Sequence[int]) -> list[Floats]:
        inputs = self.inputs(ids)
        with single_threaded():
            return [inputs, *(self.body(inputs, lengths)[1] if any(layers) else [])]


def load_numpy(folder: TrainedFolder, checkpoint: Checkpoint | None, seed: int | None = None) -> NumpyInference:
    """The network with the weights of a checkpoint; or, with a seed and no checkpoint, random ones."""
    network = folder.network
    shapes = _shapes(folder, network)
    if checkpoint is not None:
        weights = _read_weights(folder, checkpoint, shapes)
    else:
        weights = _draw_weights(network, shapes, seed or 0)
        if (initial := folder.start_of_given_words()) is not None:
            weights |= _read_weights(folder, initial, {LEARNED: shapes[LEARNED]})
    vectors = folder.vectors()
    form = FORMS[network.architecture]
    body = {name.removeprefix("body."): value for name, value in weights.items() if name.startswith("body.")}
    return NumpyInference(
        weights[LEARNED] if vectors is None else np.asarray(vectors),
        (weights[PROJECT], weights[PROJECT_BIAS]) if network.projection else None,
        form.build(body, network.settings),
        form.pools_max,
    )


def _shapes(folder: TrainedFolder, network: NetworkConfig) -> Shapes:
    """The shapes of all weights of the encoder, in the order in which they are drawn."""
    shapes: Shapes = {}
    if not network.frozen:
        shapes[LEARNED] = (network.words + 1, network.width)
    if network.projection:
        shapes[PROJECT], shapes[PROJECT_BIAS] = (network.projection, network.width), (network.projection,)
    try:
        body = FORMS[network.architecture].shapes(network.projection or network.width, network.settings)
    except (KeyError, TypeError, ValueError) as e:
        raise DataError(f"{folder.path / CONFIG}: the network cannot be built: {e!r}.") from None
    return shapes | {f"body.{name}": shape for name, shape in body.items()}


def _read_weights(folder: TrainedFolder, checkpoint: Checkpoint, shapes: Shapes) -> dict[str, Floats]:
    stored = folder.arrays(checkpoint)
    file = folder.path / checkpoint.name / WEIGHTS
    weights: dict[str, Floats] = {}
    for name, shape in shapes.items():
        array: Any = stored.get(ENCODER + name)
        if array is None or array.shape != shape or array.dtype not in WEIGHT_DTYPES:
            have = "is missing" if array is None else f"has shape {array.shape} and type {array.dtype}"
            raise DataError(f"{file} is not of this network: {ENCODER}{name} {have}, expected {shape} of float32.")
        weights[name] = array.astype(np.float32, copy=False)
    return weights


def _draw_weights(network: NetworkConfig, shapes: Shapes, seed: int) -> dict[str, Floats]:
    """Untrained weights, of the same distributions as torch's."""
    rng = np.random.Generator(np.random.PCG64(seed))
    body_range = FORMS[network.architecture].range_of(network.projection or network.width, network.settings)
    weights: dict[str, Floats] = {}
    for name, shape in shapes.items():
        if name == LEARNED:
            weights[name] = rng.standard_normal(shape, np.float32)
            weights[name][0] = 0
        else:
            limit = body_range if name.startswith("body.") else network.width**-0.5
            weights[name] = rng.uniform(-limit, limit, shape).astype(np.float32)
    return weights
