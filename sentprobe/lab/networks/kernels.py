"""LSTM, attention, dropout and output loss with gradients of their own, which make training on a CPU faster.

The LSTM: all sentences of a batch advance together, and those that have ended drop out. No step is spent on padding,
and the products with all inputs, and with all states in the gradient of the weights, are one large product each. In
training it is a fifth faster than ``nn.LSTM`` over a padded batch, and twice as fast as over a packed one; the weights
are those of an ``nn.LSTM``, and the results the same but for rounding.

Attention and dropout: torch draws the random numbers of dropout one by one, which takes longer than the matrix products
of attention at the sizes that a CPU can train. Here eight of them are bytes of one random integer, so that
probabilities are multiples of 1/256; and attention goes a few sentences at a time, a long one alone, so that its
weights stay in the processor's cache and are never in memory all at once. On other devices, and under autocast, torch's
own functions are called.

The output loss is the cross-entropy over a large vocabulary, in memory that does not grow with the number of tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable
from torch.nn import functional

BYTE = 256
"""Values of a random byte, which decides whether a number is dropped."""
GROUP = 1 << 15
"""Weights of attention that are computed together."""
CHUNK = 400
"""Tokens whose logits are in memory together."""

# ---------------------------------------------------------------- LSTM


@dataclass(frozen=True, eq=False)
class ReadingOrder:
    """The words of a batch in the order in which they are read: step by step, the longest sentence first."""

    sizes: list[int]
    """Sentences at each step."""
    sentences: Tensor
    """(words,): the sentence of each word."""
    forwards: Tensor
    """(words,): its place in the sentence."""
    backwards: Tensor
    """(words,): the same for those who read from the end."""

    @classmethod
    def of(cls, lengths: Tensor) -> ReadingOrder:
        """The order for sentences of these lengths."""
        longest = torch.argsort(lengths, descending=True, stable=True)
        time = torch.arange(int(lengths.max()))
        sizes = (lengths[None] > time[:, None]).sum(1)
        sentences = torch.cat([longest[:size] for size in sizes.tolist()])
        forwards = torch.repeat_interleave(time, sizes)
        return cls(sizes.tolist(), sentences, forwards, lengths[sentences] - 1 - forwards)


def read_lstm(layer: nn.Module, inputs: Tensor, order: ReadingOrder, *, back: bool) -> Tensor:
    """The states (sentences, time, hidden) of an ``nn.LSTM`` with one layer over inputs (sentences, time, width).

    They are zeros after the end of a sentence.
    """
    assert isinstance(layer, nn.LSTM)
    positions = order.backwards if back else order.forwards
    by_input, by_state, input_bias, state_bias = layer.all_weights[0]
    gates = torch.addmm(input_bias + state_bias, inputs[order.sentences, positions], by_input.t())
    states: Tensor = _Scan.apply(gates, by_state, order.sizes)  # type: ignore[no-untyped-call]
    empty = states.new_zeros(*inputs.shape[:2], layer.hidden_size)
    return empty.index_put((order.sentences, positions), states)


class _Scan(torch.autograd.Function):
    """The recurrence, given the part of the gates that comes from the inputs.

    Gates are in torch's order: input, forget, cell, output.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, gates: Tensor, weight: Tensor, sizes: list[int]) -> Tensor:
        """States (words, hidden) of gates (words, 4 hidden) and weights (4 hidden, hidden)."""
        hidden = weight.shape[1]
        gates = gates.clone()
        states, cells, outputs = (gates.new_empty(len(gates), hidden) for _ in range(3))
        transposed = weight.t()
        begin = end = 0
        for size in sizes:
            before = slice(begin, begin + size)  # the same sentences, one step earlier
            begin, end = end, end + size
            now = slice(begin, end)
            gate, cell = gates[now], cells[now]
            if begin:
                gate.addmm_(states[before], transposed)
            gate[:, : 2 * hidden].sigmoid_()
            gate[:, 2 * hidden : 3 * hidden].tanh_()
            gate[:, 3 * hidden :].sigmoid_()
            torch.mul(gate[:, :hidden], gate[:, 2 * hidden : 3 * hidden], out=cell)
            if begin:
                cell.addcmul_(gate[:, hidden : 2 * hidden], cells[before])
            torch.tanh(cell, out=outputs[now])
            torch.mul(gate[:, 3 * hidden :], outputs[now], out=states[now])
        ctx.save_for_backward(gates, states, cells, outputs, weight)
        ctx.sizes = sizes  # type: ignore[attr-defined]
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """The gradients of gates and weights."""
        gates, states, cells, outputs, weight = ctx.saved_tensors
        hidden, sizes = weight.shape[1], ctx.sizes
        gate_gradients = torch.empty_like(gates)
        previous = torch.empty_like(states)
        end = len(gates)
        later: tuple[Tensor, Tensor] | None = None
        for step in range(len(sizes) - 1, -1, -1):
            size = sizes[step]
            now = slice(end - size, end)
            admit, forget, new, out = torch.split(gates[now], hidden, 1)
            by_admit, by_forget, by_new, by_out = torch.split(gate_gradients[now], hidden, 1)
            state, output = gradients[0][now].clone(), outputs[now]
            if later is not None:
                state[: len(later[0])] += later[0]
            cell = state * out * (1 - output * output)
            if later is not None:
                cell[: len(later[1])] += later[1]
            torch.mul(cell * new, admit * (1 - admit), out=by_admit)
            torch.mul(cell * admit, 1 - new * new, out=by_new)
            torch.mul(state * output, out * (1 - out), out=by_out)
            if step:
                begin = end - size - sizes[step - 1]
                before = slice(begin, begin + size)
                torch.mul(cell * cells[before], forget * (1 - forget), out=by_forget)
                previous[now] = states[before]
                later = gate_gradients[now] @ weight, cell * forget
            else:
                by_forget.zero_()
            end -= size
        first = sizes[0]
        return gate_gradients, gate_gradients[first:].t() @ previous[first:], None


