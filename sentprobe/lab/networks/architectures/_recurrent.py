"""Stacks of LSTMs or GRUs that read sentences forwards, backwards or both ways."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.lstm_cpu import Order, read_lstm
from sentprobe.lab.networks.sequences import last_state, reverse

SETTINGS = {
    "hidden": Setting(512, "units per direction"),
    "layers": Setting(1, "recurrent layers"),
    "dropout": Setting(0.0, "dropout between layers and on the output", low=0, high=0.99),
}

CELLS = {"lstm": nn.LSTM, "gru": nn.GRU}
"""Recurrent networks by the names of their units."""


class Recurrent(nn.Module):
    """A stack of layers that read forwards, backwards or both ways.

    A network that reads backwards gets each sentence reversed within its own length. So padding comes last for both
    directions, no state of a word depends on it, and nothing has to be packed. In training on a CPU,
    LSTMs do not read padding.
    """

    def __init__(self, cell: str, width: int, settings: Settings, *, ahead: bool = True, back: bool = True) -> None:
        super().__init__()
        hidden, layers = int(settings["hidden"]), int(settings["layers"])
        self.cell, self.hidden, self.size, self.depth = cell, hidden, hidden * (ahead + back), layers
        widths = [width, *[self.size] * (layers - 1)]
        self.forwards = nn.ModuleList(CELLS[cell](w, hidden, batch_first=True) for w in widths if ahead)
        self.backwards = nn.ModuleList(CELLS[cell](w, hidden, batch_first=True) for w in widths if back)
        self.dropout = nn.Dropout(float(settings["dropout"]))

    def forward(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        """The states (sentences, time, size) of each layer; those of both directions side by side."""
        states = inputs
        layers: list[Tensor] = []
        # torch's own LSTM is faster where there is no gradient, and can compute in 16 bits
        plain = torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")
        own = self.cell == "lstm" and inputs.device.type == "cpu" and plain
        order = Order.of(lengths) if own else None
        for depth in range(self.depth):
            if layers:
                states = self.dropout(states)
            read = []
            if self.forwards:
                network = self.forwards[depth]
                read.append(read_lstm(network, states, order, back=False) if order else network(states)[0])
            if self.backwards:
                network = self.backwards[depth]
                read.append(
                    read_lstm(network, states, order, back=True)
                    if order
                    else reverse(network(reverse(states, lengths))[0], lengths)
                )
            states = torch.cat(read, 2) if len(read) > 1 else read[0]
            layers.append(states)
        return tuple(layers)

    def final(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Where each direction ends: (sentences, size) of (sentences, time, size)."""
        ahead = self.hidden if self.forwards else 0
        return torch.cat((last_state(states[:, :, :ahead], lengths), states[:, 0, ahead:]), 1)
