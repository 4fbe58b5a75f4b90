"""Bidirectional LSTM and GRU: the maximum or mean of the states over time, or the two final states."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from sentprobe.core.arguments import Settings
from sentprobe.lab.networks.architecture import Architecture, Body, Encoded
from sentprobe.lab.networks.architectures._layers import RECURRENT_SETTINGS as SETTINGS
from sentprobe.lab.networks.architectures._layers import Recurrent
from sentprobe.lab.networks.sequences import max_over_time, mean_over_time


class TwoWay(nn.Module):
    """A stack of bidirectional layers, the states of whose top layer are pooled."""

    def __init__(self, cell: str, pool: str, width: int, settings: Settings) -> None:
        super().__init__()
        self.recurrent = Recurrent(cell, width, settings)
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = self.recurrent.size, pool == "max"
        self.pool = pool

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        layers = self.recurrent(inputs, lengths)
        pools = {"max": max_over_time, "mean": mean_over_time, "last": self.recurrent.final}
        return Encoded(self.dropout(pools[self.pool](layers[-1], lengths)), layers)


def _build(cell: str, pool: str, width: int, settings: Settings) -> Body:
    return TwoWay(cell, pool, width, settings)


architectures = (
    Architecture("bigru-last", "bidirectional GRU, both final states", partial(_build, "gru", "last"), SETTINGS, 20),
    Architecture("bilstm-last", "bidirectional LSTM, both final states", partial(_build, "lstm", "last"), SETTINGS, 21),
    Architecture(
        "bilstm-mean", "bidirectional LSTM, mean of the states", partial(_build, "lstm", "mean"), SETTINGS, 22
    ),
    Architecture(
        "bilstm-max", "bidirectional LSTM, maximum of the states", partial(_build, "lstm", "max"), SETTINGS, 23
    ),
)