# ---------------------------------------------------------------- attention and dropout


def drop(states: Tensor, rate: float) -> Tensor:
    """States with a random share of their numbers set to zero, the others scaled up; the same states if it is 0."""
    if not rate:
        return states
    if not _fast(states):
        return functional.dropout(states, rate)
    dropped: Tensor = _apply(_Dropout, states, _threshold(rate))
    return dropped


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool, rate: float) -> Tensor:
    """Mixed values (sentences, heads, queries, width), for queries of that shape, and keys and values of their own.

    A query sees the keys for which ``mask``, of a shape that broadcasts to (sentences, heads, queries, keys), is true;
    if attention is ``causal``, those up to its own place. A share ``rate`` of the weights is dropped.
    """
    if rate and _fast(query):
        if causal:
            seen = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
            mask = seen if mask is None else mask & seen
        mixed: Tensor = _apply(_Attention, query, key, value, mask, _threshold(rate))
        return mixed
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
    draws = torch.empty(-(-count // 8), dtype=torch.int64).random_(-(2**63), None)
    return draws.view(torch.uint8)[:count].view(shape)


class _Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, threshold: int) -> Tensor:
        draws = _random_bytes(states.shape)
        ctx.save_for_backward(draws)
        ctx.threshold = threshold
        return _dropout_mask(draws, threshold).mul_(states)

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        (draws,) = ctx.saved_tensors
        return _dropout_mask(draws, ctx.threshold).mul_(grad[0]), None


def _dropout_mask(draws: Tensor, threshold: int, out: Tensor | None = None) -> Tensor:
    """0 for what is dropped; otherwise what it is multiplied by."""
    out = torch.empty(draws.shape) if out is None else out
    return torch.ge(draws, threshold, out=out).mul_(BYTE / (BYTE - threshold))


class _Attention(torch.autograd.Function):
    """Weights are computed again for the gradient."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, threshold: int) -> Tensor:
        sentences, heads, queries, width = query.shape
        draws = _random_bytes(torch.Size((sentences, heads, queries, key.shape[2])))
        out = query.new_empty(sentences, queries, heads, width).transpose(1, 2)
        size = _group_size(draws)
        factors = torch.empty(draws[:size].shape)
        for group in _groups(sentences, size):
            weights = _weights(query[group], key[group], _rows(mask, group))
            out[group] = weights.mul_(_dropout_mask(draws[group], threshold, factors[: len(weights)])) @ value[group]
        ctx.save_for_backward(query, key, value, out, draws, *([] if mask is None else [mask]))
        ctx.threshold = threshold
        return out

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, draws, *masks = ctx.saved_tensors
        scale = 1 / math.sqrt(query.shape[3])
        grads = [torch.empty_like(part, memory_format=torch.preserve_format) for part in (query, key, value)]
        size = _group_size(draws)
        buffer = torch.empty(draws[:size].shape)
        for group in _groups(len(query), size):
            weights = _weights(query[group], key[group], _rows(masks[0] if masks else None, group))
            factors, gradient = _dropout_mask(draws[group], ctx.threshold, buffer[: len(weights)]), grad[0][group]
            grads[2][group] = (weights * factors).transpose(2, 3) @ gradient
            change = (gradient @ value[group].transpose(2, 3)).mul_(factors)
            change.sub_((gradient * out[group]).sum(3, keepdim=True)).mul_(weights).mul_(scale)
            grads[0][group] = change @ key[group]
            grads[1][group] = change.transpose(2, 3) @ query[group]
        return *grads, None, None


def _group_size(draws: Tensor) -> int:
    """How many sentences have weights, of the shape of these bytes, that fit into the cache together; one at least."""
    return max(1, GROUP // max(1, math.prod(draws.shape[1:])))


def _groups(sentences: int, size: int) -> Iterator[slice]:
    return (slice(at, at + size) for at in range(0, sentences, size))


def _rows(mask: Tensor | None, group: slice) -> Tensor | None:
    """The mask of some sentences, where it differs between sentences."""
    return mask if mask is None or mask.dim() < 4 or len(mask) == 1 else mask[group]


def _weights(query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
    """(sentences, heads, queries, keys)."""
    scores = (query @ key.transpose(2, 3)).mul_(1 / math.sqrt(query.shape[3]))
    if mask is not None:
        scores.masked_fill_(~mask, float("-inf"))
    return torch.softmax(scores, 3, out=scores)


# ---------------------------------------------------------------- output loss


def output_loss(features: Tensor, targets: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The sum of the cross-entropies of targets (tokens,), given features (tokens, units) before the output layer.

    Equal to ``cross_entropy(linear(features, weight, bias), targets, reduction="sum")``.
    """
    if torch.is_autocast_enabled(features.device.type):  # which chooses the precision of each operation itself
        return functional.cross_entropy(functional.linear(features, weight, bias), targets, reduction="sum")
    apply: Any = _OutputLoss.apply
    loss: Tensor = apply(features, targets, weight, bias, torch.is_grad_enabled())
    return loss


class _OutputLoss(torch.autograd.Function):
    """Computes the gradients together with the loss, from logits that are still in the processor's cache.

    It takes the same three products as autograd, and a tenth less time; no tensor has all logits.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, targets: Tensor, weight: Tensor, bias: Tensor, train: bool) -> Tensor:
        total = features.new_zeros(())
        if train:
            grads = torch.empty_like(features), torch.zeros_like(weight), torch.zeros_like(bias)
        for at in range(0, len(features), CHUNK):
            chunk, gold = features[at : at + CHUNK], targets[at : at + CHUNK, None]
            scores = torch.log_softmax(torch.addmm(bias, chunk, weight.t()), 1)
            total -= scores.gather(1, gold).sum()
            if train:
                errors = scores.exp_().scatter_add_(1, gold, scores.new_full(gold.shape, -1.0))
                torch.mm(errors, weight, out=grads[0][at : at + CHUNK])
                grads[1].addmm_(errors.t(), chunk)
                grads[2].add_(errors.sum(0))
        if train:
            ctx.save_for_backward(*grads)
        return total

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, bias = (grad[0] * saved for saved in ctx.saved_tensors)
        return features, None, weight, bias, None
