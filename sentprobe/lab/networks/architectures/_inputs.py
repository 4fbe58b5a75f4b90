"""What networks without recurrence do to word vectors first: bring them to their own width, and add positions."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def projection(width: int, size: int) -> nn.Module:
    """A learned linear layer from one width to another; nothing if they are equal."""
    return nn.Identity() if width == size else nn.Linear(width, size)


class Positions(nn.Module):
    """Learned vectors of absolute positions, added to the states; all words after the last position share it."""

    def __init__(self, count: int, width: int, scale: float) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(count, width) * scale)

    def forward(self, states: Tensor) -> Tensor:
        """States (sentences, time, width) with their positions."""
        places = torch.arange(states.shape[1], device=states.device).clamp(max=len(self.table) - 1)
        return states + self.table[places]
