"""A network computed by torch, on any device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.networks.forward import Floats, Ints
from sentprobe.lab.networks.sequences import last_state, max_over_time, mean_over_time, selected_shares


@dataclass(frozen=True, eq=False)
class TorchForward:
    """A torch module as a ``Forward``."""

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
            states = self._states(self._tensor(ids), sizes, layers)
            return _array(torch.stack([over_time(each, sizes) for each in states]))

    def shares(self, ids: Ints, lengths: Ints, layer: int) -> Floats:
        """Shares of dimensions (sentences, time)."""
        with torch.inference_mode():
            sizes = self._tensor(lengths)
            return _array(selected_shares(self._states(self._tensor(ids), sizes, [layer])[0], sizes))

    def widths(self) -> list[int]:
        """Dimensions of each layer."""
        with torch.inference_mode():
            one = torch.ones(1, 1, dtype=torch.long, device=self.device)
            return [each.shape[-1] for each in (self.network.inputs(one), *self.network(one, one[0]).layers)]

    def _states(self, ids: Tensor, lengths: Tensor, layers: Sequence[int]) -> list[Tensor]:
        """The states of layers; nothing but the inputs is computed for layer 0 alone."""
        inputs = [self.network.inputs(ids)] if 0 in layers else [ids]
        above = self.network(ids, lengths).layers if any(layers) else ()
        return [(*inputs, *above)[i] for i in layers]

    def _tensor(self, array: Ints) -> Tensor:
        return torch.from_numpy(array).to(self.device)


def _array(tensor: Tensor) -> Floats:
    found: Floats = tensor.cpu().numpy().astype(np.float32, copy=False)
    return found
