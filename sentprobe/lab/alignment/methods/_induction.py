"""Dictionaries of both directions by CSLS, with a random part of all candidates left out, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.space import Matrix, Rows
from sentprobe.lab.alignment.top_k import top_mean

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
    forwards, backwards = _Cosines(source, target), _Cosines(target, source)
    source_stream, target_stream = streams if streams is not None and keep < 1 else (None, None)
    target_means = np.concatenate([top_mean(block, k) for block in backwards.blocks()])
    translated_sources = _translate(forwards, target_means, keep, source_stream, k)
    translated_targets = _translate(backwards, translated_sources.means, keep, target_stream)
    pairs = [
        np.concatenate([np.arange(len(source)), translated_targets.chosen]),
        np.concatenate([translated_sources.chosen, np.arange(len(target))]),
    ]
    objective = (
        translated_sources.nearest.mean(dtype=np.float64) + translated_targets.nearest.mean(dtype=np.float64)
    ) / 2
    return Induced(np.stack(pairs, axis=1), float(objective))


class _Cosines:
    """The cosines of all rows to all others, in blocks of rows."""

    def __init__(self, rows: Matrix, columns: Matrix) -> None:
        self._rows, self._columns = rows, columns
        self._all = rows @ columns.T if len(rows) * len(columns) <= HELD else None

    def blocks(self) -> Iterator[Matrix]:
        size = max(1, BLOCK // len(self._columns))
        for at in range(0, len(self._rows), size):
            yield self._rows[at : at + size] @ self._columns.T if self._all is None else self._all[at : at + size]


class _Translated(NamedTuple):
    """Of each row: the best candidate, the highest cosine, and the mean of the k highest."""

    chosen: Rows
    nearest: Matrix
    means: Matrix


def _translate(
    cosines: _Cosines, penalties: Matrix, keep: float, stream: np.random.Generator | None, k: int = 1
) -> _Translated:
    """The candidate with the highest CSLS among those that are considered, by the mean cosines of candidates (m,)."""
    blocks, half_penalties = [], penalties / 2
    for block in cosines.blocks():
        nearest = block.max(1)
        means = top_mean(block, k) if k > 1 else nearest
        scores = block - half_penalties
        if stream is not None:
            considered = _mask(stream, block.shape, keep)
            considered[~considered.any(1)] = True  # with few words, all may be left out: then none is
            scores[~considered] = -np.inf
        blocks.append((scores.argmax(1), nearest, means))
    return _Translated(*(np.concatenate(part) for part in zip(*blocks, strict=True)))


def _mask(stream: np.random.Generator, shape: tuple[int, ...], keep: float) -> NDArray[np.bool_]:
    """True with probability ``keep`` (to 1/65,536); whole words per row, so that the size of blocks does not matter."""
    random_words = stream.integers(0, 1 << 64, (shape[0], -(-shape[1] // 4)), np.uint64)
    return random_words.view(np.uint16)[:, : shape[1]] < np.uint16(round(keep * 0xFFFF))
