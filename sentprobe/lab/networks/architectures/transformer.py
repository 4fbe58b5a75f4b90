"""Transformer encoder as in XLM: learned positions, GELU, layer normalisation after every part."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import UsageError
from sentprobe.lab.networks.architecture import Architecture, Encoded
from sentprobe.lab.networks.architectures._layers import Positions, projection
from sentprobe.lab.networks.sequences import max_over_time, mean_over_time, padding_mask

SETTINGS = {
    "hidden": Setting(512, "units per layer"),
    "layers": Setting(6, "layers"),
    "heads": Setting(8, "attention heads, which share the units of a layer"),
    "feedforward": Setting(0, "inner units of the feed-forward networks, 0 for four times hidden", low=0),
    "positions": Setting(512, "learned positions; words after the last one share it"),
    "pool": Setting("mean", "pooling of the top layer; first is the state of the first word", ("mean", "max", "first")),
    "dropout": Setting(0.1, "dropout on the inputs, attention and every part", low=0, high=0.99),
}


class TransformerLayer(nn.Module):
    """Self-attention and a feed-forward network, each added to its input and normalised."""

    def __init__(self, hidden: int, heads: int, feedforward: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.rate = heads, dropout
        self.attention_in, self.attention_out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.inner, self.outer = nn.Linear(hidden, feedforward), nn.Linear(feedforward, hidden)
        self.attention_norm, self.outer_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, words: Tensor) -> Tensor:
        """New states of states (sentences, time, hidden); words (sentences, 1, 1, time) are true where there is one."""
        sentences, time, hidden = states.shape
        split = self.attention_in(states).view(sentences, time, 3, self.heads, hidden // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        rate = self.rate if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=words, dropout_p=rate)
        mixed = self.attention_out(mixed.transpose(1, 2).reshape(states.shape))
        states = self.attention_norm(states + self.dropout(mixed))
        out: Tensor = self.outer_norm(states + self.dropout(self.outer(functional.gelu(self.inner(states)))))
        return out


class TransformerEncoder(nn.Module):
    """Word vectors, brought to the width of the layers if theirs is another, and positions; then layers.

    Not ``torch.nn.TransformerEncoder``: that has a second implementation for inference, and does not give the states of
    each layer.
    """

    def __init__(self, width: int, settings: Settings) -> None:
        super().__init__()
        hidden, heads = int(settings["hidden"]), int(settings["heads"])
        if hidden % heads:
            raise UsageError(f"hidden={hidden} and heads={heads}: expected hidden to be a multiple of heads.")
        feedforward, dropout = int(settings["feedforward"]) or 4 * hidden, float(settings["dropout"])
        self.project = projection(width, hidden)
        self.positions = Positions(int(settings["positions"]), hidden, scale=hidden**-0.5)
        self.norm, self.dropout = nn.LayerNorm(hidden), nn.Dropout(dropout)
        depth = range(int(settings["layers"]))
        self.layers = nn.ModuleList(TransformerLayer(hidden, heads, feedforward, dropout) for _ in depth)
        self.pool = str(settings["pool"])
        self.size, self.pools_max = hidden, self.pool == "max"

    def forward(self, inputs: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch."""
        words = ~padding_mask(lengths, inputs.shape[1])[:, None, None]
        states = self.dropout(self.norm(self.positions(self.project(inputs))))
        layers = []
        for layer in self.layers:
            states = layer(states, words)
            layers.append(states)
        pool = {"mean": mean_over_time, "max": max_over_time, "first": _first_state}[self.pool]
        return Encoded(pool(states, lengths), tuple(layers))


def _first_state(states: Tensor, lengths: Tensor) -> Tensor:
    return states[:, 0]


architecture = Architecture(
    "transformer",
    "Transformer encoder, mean, maximum or first state of the top layer",
    TransformerEncoder,
    SETTINGS,
    50,
    word_deviation=lambda width: width**-0.5,
)
