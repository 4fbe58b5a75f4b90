"""Dictionaries of both directions by CSLS, with a random part of all candidates left out, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sonde.alignment.methods._top import top_mean
from sonde.alignment.space import Matrix, Rows

HELD = 1 << 24
"""Cosines that are held to be used more than once; if there are more, blocks of them are computed when needed."""
BLOCK = 1 << 22
"""Cosines in a block."""

Streams = tuple[np.random.Generator, np.random.Generator]


class Induced(NamedTuple):
    """A dictionary, and how near its spaces are."""

    pairs: Rows
    """(n + m, 2): the translation of every source row, then of every target row; mutual translations are there twice
    and so weigh more."""
    objective: float
    """The mean over all rows of both sides of the cosine to the nearest row of the other side."""


def induce(source: Matrix, target: Matrix, k: int, keep: float = 1.0, streams: Streams | None = None) -> Induced:
    """Translate all rows of length one (n, d), (m, d) to the other side by CSLS with k neighbours.

    Each candidate of each row is considered with probability ``keep`` only, by random numbers of either stream. Of
    equal candidates the first one is taken.
    """
    there = _Cosines(source, target)
    back = _Cosines(target, source, None if there.all is None else np.ascontiguousarray(there.all.T))
    of_target = np.concatenate([top_mean(block, k) for block in back.blocks()])
    of_source = np.concatenate([top_mean(block, k) for block in there.blocks()])
    one, two = streams if streams is not None and keep < 1 else (None, None)
    targets, nearest_target = _translate(there, of_target, keep, one)
    sources, nearest_source = _translate(back, of_source, keep, two)
    rows = np.concatenate([np.arange(len(source)), sources])
    objective = (nearest_target.mean(dtype=np.float64) + nearest_source.mean(dtype=np.float64)) / 2
    return Induced(np.stack([rows, np.concatenate([targets, np.arange(len(target))])], axis=1), float(objective))


class _Cosines:
    """The cosines of all rows to all others, in blocks of rows."""

    def __init__(self, rows: Matrix, others: Matrix, found: Matrix | None = None) -> None:
        self._rows, self._others = rows, others
        self.all = rows @ others.T if found is None and len(rows) * len(others) <= HELD else found

    def blocks(self) -> Iterator[Matrix]:
        size = max(1, BLOCK // len(self._others))
        for at in range(0, len(self._rows), size):
            yield self._rows[at : at + size] @ self._others.T if self.all is None else self.all[at : at + size]


def _translate(
    cosines: _Cosines, means: Matrix, keep: float, stream: np.random.Generator | None
) -> tuple[Rows, NDArray[np.float32]]:
    """The best candidate of each row, and the highest cosine of each row."""
    chosen, highest = [], []
    for block in cosines.blocks():
        highest.append(block.max(1))
        scores = block - means / 2
        if stream is not None:
            kept = _mask(stream, block.shape, keep)
            kept[~kept.any(1)] = True  # with few words, all may be left out: then none is
            scores[~kept] = -np.inf
        chosen.append(scores.argmax(1))
    return np.concatenate(chosen), np.concatenate(highest)


def _mask(stream: np.random.Generator, shape: tuple[int, ...], keep: float) -> NDArray[np.bool_]:
    """True with probability ``keep`` (to 1/65,536); whole words per row, so that the size of blocks does not matter."""
    drawn = stream.integers(0, 1 << 64, (shape[0], -(-shape[1] // 4)), np.uint64)
    return drawn.view(np.uint16)[:, : shape[1]] < np.uint16(round(keep * 0xFFFF))
