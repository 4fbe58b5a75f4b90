"""Bidirectional LSTM: the maximum or mean of its states over time, or its two final states."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from sonde.core.settings import Setting, Settings
from sonde.networks.architecture import Architecture, Body, Encoded
from sonde.networks.sequences import last_state, max_over_time, mean_over_time, reverse

SETTINGS = {
    "hidden": Setting(512, "units per direction"),
    "layers": Setting(1, "layers"),
    "dropout": Setting(0.0, "dropout between layers and on the output", low=0, high=0.99),
}


class BiLSTM(nn.Module):
    """A stack of bidirectional layers.

    A layer is two LSTMs, of which one reads each sentence backwards within its own length. So padding comes last for
    both, no state depends on it, and nothing has to be packed, which more than doubles the speed on a CPU.
    """

    def __init__(self, width: int, settings: Settings, pool: str) -> None:
        super().__init__()
        hidden, layers = int(settings["hidden"]), int(settings["layers"])
        widths = [width, *[2 * hidden] * (layers - 1)]
        self.forwards = nn.ModuleList(nn.LSTM(w, hidden, batch_first=True) for w in widths)
        self.backwards = nn.ModuleList(nn.LSTM(w, hidden, batch_first=True) for w in widths)
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pool, self.pools_max = 2 * hidden, pool, pool == "max"

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        layers: list[Tensor] = []
        states = inputs
        for ahead, back in zip(self.forwards, self.backwards, strict=True):
            if layers:
                states = self.dropout(states)
            left = ahead(states)[0]
            right = back(reverse(states, lengths))[0]
            states = torch.cat((left, reverse(right, lengths)), 2)
            layers.append(states)
        if self.pool == "last":
            vectors = torch.cat((last_state(left, lengths), last_state(right, lengths)), 1)
        else:
            vectors = (max_over_time if self.pool == "max" else mean_over_time)(states, lengths)
        return Encoded(self.dropout(vectors), tuple(layers))


def _build(pool: str, width: int, settings: Settings) -> Body:
    return BiLSTM(width, settings, pool)


architectures = (
    Architecture("bilstm-last", "bidirectional LSTM, both final states", partial(_build, "last"), SETTINGS, 30),
    Architecture("bilstm-mean", "bidirectional LSTM, mean of the states", partial(_build, "mean"), SETTINGS, 31),
    Architecture("bilstm-max", "bidirectional LSTM, maximum of the states", partial(_build, "max"), SETTINGS, 32),
)
