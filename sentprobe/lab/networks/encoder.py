"""The network that encodes sentences: word vectors, and a body of some architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from sentprobe.lab.networks import ARCHITECTURES
from sentprobe.lab.networks.architecture import Encoded

if TYPE_CHECKING:
    from sentprobe.lab.networks.architecture import NetworkConfig


class WordInputs(nn.Module):
    """Word vectors, frozen (a table that is not among the weights) or learned, with an optional projection."""

    def __init__(self, config: NetworkConfig, table: Tensor | None) -> None:
        super().__init__()
        self.frozen = table is not None and config.frozen
        if self.frozen:
            self.register_buffer("table", table, persistent=False)
        else:
            self.learned = nn.Embedding(config.words + 1, config.width)
            with torch.no_grad():
                if table is not None:
                    self.learned.weight.copy_(table)
                else:
                    self.learned.weight *= ARCHITECTURES.get(config.architecture).word_deviation(config.width)
                    # the unknown word, which is not learned where training data have no unknown words
                    self.learned.weight[0] = 0
        self.project = nn.Linear(config.width, config.projection) if config.projection else nn.Identity()

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors (sentences, time, width) of numbers (sentences, time)."""
        table = self.table if self.frozen else self.learned.weight
        vectors: Tensor = self.project(nn.functional.embedding(ids, table))  # type: ignore[arg-type]
        return vectors


class SentenceEncoder(nn.Module):
    """Word numbers and lengths in, one vector per sentence out, which does not depend on the batch."""

    def __init__(self, config: NetworkConfig, table: Tensor | None) -> None:
        """Build with random weights; ``table`` (words + 1, width) has given vectors, first that of the unknown word."""
        super().__init__()
        self.inputs = WordInputs(config, table)
        architecture = ARCHITECTURES.get(config.architecture)
        self.body: Any = architecture.build(config.projection or config.width, config.settings)
        self.reads_ids = architecture.reads_ids
        self.size = self.body.size

    def forward(self, ids: Tensor, lengths: Tensor) -> Encoded:
        """Encode a batch of numbers (sentences, time), padded at the end with zeros, and lengths (sentences,)."""
        encoded: Encoded = self.body(self.inputs(ids), lengths, *([ids] if self.reads_ids else []))
        return encoded


def build_encoder(config: NetworkConfig, table: Tensor | None, seed: int) -> SentenceEncoder:
    """An encoder with random weights: the same for the same seed, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return SentenceEncoder(config, table)
