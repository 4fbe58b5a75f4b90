"""The tokens of many texts at once, as numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.words import split_punctuation


def number_tokens(texts: Sequence[str], tokenise: str) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
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
    many = sizes[columns]
    ends = np.concatenate(([0], np.cumsum(many)))
    places = np.arange(ends[-1]) + np.repeat((np.cumsum(sizes) - sizes)[columns] - ends[:-1], many)
    return list(numbers), inner[places], np.diff(ends[np.concatenate(([0], np.cumsum(lengths)))])
