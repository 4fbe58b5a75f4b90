"""Scalar mixing: from which layers a linear probe reads a property, if it may mix them (Tenney et al. 2019).

    r = gamma * sum of s_l h_l,    s = softmax(a)

a, the weights and the biases of the probe are fitted jointly, to minimise the mean cross-entropy + l2 / 2 * |W|². Two
things differ from the paper, where vectors are not standardised, gamma is free, and a network reads the mix:

- Each layer is standardised by the training rows, dimension by dimension. Without this, the weights
  reflect the norms of a layer's vectors as much as their information (Fayyaz et al. 2021).
- gamma is set so that the dimensions of r have variance 1 on average. A free gamma would make the penalty void, as only
  gamma * W counts. A mix of one layer is therefore exactly the probe ``linear`` on this layer.

For given a, the rest is convex and found by the search of ``convex``; its minimum is a smooth function of a, with a
known gradient, which L-BFGS minimises, starting from equal weights. The minimum need not be the only one. Layers with
the same information share their weight as at the start, so weights show where a property can be read, not where best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax

from sentprobe.core.resources import single_threaded
from sentprobe.errors import DataError, ShapeError, UsageError
from sentprobe.probes.convex import TOLERANCE
from sentprobe.probes.convex.data import TrainingData, expand_classes
from sentprobe.probes.convex.engine import Numpy
from sentprobe.probes.convex.preconditioner import solver
from sentprobe.probes.convex.rows import moments
from sentprobe.probes.convex.search import by_search, descend, run_searches
from sentprobe.probes.erased_probes import MAX_PASSES
from sentprobe.probes.features import Doubles, Features, Floats, Ints, check_labels
from sentprobe.probes.standardised_rows import cached_blocks

CELLS = 2**20
"""The approximate number of values that are read at a time."""
GAIN = 1e-6
"""A step in a that lowers the objective by less ends the search: the probe's own search is about as inexact."""
MAX_STEPS = 60
"""Steps after which the search gives up."""


@dataclass(frozen=True, eq=False)
class Mix:
    """A mix of layers and the probe that reads it."""

    weights: Doubles
    """s, (layers,); they sum to 1."""
    gamma: float
    l2: float
    mean: Doubles
    scale: Doubles
    """How layers are standardised, (layers, d) each; 1 for a deviation of 0."""
    probe: Doubles
    """Weights on r and bias, (classes, d + 1)."""
    steps: int
    """How many times the probe was fitted."""
    converged: bool
    """Whether the search for the weights converged."""

    @property
    def centre(self) -> float:
        """The centre of gravity, E[l] = the sum of l s_l, with layers counted from 0."""
        return float(np.arange(len(self.weights)) @ self.weights)

    def scores(self, layers: Sequence[Features]) -> Floats:
        """Log-probabilities of the classes, (n, classes)."""
        _check(layers, len(layers[0]), len(self.weights))
        scores = np.empty((len(layers[0]), len(self.probe)), np.float32)
        with single_threaded():
            for start, block in _read(layers, self.mean, self.scale):
                rows = _mixed(block, self.gamma * self.weights)
                logits = rows @ self.probe[:, :-1].T + self.probe[:, -1]
                scores[start : start + len(rows)] = log_softmax(logits, axis=1)
        return scores


def fit(layers: Sequence[Features], labels: Ints, classes: int, *, l2: float) -> Mix:
    """Fit a mix of layers, each (n, d), to labels 0 … classes - 1.

    Layers are cached in memory if they are small, and otherwise read twice for every step; the mix (n, d) always is.
    """
    _check(layers, len(labels), len(layers))
    check_labels(layers[0], labels, classes)
    counts = np.bincount(labels, minlength=classes)
    shares, numbers = counts[counts > 0] / len(labels), (np.cumsum(counts > 0) - 1)[labels]
    with single_threaded():  # with more, sums depend on how many
        stack = _Stack.of(layers)
        point = np.zeros((len(shares) if len(shares) > 2 else len(shares) - 1, layers[0].shape[1] + 1))

        def step(logits: Doubles) -> tuple[float, Doubles]:
            nonlocal point
            point = _fit_probe(stack, numbers, shares, softmax(logits), l2, point)
            return objective(stack, numbers, l2, logits, point)

        logits, steps, converged = np.zeros(len(layers)), 1, True
        if len(point):
            if len(layers) > 1:
                options = {"ftol": GAIN, "gtol": 0.0, "maxiter": MAX_STEPS}
                end = minimize(step, logits, jac=True, method="L-BFGS-B", options=options)
                logits, steps, converged = end.x, end.nfev + 1, end.nit < MAX_STEPS
            step(logits)  # the last point that was tried need not be the best
    weights = softmax(logits)
    probe = expand_classes(point, counts)
    return Mix(weights, stack.gamma(weights), l2, stack.mean, stack.scale, probe, steps, converged)


def expected_layer(scores: Sequence[float]) -> float:
    """The expected layer of a property, from scores P(0) … P(L) of mixes of the layers 0 … l.

    With differences D(l) = P(l) - P(l - 1), it is the sum of l D(l) over the sum of D(l), both from 1 on. Negative
    differences count as they are, as in the paper and its authors' code, so it may lie below 1 or above L. It is NaN if
    the last score is not above the first, as no layer then adds anything.
    """
    if len(scores) < 2:
        raise UsageError(f"An expected layer needs the scores of at least two mixes, got {len(scores)}.")
    gained = float(scores[-1]) - float(scores[0])
    if not gained > 0:
        return float("nan")
    return float(np.arange(1, len(scores)) @ np.diff(np.asarray(scores, np.float64))) / gained


