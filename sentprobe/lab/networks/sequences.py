"""Sentences of different lengths in one tensor: what is after the end of a sentence never reaches a result."""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(lengths: Tensor, time: int) -> Tensor:
    """(sentences, time): true after the end of a sentence."""
    return torch.arange(time, device=lengths.device) >= lengths[:, None]


def zero_padding(states: Tensor, lengths: Tensor) -> Tensor:
    """States (sentences, time, width) with zeros after the end of each sentence."""
    return states.masked_fill(padding_mask(lengths, states.shape[1])[:, :, None], 0)


def max_over_time(states: Tensor, lengths: Tensor) -> Tensor:
    """The maximum (sentences, width) of states (sentences, time, width), dimension by dimension."""
    mask = padding_mask(lengths, states.shape[1])
    return states.masked_fill(mask[:, :, None], float("-inf")).amax(1)


def mean_over_time(states: Tensor, lengths: Tensor) -> Tensor:
    """The mean (sentences, width) of states (sentences, time, width)."""
    return zero_padding(states, lengths).sum(1) / lengths[:, None]


def softmax_over_time(scores: Tensor, lengths: Tensor) -> Tensor:
    """Weights (sentences, time, heads) from scores of that shape: they sum to 1 over the words of a sentence."""
    mask = padding_mask(lengths, scores.shape[1])
    return scores.masked_fill(mask[:, :, None], float("-inf")).softmax(1)


def last_state(states: Tensor, lengths: Tensor) -> Tensor:
    """The state (sentences, width) of the last word of each sentence."""
    return states[torch.arange(len(states), device=states.device), lengths - 1]


def reverse(states: Tensor, lengths: Tensor) -> Tensor:
    """Each sentence backwards, padding still at the end; its own inverse."""
    time = torch.arange(states.shape[1], device=states.device)
    sources = torch.where(time < lengths[:, None], lengths[:, None] - 1 - time, time)
    return states.gather(1, sources[:, :, None].expand_as(states))


def selected_shares(states: Tensor, lengths: Tensor) -> Tensor:
    """(sentences, time): the share of dimensions whose maximum over time is at a word; of equal ones the first."""
    mask = padding_mask(lengths, states.shape[1])
    winners = states.masked_fill(mask[:, :, None], float("-inf")).argmax(1)
    counts = torch.zeros(states.shape[:2], device=states.device)
    counts.scatter_add_(1, winners, torch.ones_like(winners, dtype=counts.dtype))
    return counts / states.shape[2]
