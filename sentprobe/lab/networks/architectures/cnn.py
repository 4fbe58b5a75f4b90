"""CNN: filters of several widths, the maximum or mean of their maps over time, and a projection."""

from __future__ import annotations

import re
from functools import partial

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import UsageError
from sentprobe.lab.networks.architecture import Architecture, Body, Encoded
from sentprobe.lab.networks.sequences import max_over_time, mean_over_time, zero_padding

SETTINGS = {
    "kernels": Setting("3-4-5", "widths of the filters in words"),
    "channels": Setting(800, "filters of each width"),
    "project": Setting(1024, "units of the projection of all maps, 0 for none", low=0),
    "dropout": Setting(0.0, "dropout on the output", low=0, high=0.99),
}


class CNN(nn.Module):
    """Filters of width k see k // 2 zeros on either side of a sentence: even one of a single word has a map."""

    def __init__(self, pool: str, width: int, settings: Settings) -> None:
        super().__init__()
        kernels, channels = _widths(str(settings["kernels"])), int(settings["channels"])
        project, maps = int(settings["project"]), channels * len(kernels)
        self.convolutions = nn.ModuleList(nn.Conv1d(width, channels, k, padding=k // 2) for k in kernels)
        self.project = nn.Linear(maps, project) if project else nn.Identity()
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.pool = max_over_time if pool == "max" else mean_over_time
        self.size, self.pools_max = project or maps, False

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch; the only layer is the input, since maps of even widths are one longer than the sentence."""
        words = zero_padding(inputs, lengths).transpose(1, 2)
        pooled = []
        for convolution in self.convolutions:
            maps = convolution(words).relu().transpose(1, 2)
            longer = maps.shape[1] - inputs.shape[1]
            pooled.append(self.pool(maps, lengths + longer))
        return Encoded(self.dropout(self.project(torch.cat(pooled, 1))), (inputs,))


def _widths(text: str) -> list[int]:
    """The widths of filters in a text such as 3-4-5; UsageError if it is none."""
    if not re.fullmatch(r"[1-9]\d?(-[1-9]\d?)*", text):
        raise UsageError(f"kernels={text}: expected widths from 1 to 99, joined by hyphens, such as 3-4-5.")
    return [int(width) for width in text.split("-")]


def _build(pool: str, width: int, settings: Settings) -> Body:
    return CNN(pool, width, settings)


architectures = (
    Architecture("cnn-max", "filters of several widths, maximum of their maps", partial(_build, "max"), SETTINGS, 42),
    Architecture("cnn-mean", "filters of several widths, mean of their maps", partial(_build, "mean"), SETTINGS, 43),
)
