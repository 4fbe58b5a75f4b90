"""Bag of words and bigrams: the mean of the vectors of both, as in sent2vec."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.lab.networks.architecture import Architecture, Encoded
from sentprobe.lab.networks.sequences import padding_mask

PRIME = 116049371
"""With which fastText, and so sent2vec, hashes the numbers of words."""


class BagOfNgrams(nn.Module):
    """The mean of the vectors of n words and n - 1 bigrams; bigrams share vectors if they have the same hash."""

    def __init__(self, width: int, settings: Settings) -> None:
        super().__init__()
        self.bigrams = nn.Embedding(int(settings["buckets"]), width)
        self.dropout = nn.Dropout(float(settings["dropout"]))
        self.size, self.pools_max = width, False

    def forward(self, inputs: Tensor, lengths: Tensor, ids: Tensor | None = None) -> Encoded:
        """Encode a batch; the only layer is the input."""
        assert ids is not None
        words = inputs.masked_fill(padding_mask(lengths, ids.shape[1])[:, :, None], 0).sum(1)
        vectors = self.bigrams(hash_bigrams(ids, self.bigrams.num_embeddings))
        vectors = vectors.masked_fill(padding_mask(lengths - 1, vectors.shape[1])[:, :, None], 0).sum(1)
        return Encoded(self.dropout((words + vectors) / (2 * lengths - 1)[:, None]), (inputs,))


def hash_bigrams(ids: Tensor, buckets: int) -> Tensor:
    """The buckets (sentences, time - 1) of the bigrams of words (sentences, time); also of those with padding."""
    return torch.remainder(ids[:, :-1] * PRIME + ids[:, 1:], buckets)


architecture = Architecture(
    "ngrams",
    "mean of the vectors of words and bigrams",
    BagOfNgrams,
    {
        "buckets": Setting(200_000, "vectors that bigrams share; sent2vec has 2,000,000"),
        "dropout": Setting(0.0, "dropout on the output", low=0, high=0.99),
    },
    reads_ids=True,
    order=5,
)
