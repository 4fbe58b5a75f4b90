"""torch's own bidirectional LSTM as a ``bilstm-max``: InferSent's and LASER's weights as the network that we have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from sentprobe.errors import DataError
from sentprobe.lab.networks import ARCHITECTURES
from sentprobe.lab.networks.forward import Floats, Ints
from sentprobe.lab.networks.sequences import selected_shares

NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
"""The weights of a layer in one direction, as torch names them, before the number of the layer."""


@dataclass(frozen=True, eq=False)
class ReleasedLstm:
    """The maximum over the states of a bidirectional LSTM, with weights that were given."""

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
            found = self.body(self._tensor(inputs), self._tensor(lengths)).vectors
            return np.asarray(found.cpu().numpy(), np.float32)

    def shares(self, inputs: Floats, lengths: Ints) -> Floats:
        """(sentences, time): the share of dimensions whose maximum is at a word."""
        with torch.inference_mode():
            sizes = self._tensor(lengths)
            found = selected_shares(self.body(self._tensor(inputs), sizes).layers[-1], sizes)
            return np.asarray(found.cpu().numpy(), np.float32)

    def _tensor(self, array: Floats | Ints) -> Any:
        return torch.from_numpy(array).to(self.device)


def bilstm_max(path: str, state: Mapping[str, Any], prefix: str, device: Any, seed: int | None = None) -> ReleasedLstm:
    """The network of the weights whose names begin with ``prefix``; DataError if these are not of one.

    With a seed, a network of the same size with the random weights that torch gives it.
    """
    first = _matrix(path, state, f"{prefix}weight_ih_l0")
    hidden, width = first.shape[0] // 4, first.shape[1]
    layers = sum(f"{prefix}weight_ih_l{depth}" in state for depth in range(100))
    own: dict[str, Any] = {}
    for depth in range(layers):
        inner = width if depth == 0 else 2 * hidden
        shapes = [(4 * hidden, inner), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,)]
        for way, end in (("forwards", ""), ("backwards", "_reverse")):
            for name, shape in zip(NAMES, shapes, strict=True):
                key = f"{prefix}{name}_l{depth}{end}"
                own[f"recurrent.{way}.{depth}.{name}_l0"] = _matrix(path, state, key, shape)
    settings = {"hidden": hidden, "layers": layers, "dropout": 0.0}
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers stay as they are
        torch.manual_seed(seed or 0)
        body: Any = ARCHITECTURES.get("bilstm-max").build(width, settings)
    if seed is None:
        body.load_state_dict(own)
    return ReleasedLstm(body.eval().requires_grad_(False).to(device), width, device)


def _matrix(path: str, state: Mapping[str, Any], name: str, shape: tuple[int, ...] | None = None) -> Any:
    """A weight as float32, of this shape."""
    found = state.get(name)
    if not isinstance(found, torch.Tensor) or not found.is_floating_point():
        what = "has no" if found is None else "has no tensor of numbers as"
        raise DataError(f"{path} {what} weight {name!r}; expected the weights of a bidirectional LSTM.")
    if (tuple(found.shape) != shape) if shape else (found.dim() != 2 or not found.shape[0] or found.shape[0] % 4):
        have = " × ".join(map(str, found.shape))
        want = " × ".join(map(str, shape)) if shape else "4h × width"
        raise DataError(f"{path}: the weight {name!r} is {have}; expected {want}.")
    if not torch.isfinite(found).all():
        raise DataError(f"{path}: the weight {name!r} has a number that is not finite. Download the file again.")
    return found.float()
