"""The arithmetic of logistic regression on a block of rows: in numpy, on sparse rows, or in torch on any device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sentprobe.probes.convex.rows import BLOCK_LOGITS
from sentprobe.probes.features import Array, Doubles, Floats, Ints

if TYPE_CHECKING:
    from scipy import sparse

SMALL_PRODUCT, SMALL_RESULT, MIN_ROWS, FAST_COLUMNS = 10**6, 1200, 32, 4
"""Multiplications up to which OpenBLAS has kernels for small products, two to five times as fast for few columns; the
values up to which it uses them for a product with transposed rows; the rows from which that is worth the calls; and the
columns below which they are no faster."""
MANY_OUTPUTS = 256
"""Outputs of a model from which they are many."""


class LogisticEngine(Protocol):
    """What does the arithmetic. Arrays of its own kind are Any."""

    @property
    def cells(self) -> int:
        """The approximate number of values in a block."""
        ...

    def hold(self, array: Array) -> Any:
        """The array as this engine computes with it."""
        ...

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        ...

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Summed over rows (m, d): losses (models,), gradients of weights (models * outputs, d) and of the bias.

        A single output is the logit of label 1 against label 0; otherwise there is one per label.
        """
        ...


@dataclass(frozen=True)
class Numpy:
    """numpy, on as many threads as its BLAS is set to use."""

    cells: int = 2**20

    def hold(self, array: Array) -> Any:
        """The array itself."""
        return array

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        products: Floats = rows.T @ rows
        return products

    def logits(self, rows: Any, weights: Any, bias: Any) -> Floats:
        """Of rows (m, d) by weights (outputs, d): (outputs, m)."""
        logits = _times(weights, rows)
        logits += bias[:, None]
        return logits

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients; logits are (models * outputs, m), so that no sum runs over a short last axis.

        With many outputs that axis is long, and the logits stay as the product gives them, (m, models * outputs).
        """
        if len(weights) >= MANY_OUTPUTS * models:
            errors = rows @ weights.T
            errors += bias
            summed = _multinomial(errors, labels, models)
            return summed, errors.T @ rows, errors.sum(axis=0, dtype=np.float64)
        errors = self.logits(rows, weights, bias)
        if len(weights) == models:
            signs = np.where(labels == 1, np.float32(1), np.float32(-1))
            errors *= signs
            small = np.exp(-np.abs(errors))
            losses = np.log1p(small) - np.minimum(errors, 0)
            errors = np.where(errors > 0, small, np.float32(1)) / (1 + small) * -signs
        else:
            shares, columns = errors.reshape(models, -1, len(labels)), np.arange(len(labels))
            shares -= shares.max(axis=1, keepdims=True)
            losses = -shares[:, labels, columns]
            np.exp(shares, out=shares)
            sums = shares.sum(axis=1)
            losses += np.log(sums)
            shares /= sums[:, None]
            shares[:, labels, columns] -= 1
        return losses.sum(axis=1, dtype=np.float64), _sum_times(errors, rows), errors.sum(axis=1, dtype=np.float64)


@dataclass(frozen=True)
class Sparse:
    """scipy's sparse arrays, such as bags of words: only what is not 0 is read.

    Means and deviations are folded into the weights, so rows stay sparse and the optimum is that of standardised ones.
    No correlations are used: those of words are weak, and their matrix (d, d) would take longer than all reads
    together. Rows and labels are lists of blocks, so that gradients are transposed once.
    """

    cells: int = BLOCK_LOGITS

    def hold(self, array: Array) -> Any:
        """The array itself, but weights (outputs, d) as (d, outputs), since scipy multiplies by whole rows."""
        return np.ascontiguousarray(array.T) if array.ndim == 2 else array

    def products(self, rows: Sequence[sparse.csr_array]) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        products: Floats = sum(block.T @ block for block in rows).toarray()
        return products

    def gradients(
        self, rows: Sequence[sparse.csr_array], labels: Sequence[Ints], weights: Floats, bias: Floats, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients, as those of dense rows; weights are (d, models * outputs)."""
        losses, slope, bias_slope = np.zeros(models), np.zeros_like(weights), np.zeros(len(bias))
        for block, block_labels in zip(rows, labels, strict=True):
            errors = block @ weights
            errors += bias
            losses += (_binary if len(bias) == models else _multinomial)(errors, block_labels, models)
            slope += block.T @ errors
            bias_slope += errors.sum(axis=0, dtype=np.float64)
        return losses, slope.T, bias_slope


