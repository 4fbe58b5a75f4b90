"""The arithmetic of training in compiled loops, where numba is installed: several times as fast as ``steps_numpy``.

A step on few numbers is over before numpy has prepared its calls; here all batches of a block are one call of a kernel.
The arithmetic is that of ``steps_numpy``, up to the order of sums; arrays are units × rows, as there.

Kernels are compiled when they are first used, and numba caches them on disk where it may write. They are all in one
file, since that cache notices changes of a kernel's own file only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
import scipy.linalg.cython_blas  # noqa: F401  numba's np.dot loads this library; a limit on threads must find it
from numba import njit, types
from numba.extending import intrinsic

from sentprobe.probes.features import Floats, Ints
from sentprobe.probes.network.group import ALPHA, BETAS, EPSILON, Group, mix
from sentprobe.probes.network.steps_numpy import copy, hold, logits
from sentprobe.probes.probe import is_relu

__all__ = ["copy", "hold", "logits", "train"]

FEW_OUTPUTS = 32
"""Up to this many logits per row, of all members together, are computed by our own loops; more by the BLAS."""

OPTIMISERS = ("adam", "adagrad", "rmsprop", "sgd")
FAST_MATH = {"reassoc", "contract", "arcp", "nsz"}
"""Sums may be reordered, but NaN and infinity are respected."""

f4, u4, i4 = np.float32, np.uint32, np.int32
BETA_1, BETA_2 = BETAS
NEW_1, NEW_2, NEW_A = f4(1 - BETA_1), f4(1 - BETA_2), f4(1 - ALPHA)
KEPT_1, KEPT_2, KEPT_A = f4(BETA_1), f4(BETA_2), f4(ALPHA)
ADAM_EPSILON, ADAGRAD_EPSILON, RMS_EPSILON = (f4(EPSILON[name]) for name in OPTIMISERS[:3])

F = TypeVar("F", bound=Callable[..., Any])


def train(group: Group, xs: Floats, rows: Ints, ys: Ints, step: int) -> None:
    """Train on these rows of ``xs`` (any, d) and their labels, batch by batch, after ``step`` batches."""
    probe = group.probe
    table = xs.view()
    table.flags.writeable = False  # numba compiles separate code for writable arrays
    l2 = np.array([setting.l2 for setting in group.settings], np.float32)
    rule = (probe.batch, probe.reduction == "mean", OPTIMISERS.index(probe.optimiser), probe.rate, step)
    arrays = (tuple(group.weights), tuple(group.first), tuple(group.second), l2)
    kernel: Any
    if len(group.weights) == 2:
        kernel = train_few_outputs if group.weights[1].size <= FEW_OUTPUTS else train_many_outputs
        kernel(table, rows, ys, *arrays, rule)
    else:
        dropout = np.array([setting.dropout for setting in group.settings], np.float64)
        form = (dropout, mix(group.seed), is_relu(probe.activation), probe.drop == "after")
        kernel = train_hidden
        kernel(table, rows, ys, *arrays, form, rule)


def _compiled(function: F) -> F:
    """The function as machine code, cached on disk if possible."""
    compiler: Any = partial(njit, fastmath=FAST_MATH, error_model="numpy", nogil=True)
    try:
        kernel: F = compiler(cache=True)(function)
    except RuntimeError:  # no folder that numba may write to
        kernel = compiler()(function)
    return kernel


def _bits(typing: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


_as_float: Any = intrinsic(_bits)
"""The float32 with these 32 bits, inside a kernel."""


@_compiled
def _exp(x: Any) -> Any:
    """e to the x in float32, to about 2 units in the last place; without branches, so that loops can be vectorised.

    x = k log 2 + r; the polynomial in r is that of Cephes' expf, as are the two parts of log 2.
    """
    x = min(max(x, f4(-87.0)), f4(88.0))
    k = np.floor(x * f4(1.44269504) + f4(0.5))
    r = x - k * f4(0.693359375) + k * f4(2.12194440e-4)
    p = f4(1.9875691500e-4)
    p = p * r + f4(1.3981999507e-3)
    p = p * r + f4(8.3334519073e-3)
    p = p * r + f4(4.1665795894e-2)
    p = p * r + f4(1.6666665459e-1)
    p = p * r + f4(5.0000001201e-1)
    return (p * r * r + r + f4(1)) * _as_float((i4(k) + i4(127)) << i4(23))


@_compiled
def _mix(x: Any) -> Any:
    x = u4((x ^ (x >> u4(16))) * u4(0x7FEB352D))
    x = u4((x ^ (x >> u4(15))) * u4(0x846CA68B))
    return u4(x ^ (x >> u4(16)))


@_compiled
def _update(w: Any, g: Any, m: Any, v: Any, l2: Any, optimiser: Any, rate: Any, step: Any) -> None:
    """One step of the optimiser for a flat array of weights, as torch does it."""
    if optimiser == 0:
        scaled_rate, root = f4(rate / (1 - BETA_1**step)), f4(1 / math.sqrt(1 - BETA_2**step))
        for i in range(w.size):
            slope = g[i] + l2 * w[i]
            m[i] = KEPT_1 * m[i] + NEW_1 * slope
            v[i] = KEPT_2 * v[i] + NEW_2 * slope * slope
            w[i] -= scaled_rate * m[i] / (math.sqrt(v[i]) * root + ADAM_EPSILON)
    elif optimiser == 1:
        for i in range(w.size):
            slope = g[i] + l2 * w[i]
            v[i] += slope * slope
            w[i] -= f4(rate) * slope / (math.sqrt(v[i]) + ADAGRAD_EPSILON)
    elif optimiser == 2:
        for i in range(w.size):
            slope = g[i] + l2 * w[i]
            v[i] = KEPT_A * v[i] + NEW_A * slope * slope
            w[i] -= f4(rate) * slope / (math.sqrt(v[i]) + RMS_EPSILON)
    else:
        for i in range(w.size):
            w[i] -= f4(rate) * (g[i] + l2 * w[i])


@_compiled
def _update_all(w: Any, g: Any, m: Any, v: Any, l2: Any, optimiser: Any, rate: Any, step: Any) -> None:
    """The same for each member, (members, …)."""
    for k in range(len(w)):
        _update(w[k].reshape(-1), g[k].reshape(-1), m[k].reshape(-1), v[k].reshape(-1), l2[k], optimiser, rate, step)


@_compiled
def _to_errors(scores: Any, bias: Any, y: Any, weight: Any, highest: Any, total: Any, sums: Any) -> None:
    """Turn logits (classes, rows) into the gradient of the cross-entropy, in place; ``sums`` are its sums over rows."""
    rows = len(y)
    highest[:rows] = f4(-np.inf)
    total[:rows] = f4(0)
    for c in range(len(scores)):
        shift = bias[c]
        for r in range(rows):
            scores[c, r] += shift
            highest[r] = max(highest[r], scores[c, r])
    for c in range(len(scores)):
        for r in range(rows):
            scores[c, r] = _exp(scores[c, r] - highest[r])
            total[r] += scores[c, r]
    for r in range(rows):
        total[r] = weight / total[r]
    for c in range(len(scores)):
        for r in range(rows):
            scores[c, r] *= total[r]
    for r in range(rows):
        scores[y[r], r] -= weight
    for c in range(len(scores)):
        class_sum = f4(0)
        for r in range(rows):
            class_sum += scores[c, r]
        sums[c] = class_sum


@_compiled
def _gather(xs: Any, order: Any, gathered: Any) -> None:
    for r in range(len(order)):
        row = order[r]
        for i in range(xs.shape[1]):
            gathered[r, i] = xs[row, i]


@_compiled
def train_many_outputs(
    xs: Any, order: Any, ys: Any, weights: Any, averages: Any, square_averages: Any, l2: Any, rule: Any
) -> None:
    """Logistic regression: the logits of all members and classes are one product, and so are the gradients."""
    (w, b), (mw, mb), (vw, vb) = weights, averages, square_averages
    batch, mean, optimiser, rate, step = rule
    members, classes, width = w.shape
    gw, gb = np.empty_like(w), np.empty_like(b)
    score_buffer, highest, total = np.empty(b.size * batch, f4), np.empty(batch, f4), np.empty(batch, f4)
    gathered = np.empty((batch, width), f4)
    for start in range(0, len(ys), batch):
        y = ys[start : start + batch]
        rows = len(y)
        x = gathered[:rows]
        _gather(xs, order[start : start + batch], x)
        weight = f4(1 / rows) if mean else f4(1)
        scores = score_buffer[: b.size * rows].reshape(b.size, rows)
        np.dot(w.reshape(b.size, width), x.T, scores)
        for k in range(members):
            _to_errors(scores[k * classes : (k + 1) * classes], b[k], y, weight, highest, total, gb[k])
        np.dot(scores, x, gw.reshape(b.size, width))
        step += 1
        _update_all(w, gw, mw, vw, l2, optimiser, rate, step)
        _update_all(b, gb, mb, vb, l2, optimiser, rate, step)


@_compiled
def _row_to_errors(z: Any, classes: Any, outputs: Any, label: Any, weight: Any) -> None:
    """Turn the logits of all members for one row into the gradient of the cross-entropy, in place."""
    for first in range(0, outputs, classes):
        highest, total = z[first], f4(0)
        for c in range(first, first + classes):
            highest = max(highest, z[c])
        for c in range(first, first + classes):
            z[c] = _exp(z[c] - highest)
            total += z[c]
        for c in range(first, first + classes):
            z[c] *= weight / total
        z[first + label] -= weight


@_compiled
def train_few_outputs(
    xs: Any, order: Any, ys: Any, weights: Any, averages: Any, square_averages: Any, l2: Any, rule: Any
) -> None:
    """Logistic regression where a BLAS spends more time on packing than on sums: four rows by two logits at a time."""
    (w, b), (mw, mb), (vw, vb) = weights, averages, square_averages
    batch, mean, optimiser, rate, step = rule
    members, classes, width = w.shape
    outputs = b.size
    flat, bias = w.reshape(outputs, width), b.reshape(-1)
    # an odd number of logits is padded with one whose gradient is 0
    gradient_rows, bias_gradients = np.empty((outputs + 1, width), f4), np.empty(outputs + 1, f4)
    z = np.zeros((4, outputs + 1), f4)
    gw, gb = (
        gradient_rows[:outputs].reshape(members, classes, width),
        bias_gradients[:outputs].reshape(members, classes),
    )
    for start in range(0, len(ys), batch):
        stop = min(start + batch, len(ys))
        weight = f4(1 / (stop - start)) if mean else f4(1)
        gradient_rows[:] = f4(0)
        bias_gradients[:] = f4(0)
        for r in range(start, stop, 4):
            # beyond the last row that row is repeated, with weight 0
            r0, r1 = order[r], order[min(r + 1, stop - 1)]
            r2, r3 = order[min(r + 2, stop - 1)], order[min(r + 3, stop - 1)]
            for j in range(0, outputs, 2):
                k = min(j + 1, outputs - 1)
                s0, s1, s2, s3, t0, t1, t2, t3 = f4(0), f4(0), f4(0), f4(0), f4(0), f4(0), f4(0), f4(0)
                for i in range(width):
                    weight_j, weight_k = flat[j, i], flat[k, i]
                    s0 += weight_j * xs[r0, i]
                    s1 += weight_j * xs[r1, i]
                    s2 += weight_j * xs[r2, i]
                    s3 += weight_j * xs[r3, i]
                    t0 += weight_k * xs[r0, i]
                    t1 += weight_k * xs[r1, i]
                    t2 += weight_k * xs[r2, i]
                    t3 += weight_k * xs[r3, i]
                z[0, j], z[1, j], z[2, j], z[3, j] = s0 + bias[j], s1 + bias[j], s2 + bias[j], s3 + bias[j]
                z[0, k], z[1, k], z[2, k], z[3, k] = t0 + bias[k], t1 + bias[k], t2 + bias[k], t3 + bias[k]
            for q in range(4):
                row_weight = weight if r + q < stop else f4(0)
                _row_to_errors(z[q], classes, outputs, ys[min(r + q, stop - 1)], row_weight)
            for j in range(0, outputs, 2):
                s0, s1, s2, s3 = z[0, j], z[1, j], z[2, j], z[3, j]
                t0, t1, t2, t3 = z[0, j + 1], z[1, j + 1], z[2, j + 1], z[3, j + 1]
                bias_gradients[j] += s0 + s1 + s2 + s3
                bias_gradients[j + 1] += t0 + t1 + t2 + t3
                for i in range(width):
                    x0, x1, x2, x3 = xs[r0, i], xs[r1, i], xs[r2, i], xs[r3, i]
                    gradient_rows[j, i] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
                    gradient_rows[j + 1, i] += t0 * x0 + t1 * x1 + t2 * x2 + t3 * x3
        step += 1
        _update_all(w, gw, mw, vw, l2, optimiser, rate, step)
        _update_all(b, gb, mb, vb, l2, optimiser, rate, step)


@_compiled
def _activate(units: Any, slopes: Any, bias: Any, dropout: Any, step_key: Any, relu: Any, after: Any) -> None:
    """Turn the inputs of units (hidden, rows) into their outputs, in place, and into the derivatives of these."""
    hidden, rows = units.shape
    threshold, keep_factor = u4(dropout * 4294967296.0), f4(1 / (1 - dropout))
    factors = np.ones(rows, f4)
    for h in range(hidden):
        if dropout > 0:
            unit_key = _mix(u4(step_key + u4(h)))
            for r in range(rows):
                factors[r] = keep_factor if _mix(u4(unit_key + u4(r))) >= threshold else f4(0)
        shift = bias[h]
        for r in range(rows):
            units[h, r] = units[h, r] + shift if after else (units[h, r] + shift) * factors[r]
        if relu:
            for r in range(rows):
                slopes[h, r] = factors[r] if units[h, r] > 0 else f4(0)
                units[h, r] = max(units[h, r], f4(0))
        else:
            for r in range(rows):
                units[h, r] = f4(1) / (f4(1) + _exp(-units[h, r]))
                slopes[h, r] = units[h, r] * (f4(1) - units[h, r]) * factors[r]
        if after:
            for r in range(rows):
                units[h, r] *= factors[r]


@_compiled
def train_hidden(
    xs: Any, order: Any, ys: Any, weights: Any, averages: Any, square_averages: Any, l2: Any, form: Any, rule: Any
) -> None:
    """One hidden layer: the first layers of all members are one product, the rest is done member by member."""
    (w, b, u, c), (mw, mb, mu, mc), (vw, vb, vu, vc) = weights, averages, square_averages
    dropout, seed, relu, after = form
    batch, mean, optimiser, rate, step = rule
    members, hidden, width = w.shape
    classes = c.shape[1]
    gw, gb, gu, gc = np.empty_like(w), np.empty_like(b), np.empty_like(u), np.empty_like(c)
    unit_buffer, slope_buffer, pull_buffer = (
        np.empty(b.size * batch, f4),
        np.empty(b.size * batch, f4),
        np.empty(hidden * batch, f4),
    )
    score_buffer, highest, total = np.empty(classes * batch, f4), np.empty(batch, f4), np.empty(batch, f4)
    gathered = np.empty((batch, width), f4)
    for start in range(0, len(ys), batch):
        y = ys[start : start + batch]
        rows = len(y)
        x = gathered[:rows]
        _gather(xs, order[start : start + batch], x)
        weight = f4(1 / rows) if mean else f4(1)
        units, slopes = (
            unit_buffer[: b.size * rows].reshape(b.size, rows),
            slope_buffer[: b.size * rows].reshape(b.size, rows),
        )
        scores, pull = (
            score_buffer[: classes * rows].reshape(classes, rows),
            pull_buffer[: hidden * rows].reshape(hidden, rows),
        )
        np.dot(w.reshape(b.size, width), x.T, units)
        step += 1
        step_key = _mix(u4(u4(seed) + u4(step)))
        for k in range(members):
            member_units, member_slopes = units[k * hidden : (k + 1) * hidden], slopes[k * hidden : (k + 1) * hidden]
            _activate(member_units, member_slopes, b[k], dropout[k], step_key, relu, after)
            np.dot(u[k], member_units, scores)
            _to_errors(scores, c[k], y, weight, highest, total, gc[k])
            np.dot(scores, member_units.T, gu[k])
            np.dot(u[k].T, scores, pull)
            for h in range(hidden):
                unit_sum = f4(0)
                for r in range(rows):
                    member_slopes[h, r] *= pull[h, r]
                    unit_sum += member_slopes[h, r]
                gb[k, h] = unit_sum
        np.dot(slopes, x, gw.reshape(b.size, width))
        _update_all(w, gw, mw, vw, l2, optimiser, rate, step)
        _update_all(b, gb, mb, vb, l2, optimiser, rate, step)
        _update_all(u, gu, mu, vu, l2, optimiser, rate, step)
        _update_all(c, gc, mc, vc, l2, optimiser, rate, step)
