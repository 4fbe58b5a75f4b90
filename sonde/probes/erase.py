"""Vectors without a property: what no linear classifier can then tell, at the least change of the vectors.

    leace              least-squares concept erasure (Belrose et al. 2023), in closed form
    random_directions  the control: as many directions, at random

``nullspace`` has another way, a classifier after the other. An eraser is learned on the training rows of one task, and
applied to vectors of any other. All arithmetic is float64.

With x the vectors and z the classes as one-hot vectors, LEACE is

    x - W⁺ P W (x - mean),    W = (Σxx^½)⁺,    P the orthogonal projection onto the columns of W Σxz

which among all affine maps that leave no covariance with z has the least mean square change, in any quadratic norm.
Without covariance all classes have the same mean, and no linear classifier has a lower loss than the best constant. It
takes out as many directions as there are classes, less one: of a property with as many classes as the vectors have
dimensions, such as the word of word content, nothing is left but the mean. Covariances are those of the rows as they
are: there is no shrinkage, and no limit to the variance, as some programs have them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from sonde.core.threads import single_threaded
from sonde.errors import DataError, ShapeError, UsageError
from sonde.probes.features import Features

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CELLS = 2**20
"""About so many numbers are read at a time."""
VARIANCE_TOLERANCE = 1e-8
"""A canonical correlation of vectors and classes below this is none: whitening multiplies rounding errors by less than
1e7, as dimensions of less variance are masked. Correlations of real sets are far above, if only by chance."""


@dataclass(frozen=True, eq=False)
class Eraser:
    """A map of vectors that takes some directions out: x - left @ right @ (x - mean)."""

    mean: Doubles
    """(d,). It stays where it is."""
    left: Doubles
    """(d, rank)."""
    right: Doubles
    """(rank, d); right @ left is the unit matrix, so that a second time changes nothing."""

    @property
    def rank(self) -> int:
        """How many directions are taken out."""
        return len(self.right)

    def apply(self, rows: Array) -> Array:
        """Rows (m, d) without these directions, of the same type."""
        if rows.ndim != 2 or rows.shape[1] != len(self.mean):
            raise ShapeError(f"The eraser is of vectors with {len(self.mean)} dimensions, got rows {rows.shape}.")
        erased = rows - ((rows - self.mean) @ self.right.T) @ self.left.T
        return np.ascontiguousarray(erased, rows.dtype)

    def widened(self, more: int) -> Eraser:
        """The same for vectors that go on for ``more`` dimensions, which it leaves alone."""
        return Eraser(
            np.pad(self.mean, (0, more)),
            np.pad(self.left, ((0, more), (0, 0))),
            np.pad(self.right, ((0, 0), (0, more))),
        )


def erased(features: Features, eraser: Eraser) -> Features:
    """The features without what the eraser takes out: rows are changed when they are read, and no table is copied."""
    if features.shape[1] != len(eraser.mean):
        raise ShapeError(f"The eraser is of {len(eraser.mean)} dimensions, the vectors have {features.shape[1]}.")
    inner = features.combine or _in_line
    nothing = np.empty((1, 0), np.float32)  # a second table, as features of one may be read past ``combine``
    return Features(
        (*features.tables, nothing),
        (*features.places, np.zeros(len(features), np.int64)),
        _Changed(inner, eraser),
    )


def reinjected(features: Features, labels: Ints, classes: int) -> Features:
    """[x, one-hot(label)], (n, d + classes): vectors that are told their class. A label of -1 adds zeros.

    After an erasure, a probe on these must find the class again: what it does not was lost to something else.
    """
    if len(features) != len(labels):
        raise ShapeError(f"There are {len(features)} rows and {len(labels)} labels; expected as many.")
    told = np.eye(classes + 1, classes, dtype=np.float32)  # the last row, which is also row -1, is 0
    places = np.asarray(labels, np.int64)
    if features.combine is None:
        return Features((*features.tables, told), (*features.places, places))
    return Features((*features.tables, told), (*features.places, places), _Told(features.combine))


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and covariances of vectors: one reading of them serves every property, and every fit on erased vectors."""

    rows: int
    mean: Doubles
    """(d,)."""
    covariance: Doubles
    """(d, d), the mean product of deviations."""

    @classmethod
    def of(cls, features: Features) -> Moments:
        """Those of rows (n, d), read in pieces."""
        n, d = features.shape
        if n < 2:
            raise ShapeError(f"Covariances need two rows or more, got {n}.")
        near, sums, products = np.zeros(d), np.zeros(d), np.zeros((d, d))
        with single_threaded(), np.errstate(invalid="ignore"):  # it is told below
            for start, rows in features.chunks(_size(d)):
                if start == 0:  # sums are about the mean of the first piece, so that a far mean costs no precision
                    near = rows.mean(axis=0, dtype=np.float64).astype(np.float32).astype(np.float64)
                rest = rows - near
                sums += rest.sum(axis=0)
                products += rest.T @ rest
        if not np.isfinite(products).all():
            bad = np.count_nonzero(~np.isfinite(np.diag(products)))
            raise DataError(f"{bad} of {d} dimensions of the vectors have values that are no finite numbers.")
        return cls(n, near + sums / n, products / n - np.outer(sums / n, sums / n))

    @cached_property
    def whitening(self) -> tuple[Doubles, Doubles]:
        """A map (r, d) after which all directions have deviation 1 and no correlation, and the way back (d, r).

        It is made from correlations, not covariances, so that dimensions of any size count; LEACE is the same with
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
        """Take out the span of an orthonormal basis (r, rank) of whitened directions."""
        there, back = self.whitening
        return Eraser(self.mean, back @ basis, basis.T @ there)


def leace(features: Features, labels: Ints, classes: int, moments: Moments | None = None) -> Eraser:
    """The eraser after which no linear classifier can tell the labels (n,) of the features (n, d).

    ``moments`` are those of these features, if they are known.
    """
    moments = Moments.of(features) if moments is None else moments
    shares, sums = _classes(features, labels, classes, moments.mean)
    # columns of Σxz by the root of their class's share: the same span, and singular values that are correlations
    crossed = sums.T / np.sqrt(shares)
    there, _ = moments.whitening
    with single_threaded():
        basis, correlations, _ = linalg.svd(there @ crossed, full_matrices=False, check_finite=False)
        return moments.oblique(basis[:, correlations > VARIANCE_TOLERANCE])


def random_directions(dimension: int, rank: int, seed: int, moments: Moments | None = None) -> Eraser:
    """Take out ``rank`` directions at random, all directions being as probable.

    With ``moments``, all whitened directions are: the map is then of the same kind as LEACE's. Without, it is an
    orthogonal projection, as INLP's.
    """
    most = dimension if moments is None else len(moments.whitening[0])
    if moments is not None and len(moments.mean) != dimension:
        raise ShapeError(f"The moments are of {len(moments.mean)} dimensions, expected {dimension}.")
    if not 0 <= rank <= most:
        raise UsageError(f"Of vectors that vary in {most} directions, 0 … {most} can be taken out, got {rank}.")
    drawn = np.random.default_rng(seed).standard_normal((most, rank))
    with single_threaded():
        basis: Doubles = linalg.qr(drawn, mode="economic", check_finite=False)[0]
        return Eraser(np.zeros(dimension), basis, basis.T.copy()) if moments is None else moments.oblique(basis)


@dataclass(frozen=True, eq=False)
class _Changed:
    """Rows as they would be read, and then erased."""

    inner: Callable[[Sequence[Floats]], Floats]
    eraser: Eraser

    def __call__(self, parts: Sequence[Floats]) -> Floats:
        return self.eraser.apply(self.inner(parts[:-1]))


@dataclass(frozen=True, eq=False)
class _Told:
    """Rows as they would be read, and the last table beside them."""

    inner: Callable[[Sequence[Floats]], Floats]

    def __call__(self, parts: Sequence[Floats]) -> Floats:
        return _in_line([self.inner(parts[:-1]), parts[-1]])


def _in_line(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts, axis=1)


def _size(d: int) -> int:
    """Rows of a piece."""
    return max(64, min(1024, CELLS // max(1, d)))


def _classes(features: Features, labels: Ints, classes: int, mean: Doubles) -> tuple[Doubles, Doubles]:
    """Of the classes that are met: their shares (k,), and the means of their deviations times their shares (k, d)."""
    n, d = features.shape
    if len(labels) != n:
        raise ShapeError(f"There are {n} rows and {len(labels)} labels; expected as many.")
    if not 0 <= labels.min() <= labels.max() < classes:
        raise DataError(f"The labels are {labels.min()} … {labels.max()}; expected 0 … {classes - 1}.")
    sums = np.zeros((classes, d))
    for start, rows in features.chunks(_size(d)):
        given = labels[start : start + len(rows)]
        order = np.argsort(given, kind="stable")
        firsts = np.flatnonzero(np.diff(given[order], prepend=-1))
        sums[given[order[firsts]]] += np.add.reduceat(rows[order] - mean, firsts, axis=0)
    counts = np.bincount(labels, minlength=classes)
    return counts[counts > 0] / n, sums[counts > 0] / n
