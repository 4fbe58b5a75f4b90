"""Encoding with torch, on any device: trained networks, and the released weights of bidirectional LSTMs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sentprobe.errors import DataError
from sentprobe.lab.networks import ARCHITECTURES
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.networks.inference import Floats, Ints
from sentprobe.lab.networks.sequences import last_state, max_over_time, mean_over_time, selected_shares


@dataclass(frozen=True, eq=False)
class TorchInference:
    """A torch module as an ``Inference``."""

    network: SentenceEncoder
    device: Any

    @property
    def size(self) -> int:
        """Dimensions of a sentence vector."""
        return int(self.network.size)

    @property
    def pools_max(self) -> bool:
        """Whether the vector is the maximum of the states."""
        return bool(self.network.body.pools_max)

    def inputs(self, ids: Ints) -> Floats:
        """Word vectors (sentences, time, width)."""
        with torch.inference_mode():
            return _array(self.network.inputs(self._tensor(ids)))

    def vectors(self, ids: Ints, lengths: Ints) -> Floats:
        """Sentence vectors (sentences, size)."""
        with torch.inference_mode():
            return _array(self.network(self._tensor(ids), self._tensor(lengths)).vectors)

    def pooled(self, ids: Ints, lengths: Ints, layers: Sequence[int], pool: str) -> Floats:
        """Pooled states (layers, sentences, width)."""
        over_time = {"mean": mean_over_time, "max": max_over_time, "last": last_state}[pool]
        with torch.inference_mode():
            sizes = self._tensor(lengths)
            layer_states = self._states(self._tensor(ids), sizes, layers)
            return _array(torch.stack([over_time(states, sizes) for states in layer_states]))

    def shares(self, ids: Ints, lengths: Ints, layer: int) -> Floats:
        """Shares of dimensions (sentences, time)."""
        with torch.inference_mode():
            sizes = self._tensor(lengths)
            return _array(selected_shares(self._states(self._tensor(ids), sizes, [layer])[0], sizes))

    def widths(self) -> list[int]:
        """Dimensions of each layer."""
        with torch.inference_mode():
            word = torch.ones(1, 1, dtype=torch.long, device=self.device)
            return [states.shape[-1] for states in (self.network.inputs(word), *self.network(word, word[0]).layers)]

    def _states(self, ids: Tensor, lengths: Tensor, layers: Sequence[int]) -> list[Tensor]:
        """The states of layers; nothing but the inputs is computed for layer 0 alone."""
        inputs = [self.network.inputs(ids)] if 0 in layers else [ids]
        above = self.network(ids, lengths).layers if any(layers) else ()
        return [(*inputs, *above)[i] for i in layers]

    def _tensor(self, array: Ints) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def _array(tensor: Tensor) -> Floats:
    array: Floats = tensor.cpu().numpy().astype(np.float32, copy=False)
    return array


RELEASED_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
"""The weights of a layer in one direction, as torch names them, before the number of the layer."""


@dataclass(frozen=True, eq=False)
class ReleasedLstm:
    """The maximum over the states of a bidirectional LSTM, with released weights, InferSent's or LASER's."""

    body: Any
    width: int
    """Dimensions of a word vector."""
    device: Any

    @property
    def size(self) -> int:
        """Dimensions of a sentence vector."""
        return int(self.body.size)

    def vectors(self, inputs: Floats, lengths: Ints) -> Floats:
        """Sentence vectors (sentences, size) of word vectors (sentences, time, width), padded at the end."""
        with torch.inference_mode():
            return _array(self.body(self._tensor(inputs), self._tensor(lengths)).vectors)

    def shares(self, inputs: Floats, lengths: Ints) -> Floats:
        """(sentences, time): the share of dimensions whose maximum is at a word."""
        with torch.inference_mode():
            sizes = self._tensor(lengths)
            return _array(selected_shares(self.body(self._tensor(inputs), sizes).layers[-1], sizes))

    def _tensor(self, array: Floats | Ints) -> Any:
        return torch.from_numpy(array).to(self.device)


def bilstm_max(path: str, state: Mapping[str, Any], prefix: str, device: Any, seed: int | None = None) -> ReleasedLstm:
    """The network of the weights whose names begin with ``prefix``; DataError if these are not of one.

    With a seed, a network of the same size with the random weights that torch gives it.
    """
    first = _matrix(path, state, f"{prefix}weight_ih_l0")
    hidden, width = first.shape[0] // 4, first.shape[1]
    layers = sum(f"{prefix}weight_ih_l{depth}" in state for depth in range(100))
    weights: dict[str, Any] = {}
    for depth in range(layers):
        inner = width if depth == 0 else 2 * hidden
        shapes = [(4 * hidden, inner), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,)]
        for way, end in (("forwards", ""), ("backwards", "_reverse")):
            for name, shape in zip(RELEASED_WEIGHTS, shapes, strict=True):
                key = f"{prefix}{name}_l{depth}{end}"
                weights[f"recurrent.{way}.{depth}.{name}_l0"] = _matrix(path, state, key, shape)
    settings = {"hidden": hidden, "layers": layers, "dropout": 0.0}
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay as they are
        torch.manual_seed(seed or 0)
        body: Any = ARCHITECTURES.get("bilstm-max").build(width, settings)
    if seed is None:
        body.load_state_dict(weights)
    return ReleasedLstm(body.eval().requires_grad_(False).to(device), width, device)


def _matrix(path: str, state: Mapping[str, Any], name: str, shape: tuple[int, ...] | None = None) -> Any:
    """A weight as float32, of this shape."""
    weight = state.get(name)
    if not isinstance(weight, torch.Tensor) or not weight.is_floating_point():
        what = "has no" if weight is None else "has no tensor of numbers as"
        raise DataError(f"{path} {what} weight {name!r}; expected the weights of a bidirectional LSTM.")
    if (tuple(weight.shape) != shape) if shape else (weight.dim() != 2 or not weight.shape[0] or weight.shape[0] % 4):
        have = " × ".join(map(str, weight.shape))
        want = " × ".join(map(str, shape)) if shape else "4h × width"
        raise DataError(f"{path}: the weight {name!r} is {have}; expected {want}.")
    if not torch.isfinite(weight).all():
        raise DataError(f"{path}: the weight {name!r} has a number that is not finite. Download the file again.")
    return weight.float()
