"""LSTM and GRU that read in one direction: the state after the last word that they read."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from sentprobe.core.arguments import Settings
from sentprobe.lab.networks.architecture import Architecture, Body, Encoded
from sentprobe.lab.networks.architectures._layers import RECURRENT_SETTINGS as SETTINGS
from sentprobe.lab.networks.architectures._layers import Recurrent


class OneWay(nn.Module):
    """The final state of the top layer; the encoder of Adi et al. (2017) reads from the last word to the first."""

    def __init__(self, cell: str, width: int, settings: Settings, *, back: bool) -> None:
        super().__init__()
        self.recurrent = Recurrent(cell, width, settings, ahead=not back, back=back)
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = self.recurrent.size, False

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        layers = self.recurrent(inputs, lengths)
        return Encoded(self.dropout(self.recurrent.final(layers[-1], lengths)), layers)


def _build(cell: str, back: bool, width: int, settings: Settings) -> Body:
    return OneWay(cell, width, settings, back=back)


architectures = (
    Architecture("lstm", "LSTM, final state", partial(_build, "lstm", False), SETTINGS, 10),
    Architecture("gru", "GRU, final state", partial(_build, "gru", False), SETTINGS, 11),
    Architecture(
        "lstm-reversed", "LSTM over the reversed sentence, final state", partial(_build, "lstm", True), SETTINGS, 12
    ),
)
