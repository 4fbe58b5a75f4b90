"""Structured self-attention: many heads, each a mean of a BiLSTM's states weighted by a small network."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.architecture import Architecture, Body, Encoded
from sentprobe.lab.networks.architectures._layers import RECURRENT_SETTINGS, Recurrent
from sentprobe.lab.networks.sequences import max_over_time, softmax_over_time

SETTINGS = {
    **RECURRENT_SETTINGS,
    "layers": Setting(2, "recurrent layers"),
    "dropout": Setting(0.1, "dropout between layers and on the output", low=0, high=0.99),
    "heads": Setting(60, "attention heads"),
    "mlp": Setting(150, "hidden units of the attention MLP"),
    "over": Setting(
        "heads", "what is pooled: the vectors of the heads, or the states weighted by attention", ("heads", "states")
    ),
}


class SelfAttention(nn.Module):
    """The attention of Lin et al. (2017): the weights of all heads are softmax(W₂ tanh(W₁ h)) over the words.

    Ravishankar et al. (2019) pool by "maxpool" or "last" and do not say over what. With ``over=heads``, a head's vector
    is the weighted mean of the states, and the sentence vector is the maximum over the heads, or the vector of the last
    one. With ``over=states``, every state is multiplied by its weight, averaged over the heads, and the sentence vector
    is the maximum of these states over time, or the two final ones, as in a BiLSTM.
    """

    def __init__(self, pool: str, width: int, settings: Settings) -> None:
        super().__init__()
        self.recurrent = Recurrent("lstm", width, settings)
        units, heads = int(settings["mlp"]), int(settings["heads"])
        self.inner = nn.Linear(self.recurrent.size, units, bias=False)
        self.outer = nn.Linear(units, heads, bias=False)
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.pool, self.over = pool, str(settings["over"])
        self.size, self.pools_max = self.recurrent.size, self.over == "states" and pool == "max"

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch; with ``over=states``, the states after attention are the last layer."""
        layers = self.recurrent(inputs, lengths)
        weights = softmax_over_time(self.outer(self.inner(layers[-1]).tanh()), lengths)
        if self.over == "heads":
            heads = weights.transpose(1, 2) @ layers[-1]
            vectors = heads.amax(1) if self.pool == "max" else heads[:, -1]
        else:
            layers = (*layers, layers[-1] * weights.mean(2, keepdim=True))
            vectors = (max_over_time if self.pool == "max" else self.recurrent.final)(layers[-1], lengths)
        return Encoded(self.dropout(vectors), layers)


def _build(pool: str, width: int, settings: Settings) -> Body:
    return SelfAttention(pool, width, settings)


architectures = (
    Architecture(
        "self-attention-max", "structured self-attention, maximum of its heads", partial(_build, "max"), SETTINGS, 31
    ),
    Architecture(
        "self-attention-last", "structured self-attention, its last head", partial(_build, "last"), SETTINGS, 32
    ),
)