@dataclass(frozen=True, eq=False)
class _Stack:
    """The layers of the training rows."""

    blocks: Callable[[], Iterable[tuple[int, Floats]]]
    """(first row, standardised rows (layers, m, d)), from top to bottom."""
    rows: int
    mean: Doubles
    scale: Doubles
    overlap: Doubles
    """Correlations of the layers (layers, layers), averaged over the dimensions."""

    @classmethod
    def of(cls, layers: Sequence[Features]) -> _Stack:
        """Read the layers once for means and deviations, and once for correlations."""
        n, d = layers[0].shape
        by_layer = [moments(layer, max(64, CELLS // d)) for layer in layers]
        mean, scale = (np.stack(part) for part in zip(*by_layer, strict=True))
        blocks = cached_blocks(lambda: _read(layers, mean, scale), 4 * len(layers) * n * d)
        overlap = np.zeros((len(layers), len(layers)))
        for _, block in blocks():
            flat = block.reshape(len(layers), -1)
            overlap += flat @ flat.T
        if not overlap.any():
            raise DataError(f"None of the {len(layers)} layers varies; a mix needs vectors that differ.")
        return cls(blocks, n, mean, scale, overlap / (n * d))

    def gamma(self, weights: Doubles) -> float:
        """The factor that gives a mix with weights (layers,) variance 1, averaged over the dimensions."""
        return 1 / math.sqrt(float(weights @ self.overlap @ weights))


def objective(stack: _Stack, numbers: Ints, l2: float, logits: Doubles, point: Doubles) -> tuple[float, Doubles]:
    """The objective at logits a (layers,) and weights and biases (outputs, d + 1), and its gradient with respect to a.

    ``numbers`` (n,) are the indices of the rows' classes among those that have rows. At the best point for a, this is
    also the gradient of the minimum, as the point's own gradient is 0 there.
    """
    weights = softmax(logits)
    gamma, probe = stack.gamma(weights), point[:, :-1].astype(np.float32)
    loss, pulls = 0.0, np.zeros(len(weights))
    for start, block in stack.blocks():
        layer_logits = (block.reshape(-1, block.shape[2]) @ probe.T).reshape(*block.shape[:2], -1)
        at = numbers[start : start + block.shape[1]]
        lost, errors = _loss(gamma * np.tensordot(weights, layer_logits, axes=1) + point[:, -1], at)
        loss += lost
        pulls += np.einsum("lmo,mo->l", layer_logits, errors)
    pulls /= stack.rows
    # gamma = (s C s)^-½ depends on the weights too, and its gradient is -gamma³ C s
    slopes = gamma * pulls - gamma**3 * (weights @ pulls) * (stack.overlap @ weights)
    value = loss / stack.rows + 0.5 * l2 * float(np.vdot(point[:, :-1], point[:, :-1]))
    return value, weights * (slopes - weights @ slopes)


def _fit_probe(stack: _Stack, numbers: Ints, shares: Doubles, weights: Doubles, l2: float, point: Doubles) -> Doubles:
    """The best probe (outputs, d + 1) on a mix with these weights, starting from another one."""
    n, d = stack.rows, stack.mean.shape[1]
    mixed = np.empty((n, d), np.float32)
    for start, block in stack.blocks():
        mixed[start : start + block.shape[1]] = _mixed(block, stack.gamma(weights) * weights)
    size = max(64, CELLS // d)
    blocks = [(mixed[i : i + size], numbers[i : i + size]) for i in range(0, n, size)]
    penalty = np.full(d, l2)
    solve = solver(mixed.T @ mixed / np.float32(n), (shares * (1 - shares))[: len(point)], penalty)
    tolerance = -TOLERANCE * float(shares @ np.log(shares))
    # the layers are standardised, and the probe reads their mix as it is
    data = TrainingData(Features.of(mixed), shares, np.zeros(d), np.ones(d), Numpy(), lambda: blocks, far=True)
    (value,) = data.values([point])
    search = descend(point, value, np.append(penalty, 0.0), solve, tolerance=tolerance, limit=MAX_PASSES)
    return run_searches({0: search}, by_search(data.values))[0].point


def _loss(logits: Doubles, numbers: Ints) -> tuple[float, Doubles]:
    """The summed cross-entropy of rows (m, outputs), and its gradient to the logits."""
    if logits.shape[1] == 1:
        losses = np.logaddexp(0, np.where(numbers == 1, -1, 1) * logits[:, 0])
        return float(losses.sum()), expit(logits) - numbers[:, None]
    at = np.arange(len(numbers))
    logs = log_softmax(logits, axis=1)
    errors = np.exp(logs)
    errors[at, numbers] -= 1
    return -float(logs[at, numbers].sum()), errors


def _mixed(block: Floats, weights: Doubles) -> Floats:
    """The sum (m, d) of layers (layers, m, d) by their weights."""
    return np.tensordot(weights.astype(np.float32), block, axes=1)


def _read(layers: Sequence[Features], mean: Doubles, scale: Doubles) -> Iterator[tuple[int, Floats]]:
    """(first row, standardised rows (layers, m, d))."""
    n, d = layers[0].shape
    size = max(16, CELLS // (len(layers) * d))
    for start in range(0, n, size):
        rows = [layer.take(slice(start, start + size)) for layer in layers]
        yield start, np.stack([(r - m) / s for r, m, s in zip(rows, mean, scale, strict=True)]).astype(np.float32)


def _check(layers: Sequence[Features], rows: int, count: int) -> None:
    shapes = [layer.shape for layer in layers]
    if not shapes or len(shapes) != count or not rows or any(shape != (rows, shapes[0][1]) for shape in shapes):
        raise ShapeError(f"A mix needs {count} layers of {rows} rows and the same dimension, got {shapes}.")
