"""Concept erasure: vectors from which no linear classifier can predict a property, changed as little as possible.

    leace              least-squares concept erasure (Belrose et al. 2023), in closed form
    random_directions  the control: as many random directions

``nullspace`` counts directions with the iterative method, INLP. An eraser is learned on the training rows of one task,
and applied to vectors of any other. All arithmetic is in float64.

With x the vectors and z the classes as one-hot vectors, LEACE is

    x - W⁺ P W (x - mean),    W = (Σxx^½)⁺,    P the orthogonal projection onto the columns of W Σxz

which among all affine maps that leave no covariance with z has the least mean square change, in any quadratic norm.
Without covariance all classes have the same mean, and no linear classifier has a lower loss than the best constant. It
removes one direction fewer than there are classes: for a property with more classes than the vectors have dimensions,
such as the word of word content, nothing is left but the mean. Covariances are those of the rows as they are, without
the shrinkage or the limit to the variance that some implementations have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from sentprobe.core.resources import single_threaded
from sentprobe.errors import DataError, ShapeError, UsageError
from sentprobe.probes.features import Array, Doubles, Features, Floats, Ints, check_labels

CELLS = 2**20
"""The approximate number of values that are read at a time."""
MAX_DIMENSIONS = 10_000
"""Of covariances: eigenvectors of these take ten minutes and several gigabytes; sparse vectors may have many more."""
VARIANCE_TOLERANCE = 1e-8
"""A canonical correlation of vectors and classes below this counts as 0: whitening multiplies rounding errors by less
than 1e7, as directions of less variance are masked. Correlations in real sets are far above it, if only by chance."""


@dataclass(frozen=True, eq=False)
class Eraser:
    """A map of vectors that removes some directions: x - proj_left @ proj_right @ (x - mean)."""

    mean: Doubles
    """(d,). The map leaves it where it is."""
    proj_left: Doubles
    """(d, rank)."""
    proj_right: Doubles
    """(rank, d); proj_right @ proj_left is the identity, so that applying the map twice changes nothing more."""

    @property
    def rank(self) -> int:
        """How many directions are removed."""
        return len(self.proj_right)

    def apply(self, rows: Array) -> Array:
        """Rows (m, d) without these directions, of the same type."""
        if rows.ndim != 2 or rows.shape[1] != len(self.mean):
            raise ShapeError(f"The eraser is for vectors of {len(self.mean)} dimensions, got rows {rows.shape}.")
        erased = rows - ((rows - self.mean) @ self.proj_right.T) @ self.proj_left.T
        return np.ascontiguousarray(erased, rows.dtype)

    def widened(self, dimensions: int) -> Eraser:
        """The eraser for vectors with more ``dimensions`` appended, which it does not change."""
        return Eraser(
            np.pad(self.mean, (0, dimensions)),
            np.pad(self.proj_left, ((0, dimensions), (0, 0))),
            np.pad(self.proj_right, ((0, 0), (0, dimensions))),
        )


def erased(features: Features, eraser: Eraser) -> Features:
    """The features without what the eraser removes: rows are changed as they are read, and no table is copied."""
    if features.shape[1] != len(eraser.mean):
        raise ShapeError(f"The eraser is for {len(eraser.mean)} dimensions, the vectors have {features.shape[1]}.")
    inner = features.combine or _concatenate
    nothing = np.empty((1, 0), np.float32)  # a second table, as a single one may be read without ``combine``
    return Features(
        (*features.tables, nothing),
        (*features.indices, np.zeros(len(features), np.int64)),
        _Erased(inner, eraser),
    )


def reinjected(features: Features, labels: Ints, classes: int) -> Features:
    """[x, one-hot(label)], (n, d + classes): vectors with their class appended. A label of -1 adds zeros.

    After an erasure, a probe on these must recover the class: where it does not, something else was lost.
    """
    check_labels(features, labels)
    one_hot = np.eye(classes + 1, classes, dtype=np.float32)  # the last row, which is also row -1, is 0
    indices = (*features.indices, np.asarray(labels, np.int64))
    return Features((*features.tables, one_hot), indices, features.combine and _WithClass(features.combine))


@dataclass(frozen=True, eq=False)
class VectorMoments:
    """Mean and covariances of vectors: one read serves every property, and every fit on erased vectors."""

    rows: int
    mean: Doubles
    """(d,)."""
    covariance: Doubles
    """(d, d), the mean product of deviations."""

    @classmethod
    def of(cls, features: Features) -> VectorMoments:
        """Those of rows (n, d), read block by block."""
        n, d = features.shape
        if n < 2:
            raise ShapeError(f"Covariances need at least two rows, got {n}.")
        if d > MAX_DIMENSIONS:
            raise ShapeError(
                f"Covariances of {d:,} dimensions would take {8 * d * d / 1e9:.0f} GB, and hours; expected at most "
                f"{MAX_DIMENSIONS:,}. Choose fewer dimensions, such as tfidf:FILE?words={MAX_DIMENSIONS}, or leave out "
                "the measures erasure and inlp."
            )
        near, sums, products = np.zeros(d), np.zeros(d), np.zeros((d, d))
        with single_threaded(), np.errstate(invalid="ignore"):  # reported below
            for start, rows in features.chunks(_block_rows(d)):
                # sums are about the mean of the first block, so that a mean far from 0 costs no precision
                if start == 0:
                    near = rows.mean(axis=0, dtype=np.float64).astype(np.float32).astype(np.float64)
                differences = rows - near
                sums += differences.sum(axis=0)
                products += differences.T @ differences
        if not np.isfinite(products).all():
            not_finite = np.count_nonzero(~np.isfinite(np.diag(products)))
            raise DataError(f"{not_finite} of {d} dimensions of the vectors have values that are not finite.")
        return cls(n, near + sums / n, products / n - np.outer(sums / n, sums / n))

    @cached_property
    def whitening(self) -> tuple[Doubles, Doubles]:
        """A map (r, d) to uncorrelated directions of deviation 1, and its inverse (d, r).

        It is computed from correlations, not covariances, so that dimensions of any scale count; LEACE is the same with
        either. Directions in which the vectors do not vary are left out.
        """
        deviations = np.sqrt(np.maximum(np.diag(self.covariance), 0))
        scale = np.where(deviations > 0, deviations, 1.0)
        with single_threaded():
            values, vectors = linalg.eigh(self.covariance / np.outer(scale, scale), check_finite=False)
        varies = values > values[-1] * len(values) * np.finfo(np.float64).eps
        roots, vectors = np.sqrt(values[varies]), vectors[:, varies]
        return (vectors / roots).T / scale, vectors * roots * scale[:, None]

    def oblique(self, basis: Doubles) -> Eraser:
        """Remove the span of an orthonormal basis (r, rank) of whitened directions."""
        whiten, unwhiten = self.whitening
        return Eraser(self.mean, unwhiten @ basis, basis.T @ whiten)


def leace(features: Features, labels: Ints, classes: int, moments: VectorMoments | None = None) -> Eraser:
    """The eraser after which no linear classifier can predict the labels (n,) of the features (n, d).

    ``moments`` are those of these features, if they are known.
    """
    moments = VectorMoments.of(features) if moments is None else moments
    return moments.oblique(discriminants(features, labels, classes, moments))


def discriminants(features: Features, labels: Ints, classes: int, moments: VectorMoments) -> Doubles:
    """The whitened directions (r, rank) in which the classes' means differ, the largest difference first.

    They are orthonormal, and those of linear discriminant analysis.
    """
    shares, sums = _class_deviations(features, labels, classes, moments.mean)
    # columns of Σxz divided by the root of their class's share: the same span, and its singular values are correlations
    crossed = sums.T / np.sqrt(shares)
    whiten, _ = moments.whitening
    with single_threaded():
        basis, correlations, _ = linalg.svd(whiten @ crossed, full_matrices=False, check_finite=False)
    directions: Doubles = basis[:, correlations > VARIANCE_TOLERANCE]
    return directions


def random_directions(dimension: int, rank: int, seed: int, moments: VectorMoments | None = None) -> Eraser:
    """Remove ``rank`` random directions, uniformly distributed.

    With ``moments`` they are uniform among whitened directions, and the map is of the same kind as LEACE's; without,
    it is an orthogonal projection, like INLP's.
    """
    most = dimension if moments is None else len(moments.whitening[0])
    if moments is not None and len(moments.mean) != dimension:
        raise ShapeError(f"The moments have {len(moments.mean)} dimensions, expected {dimension}.")
    if not 0 <= rank <= most:
        raise UsageError(f"From vectors that vary in {most} directions, 0 … {most} can be removed, got {rank}.")
    directions = np.random.default_rng(seed).standard_normal((most, rank))
    with single_threaded():
        basis: Doubles = linalg.qr(directions, mode="economic", check_finite=False)[0]
        return Eraser(np.zeros(dimension), basis, basis.T.copy()) if moments is None else moments.oblique(basis)


@dataclass(frozen=True, eq=False)
class _Erased:
    """Rows as they would be read, then erased."""

    inner: Callable[[Sequence[Floats]], Floats]
    eraser: Eraser

    def __call__(self, parts: Sequence[Floats]) -> Floats:
        return self.eraser.apply(self.inner(parts[:-1]))


@dataclass(frozen=True, eq=False)
class _WithClass:
    """Rows as they would be read, with the last table appended."""

    inner: Callable[[Sequence[Floats]], Floats]

    def __call__(self, parts: Sequence[Floats]) -> Floats:
        return _concatenate([self.inner(parts[:-1]), parts[-1]])


def _concatenate(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts, axis=1)


def _block_rows(d: int) -> int:
    """The number of rows in a block."""
    return max(64, min(1024, CELLS // max(1, d)))


def _class_deviations(features: Features, labels: Ints, classes: int, mean: Doubles) -> tuple[Doubles, Doubles]:
    """For classes that have rows: their shares (k,), and the means of their deviations times their shares (k, d)."""
    n, d = features.shape
    check_labels(features, labels, classes)
    sums = np.zeros((classes, d))
    for start, rows in features.chunks(_block_rows(d)):
        block_labels = labels[start : start + len(rows)]
        order = np.argsort(block_labels, kind="stable")
        firsts = np.flatnonzero(np.diff(block_labels[order], prepend=-1))
        sums[block_labels[order[firsts]]] += np.add.reduceat(rows[order] - mean, firsts, axis=0)
    counts = np.bincount(labels, minlength=classes)
    return counts[counts > 0] / n, sums[counts > 0] / n
