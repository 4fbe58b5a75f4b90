"""Which tokens of a batch are to be predicted, and what stands in their place.

As in XLM: a fixed share of the tokens of the batch, rare ones more often than frequent ones; 80 % of them become MASK,
10 % a random token, and 10 % stay. The first token of a sequence, padding and special tokens are never chosen.
On dev all tokens are alike, and those that are chosen always become MASK: what is scored is the text as it is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.lab.training.lm.tokens import MASK, SPECIAL

MASKED, RANDOM = 0.8, 0.1
"""Shares of the chosen tokens; the others stay."""


class MaskedTokens(NamedTuple):
    """A batch with some tokens to be predicted."""

    ids: Tensor
    """(sentences, time)."""
    places: Tensor
    """(predicted,), the numbers of these tokens among all tokens of the batch, ascending."""
    targets: Tensor
    """(predicted,), what they were."""


def choice_weights(counts: NDArray[np.int64], exponent: float) -> Tensor:
    """The weight of each token (tokens,), from how often it occurs: the count to the power of minus the exponent."""
    weights = np.maximum(counts, 1).astype(np.float64) ** -exponent
    weights[: len(SPECIAL)] = 0
    return torch.from_numpy(weights)


def mask_tokens(ids: Tensor, lengths: Tensor | None, weights: Tensor, share: float, *, always: bool = False) -> MaskedTokens:
    """Choose a share of the tokens, by weight and without replacement, with torch's random numbers.

    With ``always``, all of them become MASK.
    """
    sentences, time = ids.shape
    chances = weights[ids].log()
    chances[:, 0] = -math.inf
    total = sentences * time
    if lengths is not None:
        chances.masked_fill_(torch.arange(time) >= lengths[:, None], -math.inf)
        total = int(lengths.sum())
    count = min(math.ceil(share * total), int(chances.isfinite().sum()))
    # the largest of log-weights with Gumbel noise are a sample without replacement
    noisy = (chances - torch.empty_like(chances).exponential_().log()).masked_fill(chances.isinf(), -math.inf)
    indices = noisy.flatten().topk(count).indices.sort().values
    targets = ids.flatten()[indices]
    if always:
        return MaskedTokens(ids.flatten().index_fill(0, indices, MASK).view_as(ids), indices, targets)
    draw = torch.rand(count)
    random_tokens = torch.randint(len(SPECIAL), len(weights), (count,))
    replacements = torch.where(draw < MASKED, MASK, torch.where(draw < MASKED + RANDOM, random_tokens, targets))
    return MaskedTokens(ids.flatten().index_copy(0, indices, replacements).view_as(ids), indices, targets)
