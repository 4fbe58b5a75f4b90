"""Attention and dropout as Transformers have them in training, fast on a CPU.

torch draws the random numbers of dropout one by one, which takes longer than the matrix products of attention at the
sizes that a CPU can train. Here eight of them are bytes of one random integer, so that probabilities are multiples of
1/256; and attention goes a few sentences at a time, a long one alone, so that its weights stay in the processor's cache
and are never in memory all at once. On other devices, and under autocast, torch's own functions are called.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

BYTE = 256
GROUP = 1 << 15
"""Weights of attention that are computed together."""


def drop(states: Tensor, rate: float) -> Tensor:
    """States with a random share of their numbers set to zero, the others scaled up; the same states if it is 0."""
    if not rate:
        return states
    if not _fast(states):
        return functional.dropout(states, rate)
    found: Tensor = _apply(_Dropout, states, _threshold(rate))
    return found


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, rate: float) -> Tensor:
    """Mixed values (sentences, heads, queries, width), for queries of that shape, and keys and values of their own.

    A query sees the keys for which ``mask``, of a shape that broadcasts to (sentences, heads, queries, keys), is true;
    if attention is ``causal``, those up to its own place. A share ``rate`` of the weights is dropped.
    """
    if rate and _fast(query):
        if causal:
            seen = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
            mask = seen if mask is None else mask & seen
        found: Tensor = _apply(_Attention, query, key, value, mask, _threshold(rate))
        return found
    if causal and mask is not None:
        mask = mask & torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
        causal = False
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate, is_causal=causal)


def _fast(states: Tensor) -> bool:
    return states.device.type == "cpu" and states.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")


def _apply(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    return function.apply(*arguments)  # type: ignore[no-untyped-call]


def _threshold(rate: float) -> int:
    """Bytes below it are dropped."""
    return min(BYTE - 1, max(1, round(rate * BYTE)))


def _random_bytes(shape: torch.Size) -> Tensor:
    """Independent random bytes, from torch's generator of the CPU."""
    count = shape.numel()
    drawn = torch.empty(-(-count // 8), dtype=torch.int64).random_(-(2**63), None)
    return drawn.view(torch.uint8)[:count].view(shape)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, threshold: int) -> Tensor:
        drawn = _random_bytes(states.shape)
        ctx.save_for_backward(drawn)
        ctx.threshold = threshold
        return _kept(drawn, threshold).mul_(states)

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        (drawn,) = ctx.saved_tensors
        return _kept(drawn, ctx.threshold).mul_(grad[0]), None


def _kept(drawn: Tensor, threshold: int, out: Tensor | None = None) -> Tensor:
    """0 for what is dropped; otherwise what it is multiplied by."""
    out = torch.empty(drawn.shape) if out is None else out
    return torch.ge(drawn, threshold, out=out).mul_(BYTE / (BYTE - threshold))


class _Attention(torch.autograd.Function):
    """Weights are computed again for the gradient."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, threshold: int) -> Tensor:
        sentences, heads, queries, width = query.shape
        drawn = _random_bytes(torch.Size((sentences, heads, queries, key.shape[2])))
        out = query.new_empty(sentences, queries, heads, width).transpose(1, 2)
        size = _together(drawn)
        kept = torch.empty(drawn[:size].shape)
        for some in _groups(sentences, size):
            weights = _weights(query[some], key[some], _rows(mask, some))
            out[some] = weights.mul_(_kept(drawn[some], threshold, kept[: len(weights)])) @ value[some]
        ctx.save_for_backward(query, key, value, out, drawn, *([] if mask is None else [mask]))
        ctx.threshold = threshold
        return out

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, drawn, *masks = ctx.saved_tensors
        scale = 1 / math.sqrt(query.shape[3])
        grads = [torch.empty_like(part, memory_format=torch.preserve_format) for part in (query, key, value)]
        size = _together(drawn)
        buffer = torch.empty(drawn[:size].shape)
        for some in _groups(len(query), size):
            weights = _weights(query[some], key[some], _rows(masks[0] if masks else None, some))
            kept, own = _kept(drawn[some], ctx.threshold, buffer[: len(weights)]), grad[0][some]
            grads[2][some] = (weights * kept).transpose(2, 3) @ own
            change = (own @ value[some].transpose(2, 3)).mul_(kept)
            change.sub_((own * out[some]).sum(3, keepdim=True)).mul_(weights).mul_(scale)
            grads[0][some] = change @ key[some]
            grads[1][some] = change.transpose(2, 3) @ query[some]
        return *grads, None, None


def _together(drawn: Tensor) -> int:
    """How many sentences have weights, of the shape of these bytes, that fit into the cache together; one at least."""
    return max(1, GROUP // max(1, math.prod(drawn.shape[1:])))


def _groups(sentences: int, size: int) -> Iterator[slice]:
    return (slice(at, at + size) for at in range(0, sentences, size))


def _rows(mask: Tensor | None, some: slice) -> Tensor | None:
    """The mask of some sentences, where it differs between sentences."""
    return mask if mask is None or mask.dim() < 4 or len(mask) == 1 else mask[some]


def _weights(query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
    """(sentences, heads, queries, keys)."""
    scores = (query @ key.transpose(2, 3)).mul_(1 / math.sqrt(query.shape[3]))
    if mask is not None:
        scores.masked_fill_(~mask, float("-inf"))
    return torch.softmax(scores, 3, out=scores)
