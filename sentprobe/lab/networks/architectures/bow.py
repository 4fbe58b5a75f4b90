"""Bags of words: the mean, maximum, sum or weighted mean of the word vectors."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.architecture import Architecture, Body, Encoded
from sentprobe.lab.networks.sequences import max_over_time, mean_over_time, zero_padding

SETTINGS = {"dropout": Setting(0.0, "dropout on the output", low=0, high=0.99)}


class BagOfWords(nn.Module):
    """Word vectors pooled over time; nothing in it is learned."""

    def __init__(self, pool: str, width: int, settings: Settings) -> None:
        super().__init__()
        self.pool = {"mean": mean_over_time, "max": max_over_time, "sum": _sum_over_time}[pool]
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = width, pool == "max"

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch; the only layer is the input."""
        return Encoded(self.dropout(self.pool(inputs, lengths)), (inputs,))


class WeightedBag(nn.Module):
    """The mean of word vectors x, each times a learned weight sigmoid(w · x + b).

    As in smooth inverse frequency (Arora et al. 2017), the weight is between 0 and 1 and depends on the word alone.
    There it is a / (a + p), with the word's frequency p, which a network does not see.
    """

    def __init__(self, width: int, settings: Settings) -> None:
        super().__init__()
        self.weight = nn.Linear(width, 1)
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = width, False

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch; the only layer is the input."""
        weighted = inputs * self.weight(inputs).sigmoid()
        return Encoded(self.dropout(mean_over_time(weighted, lengths)), (inputs,))


def _sum_over_time(states: Tensor, lengths: Tensor) -> Tensor:
    return zero_padding(states, lengths).sum(1)


def _build(pool: str, width: int, settings: Settings) -> Body:
    return BagOfWords(pool, width, settings)


architectures = (
    Architecture("bow-mean", "mean of the word vectors", partial(_build, "mean"), SETTINGS, 1),
    Architecture("bow-max", "maximum of the word vectors", partial(_build, "max"), SETTINGS, 2),
    Architecture("bow-sum", "sum of the word vectors", partial(_build, "sum"), SETTINGS, 3),
    Architecture("bow-weighted", "mean of the word vectors with learned weights", WeightedBag, SETTINGS, 4),
)
