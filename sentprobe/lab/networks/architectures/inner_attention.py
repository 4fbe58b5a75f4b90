"""Inner attention: several views of a BiLSTM's states, each the mean of the states weighted by a query of its own."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.architecture import Architecture, Encoded
from sentprobe.lab.networks.architectures._layers import RECURRENT_SETTINGS, Recurrent
from sentprobe.lab.networks.sequences import softmax_over_time

SETTINGS = {**RECURRENT_SETTINGS, "views": Setting(4, "learned queries, whose views are concatenated")}


class InnerAttention(nn.Module):
    """A view is Σ softmax(tanh(W h + b) · q) h; all have the same keys. Every view has a query q of its own.

    In the published code, three of the four views share a query, so that they are equal.
    """

    def __init__(self, width: int, settings: Settings) -> None:
        super().__init__()
        self.recurrent = Recurrent("lstm", width, settings)
        states, views = self.recurrent.size, int(settings["views"])
        self.keys = nn.Linear(states, states)
        self.queries = nn.Parameter(torch.randn(views, states))
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = views * states, False

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        layers = self.recurrent(inputs, lengths)
        scores = self.keys(layers[-1]).tanh() @ self.queries.T
        views = softmax_over_time(scores, lengths).transpose(1, 2) @ layers[-1]
        return Encoded(self.dropout(views.flatten(1)), layers)


architecture = Architecture(
    "inner-attention", "bidirectional LSTM, four attention-weighted means of the states", InnerAttention, SETTINGS, 30
)
