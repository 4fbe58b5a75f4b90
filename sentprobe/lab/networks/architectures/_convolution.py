"""Convolutions over sentences of different lengths, each as if it were alone."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from sentprobe.lab.networks.sequences import zero_padding


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
