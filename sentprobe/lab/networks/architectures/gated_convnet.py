"""Gated ConvNet: a stack of convolutions with gated linear units over word vectors and positions, maximum over time."""

from __future__ import annotations

import math

from torch import Tensor, nn
from torch.nn import functional

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.architecture import Architecture, Encoded
from sentprobe.lab.networks.architectures._layers import Convolution, Positions, projection
from sentprobe.lab.networks.sequences import max_over_time

SETTINGS = {
    "hidden": Setting(512, "units per layer"),
    "layers": Setting(8, "convolutions"),
    "kernel": Setting(3, "words that a convolution spans"),
    "positions": Setting(256, "learned positions; words after the last one share it"),
    "residual": Setting(True, "whether the inputs of a layer are added to its outputs"),
    "dropout": Setting(0.0, "dropout on the inputs of every layer and on the output", low=0, high=0.99),
}


class GatedConvolution(Convolution):
    """(A ∗ x) · sigmoid(B ∗ x), as one convolution with twice the units."""

    def __init__(self, hidden: int, kernel: int, dropout: float) -> None:
        super().__init__(hidden, 2 * hidden, kernel)
        # a gate halves its input: the factor 4 keeps the variance
        nn.init.normal_(self.convolution.weight, 0, math.sqrt(4 * (1 - dropout) / (kernel * hidden)))
        assert self.convolution.bias is not None
        nn.init.zeros_(self.convolution.bias)

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """New states of states (sentences, time, hidden)."""
        return functional.glu(super().forward(states, lengths), 2)


class GatedConvNet(nn.Module):
    """A stack of gated convolutions over word vectors plus positions.

    Word vectors of another width go through a learned linear layer first. Residual connections, their scale and the
    initial weights are those of Gehring et al. (2017): with torch's own, eight gates would leave almost nothing of the
    input of an untrained network.
    """

    def __init__(self, width: int, settings: Settings) -> None:
        super().__init__()
        hidden, layers, kernel = (int(settings[name]) for name in ("hidden", "layers", "kernel"))
        dropout = float(settings["dropout"])
        self.project = projection(width, hidden)
        self.positions = Positions(int(settings["positions"]), hidden, scale=0.1)
        self.convolutions = nn.ModuleList(GatedConvolution(hidden, kernel, dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.residual = bool(settings["residual"])
        self.size, self.pools_max = hidden, True

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        states = self.positions(self.project(inputs))
        layers = []
        for convolution in self.convolutions:
            gated = convolution(self.dropout(states), lengths)
            states = (gated + states) * math.sqrt(0.5) if self.residual else gated
            layers.append(states)
        return Encoded(self.dropout(max_over_time(states, lengths)), tuple(layers))


architecture = Architecture(
    "gated-convnet",
    "stacked gated convolutions over positions, maximum of the top layer",
    GatedConvNet,
    SETTINGS,
    41,
    word_deviation=lambda width: 0.1,
)