@dataclass(frozen=True)
class TorchLogistic:
    """torch, and where it computes. Sums leave the device in float32, since not every device has float64."""

    torch: Any
    device: Any
    cells: int = 2**23

    def hold(self, array: Array) -> Any:
        """The array as a tensor on the device."""
        return self.torch.tensor(array, device=self.device)

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d)."""
        products: Floats = (rows.T @ rows).cpu().numpy()
        return products

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients, as in ``Numpy``."""
        torch = self.torch
        logits = weights @ rows.T + bias[:, None]
        if len(weights) == models:
            signs = 2.0 * labels - 1.0
            losses = torch.nn.functional.softplus(-logits * signs)
            errors = -signs * torch.sigmoid(-logits * signs)
        else:
            logs = logits.view(models, -1, len(labels)).log_softmax(dim=1)
            right = labels.expand(models, 1, -1)
            losses = -logs.gather(1, right)[:, 0]
            errors = logs.exp_().scatter_add_(1, right, torch.full_like(losses, -1.0)[:, None]).view_as(logits)
        sums = (losses.sum(dim=1), errors @ rows, errors.sum(dim=1))
        summed, gradients, bias_slopes = (tensor.cpu().numpy() for tensor in sums)
        return summed.astype(np.float64), gradients, bias_slopes.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Weighted:
    """Another engine, with a weight for the rows of each class: what it returns is a sum over classes."""

    inner: LogisticEngine
    class_weights: Doubles
    """Of the classes that have rows, (classes,); their mean over all rows is 1."""

    @property
    def cells(self) -> int:
        """The approximate number of values in a block."""
        return self.inner.cells

    def hold(self, array: Array) -> Any:
        """The array as the other engine computes with it."""
        return self.inner.hold(array)

    def products(self, rows: Any) -> Floats:
        """The products (d, d) of the columns of rows (m, d), each of which counts the same."""
        return self.inner.products(rows)

    def gradients(
        self, rows: Any, labels: Any, weights: Any, bias: Any, models: int
    ) -> tuple[Doubles, Floats, Doubles]:
        """Losses and gradients, as those of the other engine on the rows of each class, times its weight."""
        losses, bias_slopes = np.zeros(models), np.zeros(len(bias))
        slopes: Any = np.float32(0)  # until the first
        for label, weight in enumerate(self.class_weights.tolist()):
            if isinstance(self.inner, Sparse):  # whose rows are a list of blocks
                members = [block[numbers == label] for block, numbers in zip(rows, labels, strict=True)]
                targets = [numbers[numbers == label] for numbers in labels]
            else:
                members, targets = rows[labels == label], labels[labels == label]
            loss, slope, bias_slope = self.inner.gradients(members, targets, weights, bias, models)
            losses += weight * loss
            slopes = slopes + np.float32(weight) * slope
            bias_slopes += weight * bias_slope
        return losses, slopes, bias_slopes


def balanced(engine: LogisticEngine, counts: Ints) -> Weighted:
    """The engine with classes that count the same, however many rows (classes,) they have: n / (classes · rows)."""
    present = counts[counts > 0].astype(np.float64)
    return Weighted(engine, present.sum() / (len(present) * present))


def is_numpy(engine: LogisticEngine) -> bool:
    """Whether an engine computes in numpy on dense rows, with weights or without."""
    return isinstance(engine.inner if isinstance(engine, Weighted) else engine, Numpy)


def is_sparse(engine: LogisticEngine) -> bool:
    """Whether an engine computes on sparse rows, with weights or without."""
    return isinstance(engine.inner if isinstance(engine, Weighted) else engine, Sparse)


def engine_of(device: str | None) -> LogisticEngine:
    """numpy, or torch on a device."""
    if device is None:
        return Numpy()
    from sentprobe.probes.network.steps_torch import torch_engine

    network_engine = torch_engine(device)
    return TorchLogistic(network_engine.torch, network_engine.device)


def _multinomial(logits: Floats, labels: Ints, models: int) -> Doubles:
    """Losses (models,) of logits (m, models * classes), which become their derivatives."""
    shares, rows = logits.reshape(len(labels), models, -1), np.arange(len(labels))
    shares -= shares.max(axis=2, keepdims=True)
    losses = -shares[rows, :, labels]
    np.exp(shares, out=shares)
    sums = shares.sum(axis=2)
    losses += np.log(sums)
    shares /= sums[:, :, None]
    shares[rows, :, labels] -= 1
    summed: Doubles = losses.sum(axis=0, dtype=np.float64)
    return summed


def _binary(logits: Floats, labels: Ints, models: int) -> Doubles:
    """Losses (models,) of logits (m, models) of label 1, which become their derivatives."""
    signs = np.where(labels == 1, np.float32(1), np.float32(-1))[:, None]
    logits *= signs
    small = np.exp(-np.abs(logits))
    losses = np.log1p(small) - np.minimum(logits, 0)
    logits[:] = np.where(logits > 0, small, np.float32(1)) / (1 + small) * -signs
    summed: Doubles = losses.sum(axis=0, dtype=np.float64)
    return summed


def _times(weights: Floats, rows: Floats) -> Floats:
    """The product (outputs, m) of weights (outputs, d) and rows (m, d)."""
    if 1 < len(weights) < FAST_COLUMNS:
        padded = np.zeros((FAST_COLUMNS, rows.shape[1]), np.float32)
        padded[: len(weights)] = weights
        return _times(padded, rows)[: len(weights)]
    size = min(_few_rows(weights, rows), SMALL_RESULT // len(weights))
    if len(weights) == 1 or size < MIN_ROWS:
        return np.ascontiguousarray((rows @ weights.T).T)
    product = np.empty((len(weights), len(rows)), np.float32)
    for start in range(0, len(rows), size):
        product[:, start : start + size] = weights @ rows[start : start + size].T
    return product


def _sum_times(errors: Floats, rows: Floats) -> Floats:
    """The product (outputs, d) of errors (outputs, m) and rows (m, d)."""
    size = _few_rows(errors, rows)
    if len(errors) == 1 or not MIN_ROWS <= size < len(rows):
        return errors @ rows
    product = np.zeros((len(errors), rows.shape[1]), np.float32)
    for start in range(0, len(rows), size):
        product += errors[:, start : start + size] @ rows[start : start + size]
    return product


def _few_rows(columns: Floats, rows: Floats) -> int:
    """How many rows at a time make small products."""
    return SMALL_PRODUCT // (len(columns) * int(rows.shape[1]))
