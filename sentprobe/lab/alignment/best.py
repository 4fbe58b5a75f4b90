"""The highest scores of every row, kept up to date while blocks of scores come in.

A block is compared with the k-th best score that each row has so far; only what exceeds it, soon very little, is
sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.space import Matrix, Rows

Bools = NDArray[np.bool_]
WORD = 64
"""Elements of a block that are skipped at once if none exceeds."""
PIECE = 2**17
"""About as many scores are sorted at a time, so that long lists of candidates do not take much memory."""


class Best(NamedTuple):
    """The k highest scores of n rows so far, in no particular order; −inf where there are fewer."""

    values: Matrix
    """(n, k)."""
    floor: NDArray[np.float32]
    """(n,): the lowest of them, which a further score has to exceed."""

    def offer(self, at: int, scores: Matrix) -> None:
        """Take in scores (m, w) of the rows from ``at`` on."""
        here = slice(at, at + len(scores))
        values, floor = self.values[here], self.floor[here]
        rows, columns = _exceeding(scores, _raised(floor, scores, values.shape[1])[:, None])
        self._merge(values, floor, rows, scores[rows, columns])

    def offer_columns(self, at: int, scores: Matrix) -> None:
        """Take in scores (w, m) of the rows from ``at`` on, which are the columns of the block."""
        here = slice(at, at + scores.shape[1])
        values, floor = self.values[here], self.floor[here]
        rows, columns = _exceeding(scores, _raised(floor, scores.T, values.shape[1]))
        order = np.argsort(columns, kind="stable")
        self._merge(values, floor, columns[order], scores[rows[order], columns[order]])

    def means(self) -> NDArray[np.float32]:
        """The mean of the scores of every row, (n,); 0 if there are none."""
        found = np.isfinite(self.values)
        sums = np.where(found, self.values, 0).sum(1, dtype=np.float64)
        return np.asarray(sums / np.maximum(found.sum(1), 1), np.float32)

    @staticmethod
    def _merge(values: Matrix, floor: NDArray[np.float32], rows: Rows, scores: NDArray[np.float32]) -> None:
        if len(rows):
            k = values.shape[1]
            which, _, padded = beside(values, rows, scores)
            values[which] = np.partition(padded, -k, axis=1)[:, -k:]
            floor[which] = values[which].min(1)


class Ranked(NamedTuple):
    """The k highest scores of n rows so far and the candidates that have them: the best first, of equals the lower."""

    values: Matrix
    """(n, k)."""
    candidates: Rows
    """(n, k); −1 where there are fewer."""

    def offer(self, first: int, scores: Matrix) -> None:
        """Take in scores (n, w) of all rows with the candidates from ``first`` on, which are above all before."""
        step = max(1, PIECE // (8 * max(1, self.values.shape[1])))
        for at in range(0, len(scores), step):
            here = slice(at, at + step)
            Ranked(self.values[here], self.candidates[here])._offer(first, scores[here])

    def _offer(self, first: int, scores: Matrix) -> None:
        k = self.values.shape[1]
        floor = _raised(self.values[:, -1], scores, k)
        rows, columns = _exceeding(scores, floor[:, None])
        if len(rows):
            which, places, padded = beside(self.values, rows, scores[rows, columns])
            names = np.full(padded.shape, -1)
            names[:, :k] = self.candidates[which]
            names[places] = columns + first
            order = np.argsort(-padded, axis=1, kind="stable")[:, :k]
            self.values[which] = np.take_along_axis(padded, order, 1)
            self.candidates[which] = np.take_along_axis(names, order, 1)


def best(n: int, k: int) -> Best:
    """Of n rows, to begin with."""
    return Best(np.full((n, k), -np.inf, np.float32), np.full(n, -np.inf, np.float32))


def ranked(n: int, k: int) -> Ranked:
    """Of n rows, to begin with."""
    return Ranked(np.full((n, k), -np.inf, np.float32), np.full((n, k), -1))


def beside(values: Matrix, rows: Rows, scores: NDArray[np.float32]) -> tuple[Rows, tuple[Rows, Rows], Matrix]:
    """Put new scores, in the order of their rows, to the right of those that these rows have, with −inf as padding.

    Returns the rows without repetition, the places of the new scores, and the padded array.
    """
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    which, counts = rows[starts], np.diff(starts, append=len(rows))
    k = values.shape[1]
    group = np.repeat(np.arange(len(which)), counts)
    places = group, np.arange(len(rows)) - np.repeat(starts, counts) + k
    padded = np.full((len(which), k + int(counts.max())), -np.inf, np.float32)
    padded[:, :k] = values[which]
    padded[places] = scores
    return which, places, padded


def _raised(floor: NDArray[np.float32], scores: Matrix, k: int) -> NDArray[np.float32]:
    """The floor (m,) for scores (m, w); if rows have none yet, one that k or more of their scores exceed.

    The lowest of the maxima of k parts of a row is among its scores, and k − 1 of the others are no lower.
    """
    width = scores.shape[1] // k
    if not width or floor.min(initial=0) > -np.inf:
        return floor
    maxima = [scores[:, i * width : (i + 1) * width].max(1) for i in range(k)]
    return np.asarray(np.maximum(floor, np.nextafter(np.min(maxima, axis=0), np.float32(-np.inf))), np.float32)


def _exceeding(scores: Matrix, floor: NDArray[np.float32]) -> tuple[Rows, Rows]:
    """Rows and columns of all scores above the floor, in the order of the array."""
    above = (scores > floor).reshape(-1)
    if above.size % WORD:
        flat = np.flatnonzero(above)
    else:
        some = np.flatnonzero(np.packbits(above).view(np.uint64))
        group, place = np.nonzero(above.reshape(-1, WORD)[some])
        flat = some[group] * WORD + place
    return np.divmod(flat, scores.shape[1])
