"""The arithmetic of training in plain numpy: the engine that is always available, and the one to read.

Arrays are units × rows, so that the members of a group are stacked in one matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np

from sentprobe.probes.features import Floats, Ints
from sentprobe.probes.network.group import ALPHA, BETAS, EPSILON, Group, mask_hashes, mask_key, mask_threshold
from sentprobe.probes.probe import Activation, is_relu

BLOCK = 1 << 15
"""Weights that are updated at a time: with their gradients and running averages they stay in the processor's cache."""


def hold(array: Floats) -> Floats:
    """The array itself."""
    return array


def copy(group: Group, member: int) -> tuple[Floats, ...]:
    """The weights of one member."""
    return tuple(array[member].copy() for array in group.weights)


def logits(group: Group, xs: Floats) -> Floats:
    """The logits (members, n, classes) of rows (n, d), without dropout."""
    return forward(group.weights, group.probe.activation, xs)


def forward(weights: Sequence[Any], activation: Activation, xs: Floats) -> Floats:
    """The logits (members, n, classes) of rows (n, d) for weights as in ``Group``."""
    first, bias = weights[0], weights[1]
    sums = (xs @ first.reshape(-1, first.shape[2]).T).reshape(len(xs), *bias.shape)
    sums += bias
    scores: Floats = sums.transpose(1, 0, 2)
    if len(weights) == 4:
        _activate(scores, activation)
        scores = np.matmul(scores, weights[2].transpose(0, 2, 1))
        scores += weights[3][:, None]
    return scores


def train(group: Group, xs: Floats, rows: Ints, ys: Ints, step: int) -> None:
    """Train on these rows of ``xs`` (any, d) and their labels, batch by batch, after ``step`` batches."""
    size, l2 = group.probe.batch, np.array([[setting.l2] for setting in group.settings], np.float32)
    for start in range(0, len(rows), size):
        step += 1
        gradients = _gradients(group, xs[rows[start : start + size]], ys[start : start + size], step)
        for i, gradient in enumerate(gradients):
            _update(group, i, gradient, l2, step)


def _activate(scores: Floats, activation: Activation) -> None:
    if is_relu(activation):
        np.maximum(scores, 0, out=scores)
    else:
        with np.errstate(over="ignore"):  # where exp overflows, its reciprocal is 0, as it should be
            np.exp(np.negative(scores, out=scores), out=scores)
        scores += 1
        np.reciprocal(scores, out=scores)


def _gradients(group: Group, x: Floats, y: Ints, step: int) -> list[Floats]:
    """The gradient of the loss of one batch, without the penalty, in the shapes of the weights."""
    probe, rows = group.probe, len(x)
    first, bias = group.weights[0], group.weights[1]
    units = (first.reshape(-1, x.shape[1]) @ x.T).reshape(*bias.shape, rows)
    units += bias[:, :, None]
    if len(group.weights) == 2:
        _to_errors(units, y, probe.reduction)
        return [(units.reshape(-1, rows) @ x).reshape(first.shape), units.sum(axis=2)]
    factors = _factors(group, units.shape[1], rows, step)
    if probe.drop == "before":
        units *= factors
    _activate(units, probe.activation)
    # before the factors of dropout "after" are applied: the derivative of a sigmoid is made of its own value
    slopes = (units > 0) * factors if is_relu(probe.activation) else units * (1 - units) * factors
    if probe.drop == "after":
        units *= factors
    last, last_bias = group.weights[2], group.weights[3]
    scores = last @ units
    scores += last_bias[:, :, None]
    _to_errors(scores, y, probe.reduction)
    slopes *= last.transpose(0, 2, 1) @ scores
    return [
        (slopes.reshape(-1, rows) @ x).reshape(first.shape),
        slopes.sum(axis=2),
        scores @ units.transpose(0, 2, 1),
        scores.sum(axis=2),
    ]


def _factors(group: Group, units: int, rows: int, step: int) -> Floats:
    """The dropout factor of each unit and row, (members, 1 or units, 1 or rows): 0 where the unit is dropped."""
    dropout = [setting.dropout for setting in group.settings]
    if not any(dropout):
        return np.ones((len(group), 1, 1), np.float32)
    hashes = mask_hashes(mask_key(group.seed, step), np.arange(units)[:, None], np.arange(rows))
    factors = np.empty((len(group), units, rows), np.float32)
    for i, share in enumerate(dropout):
        np.multiply(hashes >= mask_threshold(share), np.float32(1 / (1 - share)), out=factors[i])
    return factors


def _to_errors(scores: Floats, y: Ints, reduction: str) -> None:
    """Turn logits (members, classes, rows) into the gradient of the cross-entropy with respect to them, in place."""
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    scores[:, y, np.arange(len(y))] -= 1
    if reduction == "mean":
        scores *= np.float32(1 / len(y))


def _update(group: Group, layer: int, gradient: Floats, l2: Floats, step: int) -> None:
    """One step of the optimiser for one array of weights, as torch does it; ``l2`` is (members, 1)."""
    members = len(group)
    weights, averages, square_averages, gradients = (
        array.reshape(members, -1)
        for array in (group.weights[layer], group.first[layer], group.second[layer], gradient)
    )
    width = max(1, BLOCK // members)
    for start in range(0, weights.shape[1], width):
        w, m, v, g = (array[:, start : start + width] for array in (weights, averages, square_averages, gradients))
        g += l2 * w
        w -= _move(group, m, v, g, step)


def _move(group: Group, m: Floats, v: Floats, g: Floats, step: int) -> Floats:
    """What is subtracted from the weights; ``m`` and ``v`` are updated, and ``g`` is overwritten."""
    optimiser, rate = group.probe.optimiser, group.probe.rate
    numerator, root = g, np.float32(1)
    match optimiser:
        case "sgd":
            return g * np.float32(rate)
        case "adam":
            m *= np.float32(BETAS[0])
            m += g * np.float32(1 - BETAS[0])
            v *= np.float32(BETAS[1])
            g *= g
            g *= np.float32(1 - BETAS[1])
            v += g
            numerator, root = m, np.float32(1 / np.sqrt(1 - BETAS[1] ** step))
            rate /= 1 - BETAS[0] ** step
        case "adagrad":
            v += g * g
        case "rmsprop":
            v *= np.float32(ALPHA)
            v += g * g * np.float32(1 - ALPHA)
        case _:
            assert_never(optimiser)
    denominator = np.sqrt(v)
    denominator *= root
    denominator += np.float32(EPSILON[optimiser])
    np.divide(numerator, denominator, out=denominator)
    denominator *= np.float32(rate)
    return denominator
