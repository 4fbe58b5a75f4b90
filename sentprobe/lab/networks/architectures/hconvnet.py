"""Hierarchical ConvNet: the maximum over time of every layer of a stack of convolutions, concatenated."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.architecture import Architecture, Encoded
from sentprobe.lab.networks.architectures._layers import Convolution
from sentprobe.lab.networks.sequences import max_over_time

SETTINGS = {
    "hidden": Setting(1024, "maps per layer"),
    "layers": Setting(4, "convolutions"),
    "kernel": Setting(3, "words that a convolution spans"),
    "dropout": Setting(0.0, "dropout between layers and on the output", low=0, high=0.99),
}


class HConvNet(nn.Module):
    """Low layers see short n-grams and high layers long ones; the vector has all of them."""

    def __init__(self, width: int, settings: Settings) -> None:
        super().__init__()
        hidden, layers, kernel = (int(settings[name]) for name in ("hidden", "layers", "kernel"))
        self.convolutions = nn.ModuleList(Convolution(w, hidden, kernel) for w in [width, *[hidden] * (layers - 1)])
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = layers * hidden, False

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        states = inputs
        layers: list[Tensor] = []
        for convolution in self.convolutions:
            if layers:
                states = self.dropout(states)
            states = convolution(states, lengths).relu()
            layers.append(states)
        vectors = torch.cat([max_over_time(maps, lengths) for maps in layers], 1)
        return Encoded(self.dropout(vectors), tuple(layers))


architecture = Architecture(
    "hconvnet", "hierarchical ConvNet, maximum of the maps of every layer", HConvNet, SETTINGS, 40
)
