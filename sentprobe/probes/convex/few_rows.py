"""Logistic regression on few rows: no more than twice as many as dimensions.

The optimal weights are a sum of the (standardised, centred) rows. So nothing is lost if n rows in more dimensions are
described by n coordinates with the same products: the triangular factor of their (n, n) Gram matrix. The loss, the
penalty and thus the optimum are the same, and a read costs n² instead of n · d.

With so few rows a weak penalty lets the probe separate the classes, and the Hessian at the optimum is nothing like that
at the start: most rows have hardly any curvature left. A search that is preconditioned by the correlations then stops
far from the optimum, or fails. So where the loss is ``SEPARATED``, the search goes on in these coordinates, with a
preconditioner that is made again at the point that was reached, with each row's own curvature; with two classes it is
then the exact Hessian, and what a search predicts to be left is what is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from sentprobe.probes.convex.rows import standardised
from sentprobe.probes.convex.search import End, Search, Solve, Value, descend
from sentprobe.probes.features import Array, Doubles, Features, Floats

MAX_ROWS, ROWS_PER_DIMENSION = 2048, 2
"""Rows up to which this is done, as a matrix of that size is factored for each penalty; and rows per dimension: with
more, classes are rarely separated, and the correlations are enough."""
SEPARATED = 0.05
"""The share of the entropy of the classes below which a loss is that of classes which are nearly separated."""
RIDGE = 1e-10
"""Added to the diagonal of the Gram matrix, as a share of its mean: centred rows are linearly dependent. It changes
logits by less than 1e-5 at the weakest penalty of the probe ``linear``."""
BLOCK = 2**22
"""Values of the rows that are float64 at a time."""
REWEIGHT_AFTER, REWEIGHT_SHARED_AFTER = 12, 40
"""Reads after which the preconditioner is made again, and the search forgets its steps; the second if outputs share it,
as it is then never exact. Fewer make more factors than reads; with more, most are wasted on a preconditioner that does
not suit the point any more."""
MAX_FALL = 1000.0
"""Tolerances are shares of the entropy of the classes. With a weak penalty the objective falls far below it; beyond
this factor, they are shares of this many times the objective."""
MAX_FACTORING = 2 * 10**8
"""Outputs × rows³ up to which each output has its own preconditioner."""
SINGLE_ROWS = 500
"""Rows above which the Hessian is float32, which takes half the time, if it is positive definite then."""
SMALL = 1e-12
"""The share of its largest entry that is added to the diagonal of a Hessian."""


@dataclass(frozen=True, eq=False)
class RowSpace:
    """The span of n centred rows, and their coordinates in it."""

    rows: Floats
    """(n, d): standardised, or only centred if the penalty is of the original dimensions."""
    ratio: Doubles
    """(d,): what a weight of such rows is multiplied by to be one of standardised rows."""
    factor: Doubles | None
    """(n, n), lower triangular: the coordinates; None if the rows themselves are, as they have no more dimensions."""

    @classmethod
    def of(cls, features: Features, mean: Doubles, scale: Doubles, *, standardise: bool) -> RowSpace:
        """That of all rows, with the means and deviations (d,) of their dimensions."""
        n, d = features.shape
        rows, used = np.empty((n, d), np.float32), scale if standardise else np.ones(d)
        for start, read in features.chunks(max(1, BLOCK // d)):
            rows[start : start + len(read)] = standardised(read, mean, used)
        if n > d:
            return cls(rows, scale / used, None)
        products: Doubles = np.zeros((n, n), order="F")
        for columns in _columns(rows):
            block = rows[:, columns].astype(np.float64)
            products = blas.dsyrk(1.0, block.T, trans=1, beta=1.0, c=products, lower=1, overwrite_c=1)
        products[np.diag_indices(n)] += max(RIDGE * float(np.trace(products)) / n, float(np.finfo(np.float32).tiny))
        factor = np.tril(linalg.cholesky(products, lower=True, overwrite_a=True, check_finite=False))
        return cls(rows, scale / used, factor)

    @property
    def coordinates(self) -> Features:
        """Of the rows, (n, r)."""
        if self.factor is None:
            return Features.of(self.rows)
        return Features.of(self.factor.astype(np.float32, order="C"))

    def to_coordinates(self, point: Doubles) -> Doubles:
        """The part of a point (outputs, d + 1), for standardised rows, that is in the space: (outputs, r + 1)."""
        weights, products = point[:, :-1] / self.ratio, np.zeros((len(self.rows), len(point)))
        if self.factor is None:
            return np.column_stack([weights, point[:, -1]])
        for columns in _columns(self.rows):
            products = products + self.rows[:, columns].astype(np.float64) @ weights[:, columns].T
        inner = linalg.solve_triangular(self.factor, products, lower=True, check_finite=False).T
        return np.column_stack([inner, point[:, -1]])

    def from_coordinates(self, point: Doubles) -> Doubles:
        """The point (outputs, d + 1) for standardised rows that is this one (outputs, r + 1) in the space."""
        if self.factor is None:
            return np.column_stack([point[:, :-1] * self.ratio, point[:, -1]])
        sums = linalg.solve_triangular(self.factor, point[:, :-1].T, lower=True, trans="T", check_finite=False).T
        parts = [sums @ self.rows[:, columns].astype(np.float64) for columns in _columns(self.rows)]
        return np.column_stack([np.concatenate(parts, axis=1) * self.ratio, point[:, -1]])


def _columns(rows: Floats) -> list[slice]:
    """Columns of rows (n, d), a few at a time."""
    step = max(1, BLOCK // len(rows))
    return [slice(at, at + step) for at in range(0, rows.shape[1], step)]


def suits(features: Features) -> bool:
    """Whether there are few enough rows."""
    n, d = features.shape
    return n <= min(ROWS_PER_DIMENSION * d, MAX_ROWS) and not features.sparse


def solver_at(rows: Floats, point: Doubles, penalty: Doubles) -> Solve:
    """Multiply by the inverse Hessian at a point (outputs, r + 1) for rows (n, r), exact with two classes.

    ``penalty`` is (r + 1,). With more classes it is exact for each output by itself; if that would take too long, the
    outputs share an inverse, for which the curvature of a row is the mean of its outputs.
    """
    logits = (point[:, :-1].astype(np.float32) @ rows.T).astype(np.float64) + point[:, -1:]
    shares = np.exp(-np.logaddexp(0, -logits)) if len(point) == 1 else _softmax(logits)
    curvature = shares * (1 - shares)
    separate = _has_separate_inverses(rows, point)
    weighting = curvature if separate else curvature.mean(axis=0, keepdims=True)
    inverses = [_inverse(rows, weights, penalty) for weights in weighting]
    typical = float(np.median(penalty))
    sizes = np.ones(1) if separate else (float(curvature.mean()) + typical) / (curvature.mean(axis=1) + typical)

    def solve(slopes: Floats) -> Floats:
        parts = np.split(slopes, len(inverses))
        product = np.concatenate([multiply(part) for multiply, part in zip(inverses, parts, strict=True)])
        product *= sizes.astype(np.float32)[:, None]
        if len(product) > 1:  # what all outputs share changes no probability
            product -= product.mean(axis=0)
        return product

    return solve


def _has_separate_inverses(rows: Floats, point: Doubles) -> bool:
    """Whether each output has its own preconditioner."""
    return len(point) == 1 or len(point) * len(rows) ** 3 <= MAX_FACTORING


def _inverse(rows: Floats, curvature: Doubles, penalty: Doubles) -> Solve:
    """Multiply by the inverse (r + 1, r + 1) of the Hessian of an output, with the curvature (n,) of each row."""
    weights = np.sqrt(curvature / len(rows))
    for dtype in (np.float32, np.float64) if len(rows) > SINGLE_ROWS else (np.float64,):
        weighted: Array = np.column_stack([rows, np.ones(len(rows), np.float32)]).astype(dtype, copy=False)
        weighted *= weights.astype(dtype)[:, None]
        hessian = blas.get_blas_funcs("syrk", (weighted,))(1.0, weighted.T, lower=1)
        # the bias has no penalty, and where all rows are certain, no curvature either
        hessian[np.diag_indices_from(hessian)] += penalty + SMALL * max(float(np.diag(hessian).max()), SMALL)
        try:
            factor = linalg.cholesky(hessian, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            if dtype is np.float64:
                raise
            continue
        break
    return lambda slopes: linalg.cho_solve((factor, True), slopes.T, check_finite=False).T.astype(np.float32)


def search(
    rows: Floats,
    point: Doubles,
    value: Value,
    penalty: Doubles,
    *,
    tolerance: float,
    entropy: float,
    limit: int,
    confirm: bool,
    solve: Solve | None = None,
) -> Search:
    """The search for the optimum at a penalty (r + 1,), from a point whose loss is known.

    ``tolerance`` is a share of the entropy of the classes, or of ``MAX_FALL`` times the objective if that is less. With
    ``confirm`` the search ends where a preconditioner that was made there agrees that it may. ``solve`` is the first.
    """
    passes, most = 0, REWEIGHT_AFTER if _has_separate_inverses(rows, point) else REWEIGHT_SHARED_AFTER
    while True:
        solve = solver_at(rows, point, penalty) if solve is None else solve
        end = yield from descend(
            point,
            value,
            penalty,
            solve,
            tolerance=tolerance * entropy,
            share=MAX_FALL * tolerance,
            limit=min(most, limit - passes),
        )
        passes += end.passes
        point, value, solve = end.point, end.value, None
        if passes == limit or not end.passes or (end.converged and not confirm):
            return End(point, value, passes, end.converged)


def _softmax(logits: Doubles) -> Doubles:
    shares: Doubles = np.exp(logits - logits.max(axis=0))
    shares /= shares.sum(axis=0)
    return shares
