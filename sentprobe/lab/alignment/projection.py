"""Words of both languages in two dimensions, before and after mapping.

Both panels show principal components of vectors of length one, over the words of both languages together: before, of
the vectors as they are; after, of those in the common space. Each panel has components of its own, since those of one
say nothing about the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.words import is_word
from sentprobe.errors import UsageError
from sentprobe.lab.alignment.maps import MappedRows, WordMap
from sentprobe.lab.alignment.refine import mutual_rows
from sentprobe.lab.alignment.retrieval import CslsIndex
from sentprobe.lab.alignment.space import Matrix, Rows, Space

FREQUENT = 5000
"""The most frequent words of either side, among which translations are looked for."""
POOL = 2000
"""Pairs that the components are of, unless the words are given."""
FUNCTION_WORDS = 300
"""The most frequent words are mostly function words, and say little in a picture."""
MIN_LETTERS = 4

Points = NDArray[np.float64]


class Projection(NamedTuple):
    """Pairs of words, and where they are."""

    rows: Rows
    """(p, 2): rows of source and target."""
    before: Points
    """(2, p, 2): x and y, from 0 to 1, of the source words, then of the target words."""
    after: Points
    """The same in the common space."""


def project_words(source: Space, target: Space, word_map: WordMap, words: Sequence[str] = ()) -> Projection:
    """The most frequent translation pairs of content words, at most ``POOL``; or these source words, and their
    translations."""
    if words:
        rows = pairs_of_words(source, target, word_map, words)
    else:
        rows = content_pairs(source, target, mutual_pairs(source.vectors, target.vectors, word_map))[:POOL]
    before, after = (
        _unit_square(
            components(np.concatenate([source_rows[rows[:, 0]], target_rows[rows[:, 1]]])).reshape(2, len(rows), 2)
        )
        for source_rows, target_rows in (
            (MappedRows(source.vectors), MappedRows(target.vectors)),
            (MappedRows(source.vectors, word_map.source), MappedRows(target.vectors, word_map.target)),
        )
    )
    return Projection(rows, before, after)


def components(vectors: Matrix) -> Points:
    """The first two principal components (n, 2) of vectors (n, d); each points to where its largest weight is."""
    centred = vectors - vectors.mean(0, dtype=np.float64)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = np.concatenate([axes[:2], np.zeros((max(0, 2 - len(axes)), axes.shape[1]))])
    largest = axes[np.arange(2), np.abs(axes).argmax(1)]
    return np.asarray(centred @ (axes * np.where(largest < 0, -1.0, 1.0)[:, None]).T, np.float64)


def mutual_pairs(source: Matrix, target: Matrix, word_map: WordMap, frequent: int = FREQUENT) -> Rows:
    """Rows (p, 2) of frequent words that are each other's nearest under CSLS, by the frequency of the source word."""
    source_rows, target_rows = (
        MappedRows(source[:frequent], word_map.source),
        MappedRows(target[:frequent], word_map.target),
    )
    return mutual_rows(source_rows, target_rows, frequent)


def content_pairs(source: Space, target: Space, rows: Rows) -> Rows:
    """Pairs (p, 2) by how much they say: first different words of some length that are not the most frequent."""

    def is_uninformative(pair: tuple[int, int]) -> bool:
        source_word, target_word = source.words[pair[0]], target.words[pair[1]]
        is_short = any(len(word) < MIN_LETTERS or not is_word(word) for word in (source_word, target_word))
        return is_short or min(pair) < FUNCTION_WORDS or source_word.casefold() == target_word.casefold()

    return rows[np.argsort([is_uninformative((int(a), int(b))) for a, b in rows], kind="stable")]


def pairs_of_words(source: Space, target: Space, word_map: WordMap, words: Sequence[str]) -> Rows:
    """Rows (p, 2) of these source words and the nearest of the frequent target words under CSLS."""
    for word in words:
        if word not in source.index:
            raise UsageError(f"{source.name} has no vector of {word!r}.{did_you_mean(word, source.words[:FREQUENT])}")
    rows = np.array([source.index[word] for word in dict.fromkeys(words)], np.int64)
    source_rows, target_rows = (
        MappedRows(source.vectors, word_map.source),
        MappedRows(target.vectors[: 4 * FREQUENT], word_map.target),
    )
    frequent_source = MappedRows(source.vectors[: 4 * FREQUENT], word_map.source)
    return np.stack([rows, CslsIndex(frequent_source, target_rows).nearest(source_rows[rows]).rows[:, 0]], axis=1)


def _unit_square(points: Points) -> Points:
    """Places (…, 2) moved and scaled to lie between 0 and 1 on either axis."""
    flat = points.reshape(-1, 2)
    low, size = flat.min(0), np.ptp(flat, axis=0)
    return np.asarray((points - low) / np.where(size > 0, size, 1.0), np.float64)
