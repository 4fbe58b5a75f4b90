"""Test rows in bins by length, or by how frequent their target form or word is, and how many of each are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sentprobe.report.types import Bin
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example

MAX_BINS = 8
"""Maximum number of bins."""
MIN_BIN_ROWS = 20
"""Rows that a bin should have: with fewer, its interval is more than 40 points wide."""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bins:
    """Rows grouped by a number that they have."""

    of_row: Ints
    """The bin of each row (n); -1 for a row without a number."""
    ends: Sequence[tuple[int, int]]
    """The lowest and highest number of each bin."""
    forms: Sequence[int | None]
    """How many target forms are in each bin; None for bins by length."""


def by_target(rows: Sequence[Example]) -> Bins | None:
    """Rows by how many test rows have the same target form; None where the set has no target forms."""
    keys = [row.key for row in rows]
    times = Counter(key for key in keys if key is not None)
    if not times:
        return None
    of_row, ends = _bins([-1 if key is None else times[key] for key in keys])
    named = Counter(place for _, place in set(zip(keys, of_row.tolist(), strict=True)) if place >= 0)
    return Bins(of_row, ends, [named[place] for place in range(len(ends))])


def by_length(rows: Sequence[Example], inputs: Sequence[str]) -> Bins:
    """Rows by the number of tokens of their sentences."""
    of_row, ends = _bins(_lengths(rows, inputs))
    return Bins(of_row, ends, [None] * len(ends))


def by_rank(ranks: Sequence[int]) -> Bins:
    """Rows by the frequency rank of their word, which is 1 for the most frequent."""
    of_row, ends = _bins(ranks)
    return Bins(of_row, ends, [None] * len(ends))


def _lengths(rows: Sequence[Example], inputs: Sequence[str]) -> list[int]:
    """The tokens of each row's sentences; inputs that are single words do not count."""
    lengths = [len(row.tokens) for row in rows]
    for name in inputs:
        words = [len(dict(row.extra).get(name, "").split()) for row in rows]
        if max(words, default=0) > 1:
            lengths = [a + b for a, b in zip(lengths, words, strict=True)]
    return lengths


def _bins(numbers: Sequence[int]) -> tuple[Ints, list[tuple[int, int]]]:
    """The bin of each row (n), and the ends of the bins, which have about as many rows each.

    Rows with the same number are in one bin, those with -1 in none.
    """
    values = np.array(numbers, np.int64)
    there = values >= 0
    distinct, places, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    many = max(1, min(MAX_BINS, int(there.sum()) // MIN_BIN_ROWS))
    # the bin that the middle row of those with the same number would be in
    middle = (counts.cumsum() - counts / 2) / max(1, int(counts.sum()))
    number = np.unique((middle * many).astype(np.int64), return_inverse=True)[1]
    of_row = np.full(len(values), -1, np.int64)
    of_row[there] = number[places]
    own = [distinct[number == i] for i in range(number.max(initial=-1) + 1)]
    return of_row, [(int(some[0]), int(some[-1])) for some in own]


def tally(bins: Bins, right: Flags) -> tuple[Bin, ...]:
    """How many rows of each bin are right, given which rows (n) are."""
    sizes, hits = (np.bincount(bins.of_row + 1, rows, len(bins.ends) + 1)[1:] for rows in (None, right))
    found = []
    for (low, high), forms, n, k in zip(bins.ends, bins.forms, map(int, sizes), map(int, hits), strict=True):
        below, above = wilson(k, n)
        found.append(Bin(low=low, high=high, n=n, correct=k, below=below, above=above, forms=forms))
    return tuple(found)
