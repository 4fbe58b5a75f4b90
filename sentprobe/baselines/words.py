"""The words and bigrams of rows as numbers, counted once for all baselines of a set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sentprobe.baselines.parts import Parts
from sentprobe.task import Example

Ints = npt.NDArray[np.int64]
Unit = str | tuple[str, str]
"""A token, or the name of a further input and its text."""


@dataclass(frozen=True)
class Words:
    """The lower-cased words of rows, text after text; those of further inputs are prefixed with a name and a tab."""

    numbers: Ints
    """The number of each word in the vocabulary."""
    starts: Ints
    """Where each text starts and ends in these, (texts + 1,)."""
    rows: Ints
    """Where the texts of each row start and end, (rows + 1,)."""


@dataclass(frozen=True)
class Vocabulary:
    """Numbers of words, in the order in which these are first seen."""

    inputs: tuple[str, ...]
    """The further inputs whose words are counted."""
    numbers: dict[str, int] = field(default_factory=dict)
    _units: dict[Unit, int] = field(default_factory=dict)
    _of_unit: list[list[int]] = field(default_factory=list)
    """The words of each unit."""

    def read(self, rows: Sequence[Example]) -> Words:
        """The words of rows; each distinct token is looked at once."""
        texts = [self._texts(row) for row in rows] if self.inputs else [(row.tokens,) for row in rows]
        every: list[Sequence[Unit]] = list(chain.from_iterable(texts))
        flat = list(chain.from_iterable(every))
        for unit in dict.fromkeys(flat):
            if unit not in self._units:
                self._units[unit] = len(self._units)
                words = _words(unit)
                self._of_unit.append([self.numbers.setdefault(word, len(self.numbers)) for word in words])
        units = np.fromiter(map(self._units.__getitem__, flat), np.int64, len(flat))
        sizes = np.fromiter(map(len, self._of_unit), np.int64, len(self._of_unit))
        starts = _ends(sizes[units])[_ends(map(len, every))]
        return Words(self._expanded(units, sizes), starts, _ends(map(len, texts)))

    def _texts(self, row: Example) -> list[Sequence[Unit]]:
        return [row.tokens, *([(name, text)] for name, text in row.extra if name in self.inputs)]

    def _expanded(self, units: Ints, sizes: Ints) -> Ints:
        """The words of units, one after the other."""
        words = np.fromiter(chain.from_iterable(self._of_unit), np.int64, int(sizes.sum()))
        return words[_ranges(_ends(sizes)[units], sizes[units])]


def _words(unit: Unit) -> list[str]:
    mark, text = ("", unit) if isinstance(unit, str) else (f"{unit[0]}\t", unit[1])
    return [mark + word for word in text.lower().split(" ") if word]


def _ends(sizes: Iterable[int] | Ints) -> Ints:
    """Where things of these sizes start and end in line, (n + 1,)."""
    known = sizes if isinstance(sizes, np.ndarray) else np.array([*sizes], np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(known, dtype=np.int64)])


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """start, start + 1, … of each range, one range after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)


class SetWords:
    """The words of the rows of a set, read when they are first needed."""

    def __init__(self, parts: Parts, inputs: tuple[str, ...]) -> None:
        self.parts, self.inputs, self.vocabulary = parts, inputs, Vocabulary(inputs)

    @cached_property
    def three(self) -> tuple[Words, Words, Words]:
        """The words of train, of the rows to choose settings on, and of test."""
        train, choose, test = (self.vocabulary.read(r) for r in (self.parts.train, self.parts.choose, self.parts.test))
        return train, choose, test

    def counts(self, pairs: bool) -> tuple[NGrams, list[sparse.csr_array]]:
        """The features, and how often each row of train, the rows to choose on, and test has each of them."""
        train, *others = self.three
        ngrams, first = NGrams.of(train, pairs, len(self.vocabulary.numbers))
        return ngrams, [first, *map(ngrams.counts, others)]


@dataclass(frozen=True)
class NGrams:
    """Words, or words and bigrams, as columns of a matrix, in the order in which they are first seen in train."""

    pairs: bool
    base: int
    """The number of all words: a bigram of words a and b is the feature base + base * a + b."""
    known: Ints
    """The features, sorted."""
    columns: Ints
    """The column of each of them."""

    @classmethod
    def of(cls, train: Words, pairs: bool, base: int) -> tuple[NGrams, sparse.csr_array]:
        """The features of the training rows, which must be the first rows that were read; and their counts."""
        found, starts = _features(train, pairs, base)
        if not pairs:  # words are numbered as they are first seen
            known = np.arange(int(found.max(initial=-1)) + 1)
            return cls(pairs, base, known, known), _matrix(found, starts, len(known))
        known, first, places = np.unique(found, return_index=True, return_inverse=True)
        columns = np.empty(len(known), np.int64)
        columns[np.argsort(first)] = np.arange(len(known))
        return cls(pairs, base, known, columns), _matrix(columns[places], starts, len(known))

    def __len__(self) -> int:
        return len(self.known)

    def counts(self, words: Words) -> sparse.csr_array:
        """How often each feature occurs in each row, (rows, features); unknown features are left out."""
        found, starts = _features(words, self.pairs, self.base)
        places = np.searchsorted(self.known, found)
        same = np.append(self.known, -1)[places] == found
        return _matrix(self.columns[places[same]], _ends(same)[starts], len(self))

    def names(self, vocabulary: Vocabulary) -> Iterator[str]:
        """The features by column; the words of a bigram are joined by a space."""
        words = list(vocabulary.numbers)
        for feature in self.known[np.argsort(self.columns)].tolist():
            a, b = divmod(feature - self.base, self.base)
            yield words[feature] if feature < self.base else f"{words[a]} {words[b]}"


def _matrix(columns: Ints, starts: Ints, width: int) -> sparse.csr_array:
    """Counts (rows, features) of features in line, given where those of each row start and end."""
    cells = (np.ones(len(columns)), columns.astype(np.int32), starts)
    matrix = sparse.csr_array(cells, shape=(len(starts) - 1, max(1, width)))
    matrix.sum_duplicates()
    return matrix


def _features(words: Words, pairs: bool, base: int) -> tuple[Ints, Ints]:
    """The features of each text, words before bigrams; and where those of each row start and end."""
    if not pairs:
        return words.numbers, words.starts[words.rows]
    sizes = np.diff(words.starts)
    extra = np.maximum(sizes - 1, 0)
    starts = _ends(sizes + extra)
    found = np.empty(int(starts[-1]), np.int64)
    found[_ranges(starts[:-1], sizes)] = words.numbers
    first = _ranges(words.starts[:-1], extra)  # the first word of each bigram
    found[_ranges(starts[:-1] + sizes, extra)] = base + base * words.numbers[first] + words.numbers[first + 1]
    return found, starts[words.rows]
