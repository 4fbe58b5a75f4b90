"""What pooling word vectors takes: the tokens of texts as numbers, word frequencies, and sums of rows.

The functions that pool do so many times at once. Each takes a matrix (m, d) and, for n results, ``columns``, the rows
to be pooled, result after result, and ``lengths`` (n,), how many of them each result has. It returns an array (n, d) in
double precision, zero where there is nothing to pool. No result depends on the others, to the last bit.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.reader import read_lines
from sentprobe.core.words import split_punctuation
from sentprobe.errors import CorpusError, DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GATHERED_ROWS = 1 << 15
"""Rows copied at a time."""


def number_tokens(texts: Sequence[str], tokenise: str) -> tuple[list[str], Ints, Ints]:
    """The distinct tokens of texts, all tokens as numbers of these, and how many tokens each text has.

    ``tokenise`` is ``space``, at white space, or ``simple``, with punctuation split off words as well.
    """
    flat: list[str] = []
    lengths = np.zeros(len(texts), np.int64)
    for i, text in enumerate(texts):
        words = text.split()
        lengths[i] = len(words)
        flat += words
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    columns = np.fromiter(map(numbers.__getitem__, flat), np.int64, len(flat))
    if tokenise == "space":
        return list(numbers), columns, lengths
    # split every word once, then replace its number by those of its parts
    parts = [split_punctuation(word) for word in numbers]
    numbers.clear()
    inner = np.fromiter(map(numbers.__getitem__, chain.from_iterable(parts)), np.int64)
    sizes = np.fromiter(map(len, parts), np.int64, len(parts))
    part_counts = sizes[columns]
    ends = np.concatenate(([0], np.cumsum(part_counts)))
    positions = np.arange(ends[-1]) + np.repeat((np.cumsum(sizes) - sizes)[columns] - ends[:-1], part_counts)
    return list(numbers), inner[positions], np.diff(ends[np.concatenate(([0], np.cumsum(lengths)))])


@dataclass(frozen=True)
class Frequencies:
    """The relative frequency p of every word in a corpus."""

    share: Mapping[str, float]
    digest: str


def read_frequencies(path: str) -> Frequencies:
    """Read lines of a word and its count."""
    counts: dict[str, float] = {}
    for number, line in read_lines(str(Path(path).expanduser())):
        word, _, count = line.rstrip().rpartition(" ")
        try:
            value = float(count)
        except ValueError:
            value = -1.0
        if not word or not 0 <= value < math.inf:
            raise CorpusError(path, number, repr(line.rstrip()[-40:]), "a word, a space and its count")
        counts.setdefault(word, value)
    if not (total := sum(counts.values())) > 0:
        raise DataError(f"{path} has no counts above 0; expected lines of a word, a space and its count.")
    state = hashlib.blake2b(digest_size=16)
    for word in sorted(counts):
        state.update(f"{word} {counts[word]!r}\n".encode())
    return Frequencies({word: count / total for word, count in counts.items()}, state.hexdigest())


def sum_rows(matrix: NDArray[Any], columns: Ints, lengths: Ints, weights: Floats | None = None) -> Floats:
    """Sums (n, d), weighted by ``weights``, one for each column: a product with a sparse matrix."""
    from scipy.sparse import csr_array

    weights = np.ones(len(columns)) if weights is None else weights
    ends = np.concatenate(([0], np.cumsum(lengths)))
    sums: Floats = csr_array((weights, columns, ends), shape=(len(lengths), len(matrix))) @ matrix
    return sums


def max_rows(matrix: NDArray[Any], columns: Ints, lengths: Ints) -> Floats:
    """The largest number in each dimension, (n, d)."""
    maxima = np.zeros((len(lengths), matrix.shape[1]))
    filled = np.flatnonzero(lengths)
    ends = np.cumsum(lengths)[filled]
    begins = ends - lengths[filled]
    done = 0
    while done < len(filled):
        # as many results as fit, but at least one, of which every row is needed only once
        stop = max(done + 1, int(np.searchsorted(ends, begins[done] + GATHERED_ROWS, "right")))
        block_columns = columns[begins[done] : ends[stop - 1]]
        rows = matrix[np.unique(block_columns) if stop == done + 1 else block_columns]
        maxima[filled[done:stop]] = np.maximum.reduceat(rows, begins[done:stop] - begins[done], axis=0)
        done = stop
    return maxima


def positional_rows(matrix: NDArray[Any], columns: Ints, lengths: Ints) -> Floats:
    """Sums weighted by (1 - j/J) - (k/d) (1 - 2j/J) for the j-th row of J and the k-th dimension of d.

    Only the second term of the weight depends on the dimension, so that two plain sums suffice.
    """
    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
    share = (np.arange(1, len(columns) + 1) - begins) / np.repeat(lengths, lengths)
    d = matrix.shape[1]
    falling = sum_rows(matrix, columns, lengths, 1 - share)
    turning = sum_rows(matrix, columns, lengths, 1 - 2 * share)
    sums: Floats = falling - np.arange(1, d + 1) / d * turning
    return sums
