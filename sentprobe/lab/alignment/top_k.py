"""The k highest scores of every row: of one array, or kept up to date while blocks of scores come in.

Sorting every row in full would take longer than the products that the scores are from. A block is compared with the
k-th best score that each row has so far, and only what exceeds it, soon very little, is sorted; an array is searched
only in the groups of columns with the highest maxima.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.space import Matrix, Rows

WORD = 64
"""Elements of a block that are skipped at once if none exceeds: eight bytes of packed bits are one integer."""
PIECE = 2**17
"""About as many scores are sorted at a time, so that long lists of candidates do not take much memory."""
GROUP = 16
"""Columns in a group."""


class RunningTopK(NamedTuple):
    """The k highest scores of n rows so far, in no particular order; −inf where there are fewer."""

    values: Matrix
    """(n, k)."""
    floor: NDArray[np.float32]
    """(n,): the lowest of them, which a further score has to exceed."""

    def offer(self, start: int, scores: Matrix) -> None:
        """Take in scores (m, w) of the rows from ``start`` on."""
        span = slice(start, start + len(scores))
        values, floor = self.values[span], self.floor[span]
        rows, columns = _exceeding(scores, _raised(floor, scores, values.shape[1])[:, None])
        self._merge(values, floor, rows, scores[rows, columns])

    def offer_columns(self, start: int, scores: Matrix) -> None:
        """Take in scores (w, m) of the rows from ``start`` on, which are the columns of the block."""
        span = slice(start, start + scores.shape[1])
        values, floor = self.values[span], self.floor[span]
        rows, columns = _exceeding(scores, _raised(floor, scores.T, values.shape[1]))
        order = np.argsort(columns, kind="stable")
        self._merge(values, floor, columns[order], scores[rows[order], columns[order]])

    def means(self) -> NDArray[np.float32]:
        """The mean of the scores of every row, (n,); 0 if there are none."""
        is_score = np.isfinite(self.values)
        sums = np.where(is_score, self.values, 0).sum(1, dtype=np.float64)
        return np.asarray(sums / np.maximum(is_score.sum(1), 1), np.float32)

    @staticmethod
    def _merge(values: Matrix, floor: NDArray[np.float32], rows: Rows, scores: NDArray[np.float32]) -> None:
        if len(rows):
            k = values.shape[1]
            changed, _, padded = append_scores(values, rows, scores)
            values[changed] = np.partition(padded, -k, axis=1)[:, -k:]
            floor[changed] = values[changed].min(1)


class RankedTopK(NamedTuple):
    """The k highest scores of n rows so far and the candidates that have them: the best first, of equals the lower."""

    values: Matrix
    """(n, k)."""
    candidates: Rows
    """(n, k); −1 where there are fewer."""

    def rows(self, span: slice) -> RankedTopK:
        """Those of some rows, not copied."""
        return RankedTopK(self.values[span], self.candidates[span])

    def offer(self, first: int, scores: Matrix) -> None:
        """Take in scores (n, w) of all rows with the candidates from ``first`` on, which are above all before."""
        step = max(1, PIECE // (8 * max(1, self.values.shape[1])))
        for start in range(0, len(scores), step):
            span = slice(start, start + step)
            self.rows(span)._offer(first, scores[span])

    def _offer(self, first: int, scores: Matrix) -> None:
        k = self.values.shape[1]
        floor = _raised(self.values[:, -1], scores, k)
        rows, columns = _exceeding(scores, floor[:, None])
        if len(rows):
            changed, cells, padded = append_scores(self.values, rows, scores[rows, columns])
            candidates = np.full(padded.shape, -1)
            candidates[:, :k] = self.candidates[changed]
            candidates[cells] = columns + first
            # stable: earlier candidates stand to the left, so that of equal scores the lower candidate comes first
            order = np.argsort(-padded, axis=1, kind="stable")[:, :k]
            self.values[changed] = np.take_along_axis(padded, order, 1)
            self.candidates[changed] = np.take_along_axis(candidates, order, 1)


def running_top_k(n: int, k: int) -> RunningTopK:
    """Of n rows, without any scores yet."""
    return RunningTopK(np.full((n, k), -np.inf, np.float32), np.full(n, -np.inf, np.float32))


def ranked_top_k(n: int, k: int) -> RankedTopK:
    """Of n rows, without any scores yet."""
    return RankedTopK(np.full((n, k), -np.inf, np.float32), np.full((n, k), -1))


def append_scores(values: Matrix, rows: Rows, scores: NDArray[np.float32]) -> tuple[Rows, tuple[Rows, Rows], Matrix]:
    """Put new scores, in the order of their rows, to the right of those that these rows have, with −inf as padding.

    Returns the rows without repetition, the cells of the new scores, and the padded array.
    """
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    changed, counts = rows[starts], np.diff(starts, append=len(rows))
    k = values.shape[1]
    group = np.repeat(np.arange(len(changed)), counts)
    cells = group, np.arange(len(rows)) - np.repeat(starts, counts) + k
    padded = np.full((len(changed), k + int(counts.max())), -np.inf, np.float32)
    padded[:, :k] = values[changed]
    padded[cells] = scores
    return changed, cells, padded


def _raised(floor: NDArray[np.float32], scores: Matrix, k: int) -> NDArray[np.float32]:
    """The floor (m,) for scores (m, w); if rows have none yet, one that k or more of their scores exceed.

    The lowest of the maxima of k parts of a row is among its scores, and k − 1 of the others are no lower.
    """
    width = scores.shape[1] // k
    if not width or floor.min(initial=0) > -np.inf:
        return floor
    maxima = [scores[:, i * width : (i + 1) * width].max(1) for i in range(k)]
    # the next lower number, since only what exceeds the floor is taken in, and the lowest maximum itself counts
    return np.asarray(np.maximum(floor, np.nextafter(np.min(maxima, axis=0), np.float32(-np.inf))), np.float32)


def _exceeding(scores: Matrix, floor: NDArray[np.float32]) -> tuple[Rows, Rows]:
    """Rows and columns of all scores above the floor, in the order of the array."""
    above = (scores > floor).reshape(-1)
    if above.size % WORD:
        flat = np.flatnonzero(above)
    else:
        groups = np.flatnonzero(np.packbits(above).view(np.uint64))
        group, offset = np.nonzero(above.reshape(-1, WORD)[groups])
        flat = groups[group] * WORD + offset
    return np.divmod(flat, scores.shape[1])


def top_columns(scores: Matrix | NDArray[np.float64], k: int) -> Rows:
    """The columns (n, k) of the k largest numbers of each row, in no order; all columns if there are no more than k.

    The k largest numbers of a row are in the k groups with the largest maxima, so that only these are searched.
    """
    n, m = scores.shape
    width = m // GROUP
    if m <= k:
        return np.broadcast_to(np.arange(m), (n, m))
    if width <= 2 * k:
        return np.argpartition(scores, -k, axis=1)[:, -k:]
    # a group is every width-th column: the maximum over GROUP contiguous slices is faster than over strided ones
    maxima = scores[:, : width * GROUP].reshape(n, GROUP, width).max(1)
    groups = np.argpartition(maxima, -k, axis=1)[:, -k:]
    columns = (groups[:, :, None] + width * np.arange(GROUP)).reshape(n, -1)
    ungrouped = np.broadcast_to(np.arange(width * GROUP, m), (n, m - width * GROUP))
    columns = np.concatenate([columns, ungrouped], axis=1)
    best = np.argpartition(np.take_along_axis(scores, columns, 1), -k, axis=1)[:, -k:]
    return np.asarray(np.take_along_axis(columns, best, 1), np.int64)


def top_mean(scores: Matrix, k: int) -> Matrix:
    """The mean (n,) of the k largest numbers of each row, or of all if there are fewer."""
    best = np.take_along_axis(scores, top_columns(scores, k), 1)
    # sorted, so that the sum does not depend on the order that argpartition left
    return np.asarray(np.sort(best, axis=1).mean(1, dtype=np.float64), np.float32)
