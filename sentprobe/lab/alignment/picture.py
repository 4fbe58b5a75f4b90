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
from sentprobe.lab.alignment.csls import Translator
from sentprobe.lab.alignment.maps import MappedRows, WordMap
from sentprobe.lab.alignment.refine import mutual_rows
from sentprobe.lab.alignment.space import Matrix, Rows, Space

FREQUENT = 5000
"""The most frequent words of either side, among which translations are looked for."""
POOL = 2000
"""Pairs that the components are of, unless the words are given."""
FUNCTION_WORDS = 300
"""The most frequent words are mostly function words, and say little in a picture."""
MIN_LETTERS = 4

Points = NDArray[np.float64]


class Picture(NamedTuple):
    """Pairs of words, and where they are."""

    rows: Rows
    """(p, 2): rows of source and target."""
    before: Points
    """(2, p, 2): x and y, from 0 to 1, of the source words, then of the target words."""
    after: Points
    """The same in the common space."""


def picture(source: Space, target: Space, found: WordMap, words: Sequence[str] = ()) -> Picture:
    """The most frequent translation pairs of content words, at most ``POOL``; or these source words, and their
    translations."""
    if words:
        rows = given_pairs(source, target, found, words)
    else:
        rows = content_pairs(source, target, mutual_pairs(source.vectors, target.vectors, found))[:POOL]
    before, after = (
        _unit_square(components(np.concatenate([one[rows[:, 0]], two[rows[:, 1]]])).reshape(2, len(rows), 2))
        for one, two in (
            (MappedRows(source.vectors), MappedRows(target.vectors)),
            (MappedRows(source.vectors, found.source), MappedRows(target.vectors, found.target)),
        )
    )
    return Picture(rows, before, after)


def components(vectors: Matrix) -> Points:
    """The first two principal components (n, 2) of vectors (n, d); each points to where its largest weight is."""
    centred = vectors - vectors.mean(0, dtype=np.float64)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = np.concatenate([axes[:2], np.zeros((max(0, 2 - len(axes)), axes.shape[1]))])
    largest = axes[np.arange(2), np.abs(axes).argmax(1)]
    return np.asarray(centred @ (axes * np.where(largest < 0, -1.0, 1.0)[:, None]).T, np.float64)


def mutual_pairs(source: Matrix, target: Matrix, found: WordMap, frequent: int = FREQUENT) -> Rows:
    """Rows (p, 2) of frequent words that are each other's nearest under CSLS, by the frequency of the source word."""
    one, two = MappedRows(source[:frequent], found.source), MappedRows(target[:frequent], found.target)
    return mutual_rows(one, two, frequent)


def content_pairs(source: Space, target: Space, rows: Rows) -> Rows:
    """Pairs (p, 2) by how much they say: first different words of some length that are not the most frequent."""

    def dull(pair: tuple[int, int]) -> bool:
        one, two = source.words[pair[0]], target.words[pair[1]]
        short = any(len(word) < MIN_LETTERS or not is_word(word) for word in (one, two))
        return short or min(pair) < FUNCTION_WORDS or one.casefold() == two.casefold()

    return rows[np.argsort([dull((int(a), int(b))) for a, b in rows], kind="stable")]


def given_pairs(source: Space, target: Space, found: WordMap, words: Sequence[str]) -> Rows:
    """Rows (p, 2) of these source words and the nearest of the frequent target words under CSLS."""
    for word in words:
        if word not in source.index:
            raise UsageError(f"{source.name} has no vector of {word!r}.{did_you_mean(word, source.words[:FREQUENT])}")
    rows = np.array([source.index[word] for word in dict.fromkeys(words)], np.int64)
    one, two = MappedRows(source.vectors, found.source), MappedRows(target.vectors[: 4 * FREQUENT], found.target)
    among = MappedRows(source.vectors[: 4 * FREQUENT], found.source)
    return np.stack([rows, Translator(among, two).nearest(one[rows]).rows[:, 0]], axis=1)


def _unit_square(places: Points) -> Points:
    """Places (…, 2) moved and scaled to lie between 0 and 1 on either axis."""
    flat = places.reshape(-1, 2)
    low, size = flat.min(0), np.ptp(flat, axis=0)
    return np.asarray((places - low) / np.where(size > 0, size, 1.0), np.float64)
