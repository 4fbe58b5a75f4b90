"""The cross-entropy over a large vocabulary, in memory that does not grow with the number of tokens."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

CHUNK = 400
"""Tokens whose logits are in memory together."""


def output_loss(features: Tensor, targets: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The sum of the cross-entropies of targets (tokens,), given features (tokens, units) before the output layer.

    Equal to ``cross_entropy(linear(features, weight, bias), targets, reduction="sum")``.
    """
    if torch.is_autocast_enabled(features.device.type):  # which chooses the precision of each operation itself
        return functional.cross_entropy(functional.linear(features, weight, bias), targets, reduction="sum")
    apply: Any = _OutputLoss.apply
    found: Tensor = apply(features, targets, weight, bias, torch.is_grad_enabled())
    return found


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
            some, right = features[at : at + CHUNK], targets[at : at + CHUNK, None]
            scores = torch.log_softmax(torch.addmm(bias, some, weight.t()), 1)
            total -= scores.gather(1, right).sum()
            if train:
                errors = scores.exp_().scatter_add_(1, right, scores.new_full(right.shape, -1.0))
                torch.mm(errors, weight, out=grads[0][at : at + CHUNK])
                grads[1].addmm_(errors.t(), some)
                grads[2].add_(errors.sum(0))
        if train:
            ctx.save_for_backward(*grads)
        return total

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, bias = (grad[0] * saved for saved in ctx.saved_tensors)
        return features, None, weight, bias, None
