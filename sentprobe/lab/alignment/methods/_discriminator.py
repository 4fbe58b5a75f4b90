"""A multilayer perceptron that tells the mapped words of one side from the words of the other, with its gradients.

Everything is float32 and in place: a step allocates nothing large, subtracts the gradients of weights in the product
that computes them, and computes no gradient that it does not need. What a step costs is its products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import sgemm

from sentprobe.lab.alignment.space import Matrix

SLOPE = np.float32(0.2)
"""Of the leaky ReLU."""
Vector = NDArray[np.float32]


class Discriminator:
    """Hidden layers with leaky ReLUs and one logit: that a word is of the source side.

    ``logits`` comes first; ``differentiate`` is about the rows it was given; the others use what that found.
    """

    def __init__(self, sizes: tuple[int, ...], batch: int, dropout: tuple[float, float] = (0.0, 0.0)) -> None:
        """``sizes``: of the input and of each hidden layer; ``dropout``: of the input and of hidden layers."""
        outputs = (*sizes[1:], 1)
        self.weights: list[Matrix] = [np.zeros(shape, np.float32) for shape in zip(sizes, outputs, strict=True)]
        self.biases: list[Vector] = [np.zeros(size, np.float32) for size in outputs]
        self._dropout = (dropout[0], *[dropout[1]] * (len(sizes) - 1))
        buffers = [np.zeros((batch, size), np.float32) for size in (*sizes, 1)]
        self._inputs, self._output = buffers[:-1], buffers[-1]
        self._factors = [np.ones_like(values) for values in self._inputs]
        """What the inputs of each layer were multiplied by: slopes and dropout masks."""
        self._derivatives = [np.ones_like(values) for values in buffers]
        """Of the logit, by the inputs of each layer before these factors; the last is by itself: 1."""
        self._mask = np.zeros(batch * max(sizes), np.float32)

    def initialise(self, rng: np.random.Generator) -> None:
        """Uniform weights and biases within 1 / √inputs, as the linear layers of torch have them."""
        for weight, bias in zip(self.weights, self.biases, strict=True):
            bound = 1 / np.sqrt(len(weight))
            weight[:] = rng.uniform(-bound, bound, weight.shape)
            bias[:] = rng.uniform(-bound, bound, bias.shape)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """All parameters by name, not copied."""
        weights = {f"weight_{at}": value for at, value in enumerate(self.weights)}
        return weights | {f"bias_{at}": value for at, value in enumerate(self.biases)}

    def logits(self, rows: Matrix, rng: np.random.Generator | None = None) -> Vector:
        """Of rows (n, d), n at most the batch, their logits (n,); with dropout if there are random numbers for it."""
        n = len(rows)
        self._inputs[0][:n] = rows
        self._factors[0][:n] = 1
        for at, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            inputs, factors = self._inputs[at][:n], self._factors[at][:n]
            if at:
                np.greater(inputs, 0, out=factors)
                factors *= 1 - SLOPE
                factors += SLOPE
            if rng is not None and self._dropout[at]:
                factors *= self._dropout_mask(at, n, rng)
            inputs *= factors
            outputs = (self._inputs[at + 1] if at + 1 < len(self._inputs) else self._output)[:n]
            np.matmul(inputs, weight, out=outputs)
            outputs += bias
        return self._output[:n, 0]

    def _dropout_mask(self, at: int, n: int, rng: np.random.Generator) -> Matrix:
        """A mask of the inputs of a layer: 0, or as much as keeps the mean."""
        p, size = self._dropout[at], self._inputs[at].shape[1]
        mask = self._mask[: n * size].reshape(n, size)
        rng.random(out=mask, dtype=np.float32)
        np.greater_equal(mask, np.float32(p), out=mask)
        mask *= np.float32(1 / (1 - p))
        return mask

    def differentiate(self, n: int) -> None:
        """The derivatives of the first n logits by the inputs of every layer but the first."""
        for at in reversed(range(1, len(self.weights))):
            self._differentiate(at, n)

    def _differentiate(self, at: int, n: int) -> Matrix:
        derivatives = self._derivatives[at][:n]
        np.matmul(self._derivatives[at + 1][:n], self.weights[at].T, out=derivatives)
        derivatives *= self._factors[at][:n]
        return derivatives

    def by_input(self, n: int) -> Matrix:
        """The derivatives (n, d) of the first n logits by the rows that were given."""
        return self._differentiate(0, n)

    def descend(self, errors: Vector, rate: float) -> None:
        """A step of SGD for a loss with derivatives ``errors`` (n,) by logit."""
        n, step = len(errors), -np.float32(rate) * errors[:, None]
        for inputs, derivatives, weight, bias in zip(
            self._inputs, self._derivatives[1:], self.weights, self.biases, strict=True
        ):
            change = derivatives[:n]
            change *= step
            # weight += inputsᵀ change, in one pass over the weights; Fortran's view of them is transposed
            sgemm(1.0, change.T, inputs[:n].T, 1.0, weight.T, trans_b=True, overwrite_c=True)
            bias += change.sum(0)
        self._derivatives[-1][:n] = 1

    def clip(self, bound: float) -> None:
        """Keep all parameters within ± ``bound``."""
        for value in self.arrays().values():
            np.clip(value, -bound, bound, out=value)


def cross_entropy(logits: Vector, targets: Vector) -> tuple[float, Vector]:
    """The mean binary cross-entropy of logits (n,) to targets in [0, 1], and its derivatives (n,)."""
    doubles = logits.astype(np.float64)
    loss = np.mean(np.logaddexp(0, doubles) - targets * doubles)
    errors = (1 / (1 + np.exp(-np.clip(doubles, -500, 500))) - targets) / len(doubles)
    return float(loss), errors.astype(np.float32)
