"""An approximate inverse of the Hessian of logistic regression, from the correlations in a sample of rows.

The Hessian is about curvature * R + penalty, with the correlations R of the dimensions. They are estimated from a
sample of rows and shrunk towards the identity as far as the sample is small (Ledoit & Wolf, 2004). With at least as
many rows as dimensions the matrix is factored; with fewer, its inverse follows from the products of the rows (the
Woodbury identity), so that no (d, d) matrix is needed. The more rows, the fewer steps a search takes; ``sample_size``
balances the two. A preconditioner changes no optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from sentprobe.probes.convex.search import Solve
from sentprobe.probes.features import Doubles, Floats

RATE = 1e11
"""Multiplications and additions of float32 per second, in large matrix products on one thread; only ratios matter."""
NARROW = 16
"""Columns with which a matrix product has half that rate."""
FACTOR_RATE = 2e10
"""Dimensions³ per second of a Cholesky factor and its inverse."""
FEW_OUTPUTS = 64
"""Outputs up to which an inverse is made of the factor: it costs twice as much, and saves more in the steps."""
MIN_SAMPLE = 64
MAX_SAMPLE_BYTES = 2**28
"""The size of the largest sample, or (d, d) matrix."""


class Preconditioner(Protocol):
    """What makes a search short."""

    def solver(self, curvature: Doubles, penalty: Doubles) -> Solve:
        """Multiply by the approximate inverse Hessian; ``curvature`` (outputs,), ``penalty`` (d,)."""
        ...


@dataclass(frozen=True, eq=False)
class Correlations:
    """The correlations of all dimensions, (d, d); None if they are taken to be uncorrelated."""

    matrix: Floats | None

    @classmethod
    def of(cls, products: Floats, fourth: float, rows: int, n: int) -> Correlations:
        """From the products (d, d) of some of n standardised rows, and the sum of their lengths to the fourth power."""
        d = len(products)
        squares = float(np.vdot(products, products)) / rows**2
        shrinkage = _shrinkage(squares, float(np.trace(products)) / rows, fourth, rows, d) * (1 - rows / n)
        products *= np.float32((1 - shrinkage) / rows)
        products[np.diag_indices(d)] += np.float32(shrinkage)
        return cls(products)

    def solver(self, curvature: Doubles, penalty: Doubles) -> Solve:
        """Multiply by the approximate inverse Hessian."""
        cached_inverse = None
        if self.matrix is not None and len(curvature) <= FEW_OUTPUTS:
            cached_inverse = inverse(self.matrix, float(curvature.mean()), penalty)
        return solver(self.matrix, curvature, penalty, cached_inverse)


@dataclass(frozen=True, eq=False)
class RowSample:
    """Fewer standardised rows than dimensions, (m, d), with their products (m, m)."""

    rows: Floats
    products: Floats
    shrinkage: float

    @classmethod
    def of(cls, rows: Floats, n: int) -> RowSample:
        """From some of n standardised rows, (m, d)."""
        m, d = rows.shape
        products: Floats = rows @ rows.T
        lengths = np.diag(products).astype(np.float64)
        squares, trace = float(np.vdot(products, products)) / m**2, float(lengths.sum()) / m
        return cls(rows, products, _shrinkage(squares, trace, float(lengths @ lengths), m, d) * (1 - m / n))

    def solver(self, curvature: Doubles, penalty: Doubles) -> Solve:
        """Multiply by the approximate inverse Hessian, by the Woodbury identity."""
        mean = float(curvature.mean())
        # bounded both ways, so that neither it nor its inverse leaves the range of float32
        base = np.minimum(mean * max(self.shrinkage, 1e-3) + penalty, 1e30).astype(np.float32)
        weight = np.full(len(self.rows), 1 / max(mean * (1 - self.shrinkage) / len(self.rows), 1e-30))
        if (base == base[0]).all():
            inner = inverse(self.products, 1 / float(base[0]), weight)
        else:
            products: Floats = (self.rows / base).astype(np.float32) @ self.rows.T
            inner = inverse(products, 1.0, weight)

        def multiply(rows: Floats) -> Floats:
            scaled = rows / base
            product: Floats = (scaled - (((scaled @ self.rows.T) @ inner) @ self.rows) / base).astype(np.float32)
            return product

        return for_outputs(multiply, curvature, penalty)


def sample_size(n: int, d: int, columns: int, penalties: int) -> int:
    """How many of n rows to sample: what costs least in all, with the passes that a sample of this size leaves.

    ``columns`` are the outputs of a search, and one preconditioner is made for each of the penalties.
    """
    largest = MAX_SAMPLE_BYTES // (4 * d)
    sizes = [m for m in (MIN_SAMPLE << i for i in range(24)) if m < n and (m <= largest or d <= largest)]
    fits = n <= largest or d <= largest or not sizes
    return min([*sizes, n] if fits else sizes, key=lambda m: _cost(n, d, columns, penalties, m))


def _cost(n: int, d: int, columns: int, penalties: int, m: int) -> float:
    """Seconds, roughly: the products of the sample, its factors, and the passes with their steps.

    The passes that a sample of m rows leaves were counted on correlated Gaussian vectors, 10,000 x 300 … 2048.
    """
    narrow = min(m, d)
    passes: float = 22 * (1 + 0.65 * (d / m) ** 0.6)
    rate = RATE * columns / (columns + NARROW)
    step = 4 * n * d * columns / rate + 4 * narrow * d * columns / rate
    return m * d * narrow / RATE + penalties * narrow**3 / FACTOR_RATE + passes * step


def _shrinkage(squares: float, trace: float, fourth: float, rows: int, d: int) -> float:
    """How far to shrink towards the identity, 0 … 1, by Ledoit & Wolf.

    ``squares`` is the sum of the squared entries of the estimate, ``fourth`` that of the rows' lengths to the fourth.
    """
    apart = squares - trace**2 / d
    noise: float = (fourth - rows * squares) / rows**2
    share = noise / apart if apart > 0 else 1.0
    return min(1.0, max(0.0, share))


def solver(
    correlations: Floats | None, curvature: Doubles, penalty: Doubles, cached_inverse: Floats | None = None
) -> Solve:
    """Multiply by the inverse of the approximate Hessian, for each output curvature * correlations + penalty (d,).

    Without correlations the dimensions are taken to be uncorrelated. ``cached_inverse`` is a result of ``inverse``, for
    about the mean curvature.
    """
    mean = float(curvature.mean())
    factor = None if correlations is None or cached_inverse is not None else _factor(correlations, mean, penalty)

    def multiply(rows: Floats) -> Floats:
        product: Floats
        if cached_inverse is not None:
            product = rows @ cached_inverse
        elif factor is None:
            product = np.divide(rows, mean + penalty, out=np.empty_like(rows), casting="same_kind")
        else:
            product = linalg.cho_solve((factor, True), rows.T, check_finite=False).T
        return product

    return for_outputs(multiply, curvature, penalty)


def for_outputs(multiply: Solve, curvature: Doubles, penalty: Doubles) -> Solve:
    """One inverse for all outputs: computed for their mean curvature, and rescaled to each output's own.

    ``multiply`` multiplies weights (outputs, d) by it; points (outputs, d + 1) have a bias as well.
    """
    mean, typical = float(curvature.mean()), float(np.median(penalty))
    sizes = ((mean + typical) / (curvature + typical)).astype(np.float32)[:, None]

    def solve(rows: Floats) -> Floats:
        product = np.empty_like(rows)
        product[:, :-1] = multiply(rows[:, :-1])
        product[:, :-1] *= sizes
        product[:, -1] = rows[:, -1] / curvature
        if len(product) > 1:  # what all outputs share changes no probability
            product -= product.mean(axis=0)
        return product

    return solve


def inverse(correlations: Floats, curvature: float, penalty: Doubles) -> Floats:
    """The inverse of curvature * correlations + penalty, (d, d): three times the cost of a factor, a tenth per use."""
    lower = linalg.lapack.spotri(_factor(correlations, curvature, penalty), lower=1, overwrite_c=1)[0]
    symmetric: Floats = np.tril(lower) + np.tril(lower, -1).T
    return symmetric


def _factor(correlations: Floats, curvature: float, penalty: Doubles) -> Floats:
    """The Cholesky factor of curvature * correlations + penalty, (d, d)."""
    ridge = 1e-6 * curvature
    while np.isfinite(ridge):
        matrix = np.float32(curvature) * correlations
        matrix[np.diag_indices_from(matrix)] += np.minimum(penalty + ridge, 1e30).astype(np.float32)
        try:
            # the matrix is its own transpose, which LAPACK can overwrite
            factor: Floats = linalg.cholesky(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:  # linearly dependent dimensions
            ridge *= 10
        else:
            return factor
    raise linalg.LinAlgError("the matrix is not positive definite, whatever is added to its diagonal")
