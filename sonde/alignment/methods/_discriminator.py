"""A multilayer perceptron that tells the mapped words of one side from the words of the other, with its gradients.

Everything is float32 and in place: a step allocates nothing large, adds weight gradients to the weights in the product
that computes them, and computes only the gradients that it needs. Steps of SGD cost little more than their products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import sgemm

from sonde.alignment.space import Matrix

SLOPE = np.float32(0.2)
"""Of the leaky ReLU."""
Vector = NDArray[np.float32]


class Discriminator:
    """Hidden layers with leaky ReLUs and one logit: that the word is one of the source side."""

    def __init__(self, sizes: tuple[int, ...], batch: int, dropout: tuple[float, float] = (0.0, 0.0)) -> None:
        """``sizes``: of the input and of each hidden layer; ``dropout``: of the input and of hidden layers."""
        outputs = (*sizes[1:], 1)
        self.weights: list[Matrix] = [np.zeros(shape, np.float32) for shape in zip(sizes, outputs, strict=True)]
        self.biases: list[Vector] = [np.zeros(size, np.float32) for size in outputs]
        self._dropout = (dropout[0], *[dropout[1]] * (len(sizes) - 1))
        self._activations: list[Matrix] = [np.zeros((batch, size), np.float32) for size in (*sizes, 1)]
        self._gradients = [np.zeros_like(a) for a in self._activations]
        self._slopes = [np.zeros_like(a) for a in self._activations[:-1]]
        self._masks = [np.zeros_like(a) if p else a for a, p in zip(self._activations, self._dropout, strict=False)]

    def initialise(self, rng: np.random.Generator) -> None:
        """Uniform weights and biases within 1 / √inputs, as linear layers of torch have them."""
        for weight, bias in zip(self.weights, self.biases, strict=True):
            bound = 1 / np.sqrt(len(weight))
            weight[:] = rng.uniform(-bound, bound, weight.shape)
            bias[:] = rng.uniform(-bound, bound, bias.shape)

    def arrays(self) -> dict[str, Matrix]:
        """All parameters by name, not copied."""
        weights = {f"weight-{at}": value for at, value in enumerate(self.weights)}
        return weights | {f"bias-{at}": value for at, value in enumerate(self.biases)}

    def logits(self, rows: Matrix, rng: np.random.Generator | None = None) -> Vector:
        """Of rows (n, d), n at most the batch, their logits (n,); with dropout if there are random numbers for it."""
        n = len(rows)
        self._activations[0][:n] = rows
        for at, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            inputs, found = self._activations[at][:n], self._activations[at + 1][:n]
            if at:
                slopes = self._slopes[at][:n]
                np.greater(inputs, 0, out=slopes)
                slopes *= 1 - SLOPE
                slopes += SLOPE
                inputs *= slopes
            if rng is not None and self._dropout[at]:
                self._drop(at, n, rng)
            np.matmul(inputs, weight, out=found)
            found += bias
        return self._activations[-1][:n, 0]

    def _drop(self, at: int, n: int, rng: np.random.Generator) -> None:
        p, mask = self._dropout[at], self._masks[at][:n]
        rng.random(out=mask, dtype=np.float32)
        np.greater_equal(mask, np.float32(p), out=mask)
        mask *= np.float32(1 / (1 - p))
        self._activations[at][:n] *= mask
        if at:
            self._slopes[at][:n] *= mask

    def input_gradient(self, errors: Vector) -> Matrix:
        """After ``logits`` without dropout: the gradient (n, d) of a loss with derivatives ``errors`` (n,) by logit."""
        n = len(errors)
        self._gradients[-1][:n, 0] = errors
        for at in reversed(range(len(self.weights))):
            self._propagate(at, n)
        return self._gradients[0][:n]

    def descend(self, errors: Vector, rate: float) -> None:
        """After ``logits``: a step of SGD for a loss with derivatives ``errors`` (n,) by logit."""
        n = len(errors)
        self._gradients[-1][:n, 0] = errors
        for at in reversed(range(len(self.weights))):
            if at:
                self._propagate(at, n)
            gradient, inputs, weight = self._gradients[at + 1][:n], self._activations[at][:n], self.weights[at]
            # weight -= rate · inputsᵀ gradient, in one pass over the weights; Fortran's view of them is transposed
            sgemm(-rate, gradient.T, inputs.T, 1.0, weight.T, trans_b=True, overwrite_c=True)
            self.biases[at] -= np.float32(rate) * gradient.sum(0)

    def _propagate(self, at: int, n: int) -> None:
        """The gradient by the inputs of a layer from that by its outputs."""
        found = self._gradients[at][:n]
        np.matmul(self._gradients[at + 1][:n], self.weights[at].T, out=found)
        if at:
            found *= self._slopes[at][:n]

    def clip(self, bound: float) -> None:
        """Keep all parameters within ± ``bound``."""
        for value in self.arrays().values():
            np.clip(value, -bound, bound, out=value)


def cross_entropy(logits: Vector, targets: Vector) -> tuple[float, Vector]:
    """The mean binary cross-entropy of logits (n,) to targets in [0, 1], and its derivatives (n,)."""
    logits = logits.astype(np.float64)
    loss = np.mean(np.logaddexp(0, logits) - targets * logits)
    errors = (1 / (1 + np.exp(-np.clip(logits, -500, 500))) - targets) / len(logits)
    return float(loss), errors.astype(np.float32)
