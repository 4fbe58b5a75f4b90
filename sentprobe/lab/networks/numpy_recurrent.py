"""LSTM and GRU layers on numpy, with the weights of torch's and the same states but for rounding.

All sentences of a batch advance together, the longest first, and those that have ended drop out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sentprobe.lab.networks.forward import Floats, Ints
from sentprobe.lab.networks.numpy_sequences import last_state, sigmoid

GATES = {"lstm": 4, "gru": 3}
"""Parts of the weights of a layer, by the name of its units."""


class Recurrent:
    """A stack of layers that read forwards, backwards or both ways, with the weights of the torch module."""

    def __init__(self, cell: str, weights: Mapping[str, Floats], layers: int, *, ahead: bool, back: bool) -> None:
        self.step = {"lstm": _lstm, "gru": _gru}[cell]
        self.stacks = [
            [[weights[f"{way}.{depth}.{name}"] for name in NAMES] for depth in range(layers)]
            for way, used in (("forwards", ahead), ("backwards", back))
            if used
        ]
        self.ways = [way for way, used in ((False, ahead), (True, back)) if used]
        self.hidden = self.stacks[0][0][1].shape[1]

    def __call__(self, inputs: Floats, lengths: Ints) -> list[Floats]:
        """The states (sentences, time, size) of each layer over inputs (sentences, time, width)."""
        found, states = [], inputs
        order = np.argsort(-lengths, kind="stable")
        for depth in range(len(self.stacks[0])):
            read = [
                _read(self.step, stack[depth], states, lengths, order, back=back)
                for stack, back in zip(self.stacks, self.ways, strict=True)
            ]
            states = np.concatenate(read, axis=2) if len(read) > 1 else read[0]
            found.append(states)
        return found

    def final(self, states: Floats, lengths: Ints) -> Floats:
        """Where each direction ends: (sentences, size) of (sentences, time, size)."""
        ahead = 0 if self.ways[0] else self.hidden
        return np.concatenate((last_state(states[:, :, :ahead], lengths), states[:, 0, ahead:]), axis=1)


NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
"""The weights of a layer, as torch names them."""
Step = Callable[[Floats, Floats, Floats, Floats], tuple[Floats, Floats]]


def _read(step: Step, weights: list[Floats], inputs: Floats, lengths: Ints, order: Ints, *, back: bool) -> Floats:
    """The states (sentences, time, hidden) of one layer in one direction; zeros after the end of a sentence."""
    by_input, by_state, input_bias, state_bias = weights
    sentences, time = inputs.shape[:2]
    steps = np.arange(time)
    # (sentences, time), longest sentence first: the place of the word that is read at each step
    places = np.where(steps < lengths[order, None], lengths[order, None] - 1 - steps, steps) if back else steps[None]
    # steps first, so that what one step needs is in one block
    gates = inputs[order[None], np.broadcast_to(places, (sentences, time)).T] @ by_input.T
    gates += input_bias
    hidden = by_state.shape[1]
    read = np.zeros((time, sentences, hidden), np.float32)
    state = np.zeros((sentences, hidden), np.float32)
    memory = np.zeros((sentences, hidden), np.float32)
    transposed = np.ascontiguousarray(by_state.T)
    going = np.searchsorted(-lengths[order], -steps, side="left")  # sentences with a word at each step
    for at, n in enumerate(going.tolist()):
        state, memory = step(gates[at, :n], state[:n] @ transposed + state_bias, state[:n], memory[:n])
        read[at, :n] = state
    found = np.empty((sentences, time, hidden), np.float32)
    found[order[:, None], places] = read.transpose(1, 0, 2)
    return found


def _lstm(from_input: Floats, from_state: Floats, state: Floats, memory: Floats) -> tuple[Floats, Floats]:
    """State and memory (sentences, hidden) after a word; gates are in torch's order: input, forget, cell, output."""
    gates = from_input + from_state
    hidden = state.shape[1]
    admit, keep = sigmoid(gates[:, :hidden]), sigmoid(gates[:, hidden : 2 * hidden])
    memory = keep * memory + admit * np.tanh(gates[:, 2 * hidden : 3 * hidden])
    return sigmoid(gates[:, 3 * hidden :]) * np.tanh(memory), memory


def _gru(from_input: Floats, from_state: Floats, state: Floats, memory: Floats) -> tuple[Floats, Floats]:
    """The state (sentences, hidden) after a word, twice; gates are in torch's order: reset, update, new."""
    hidden = state.shape[1]
    reset = sigmoid(from_input[:, :hidden] + from_state[:, :hidden])
    keep = sigmoid(from_input[:, hidden : 2 * hidden] + from_state[:, hidden : 2 * hidden])
    new = np.tanh(from_input[:, 2 * hidden :] + reset * from_state[:, 2 * hidden :])
    state = (np.float32(1) - keep) * new + keep * state
    return state, state
