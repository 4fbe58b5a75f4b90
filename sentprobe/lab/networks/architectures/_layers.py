"""Layers that several architectures share: recurrent stacks, convolutions, projections and positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.kernels import ReadingOrder, read_lstm
from sentprobe.lab.networks.sequences import last_state, reverse, zero_padding

RECURRENT_SETTINGS = {
    "hidden": Setting(512, "units per direction"),
    "layers": Setting(1, "recurrent layers"),
    "dropout": Setting(0.0, "dropout between layers and on the output", low=0, high=0.99),
}
CELLS = {"lstm": nn.LSTM, "gru": nn.GRU}
"""Recurrent networks by the names of their units."""


class Recurrent(nn.Module):
    """A stack of LSTM or GRU layers that read forwards, backwards or both ways.

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
        trains_in_float32 = torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")
        use_kernel = self.cell == "lstm" and inputs.device.type == "cpu" and trains_in_float32
        order = ReadingOrder.of(lengths) if use_kernel else None
        for depth in range(self.depth):
            if layers:
                states = self.dropout(states)
            directions = []
            if self.forwards:
                network = self.forwards[depth]
                directions.append(read_lstm(network, states, order, back=False) if order else network(states)[0])
            if self.backwards:
                network = self.backwards[depth]
                directions.append(
                    read_lstm(network, states, order, back=True)
                    if order
                    else reverse(network(reverse(states, lengths))[0], lengths)
                )
            states = torch.cat(directions, 2) if len(directions) > 1 else directions[0]
            layers.append(states)
        return tuple(layers)

    def final(self, states: Tensor, lengths: Tensor) -> Tensor:
        """Where each direction ends: (sentences, size) of (sentences, time, size)."""
        ahead = self.hidden if self.forwards else 0
        return torch.cat((last_state(states[:, :, :ahead], lengths), states[:, 0, ahead:]), 1)


class Convolution(nn.Module):
    """A convolution over time that keeps the length: from (sentences, time, width) to (sentences, time, maps).

    A sentence has zeros on both sides, whatever follows it in the batch.
    """

    def __init__(self, width: int, maps: int, kernel: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(width, maps, kernel)
        self.sides = (kernel - 1) // 2, kernel // 2

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The maps; what is after the end of a sentence is undefined."""
        padded = functional.pad(zero_padding(states, lengths).transpose(1, 2), self.sides)
        maps: Tensor = self.convolution(padded)
        return maps.transpose(1, 2)


def projection(width: int, size: int) -> nn.Module:
    """A learned linear layer from one width to another; the identity if they are equal."""
    return nn.Identity() if width == size else nn.Linear(width, size)


class Positions(nn.Module):
    """Learned vectors of absolute positions, added to the states; all words after the last position share it."""

    def __init__(self, count: int, width: int, scale: float) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(count, width) * scale)

    def forward(self, states: Tensor) -> Tensor:
        """States (sentences, time, width) with their positions."""
        positions = torch.arange(states.shape[1], device=states.device).clamp(max=len(self.table) - 1)
        return states + self.table[positions]
