"""Multinomial naive Bayes on tf-idf weights of words, or of words and bigrams; the words of a set are read once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from sentprobe.audit.bayes import Bayes
from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import Splits, splits_of
from sentprobe.errors import UsageError
from sentprobe.tasks import Example

ALPHAS = (1.0, 0.01, 0.1, 10.0, 100.0)
"""Additive smoothing. The first is used if there are no dev rows, or if all are equally good."""

T = TypeVar("T")
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

    def __init__(self, splits: Splits) -> None:
        self.splits, self.vocabulary = splits, Vocabulary(splits.train.requested_inputs)

    @cached_property
    def words(self) -> tuple[Words, Words, Words]:
        """The words of train, dev and test."""
        splits = self.splits
        train, dev, test = (self.vocabulary.read(rows.examples) for rows in (splits.train, splits.dev, splits.test))
        return train, dev, test

    def counts(self, pairs: bool) -> tuple[NGrams, list[sparse.csr_array]]:
        """The features, and how often each row of train, dev and test has each of them."""
        train, *others = self.words
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


def choose(grid: Sequence[float], predict: Callable[[float, T], np.ndarray], splits: Splits, dev: T) -> float:
    """The setting with the highest accuracy on dev; the first if several are best, or if there are no dev rows."""
    if not len(splits.dev):
        return grid[0]
    correct = [int((predict(setting, dev) == splits.dev.labels).sum()) for setting in grid]
    return grid[correct.index(max(correct))]


@dataclass(frozen=True)
class Learned:
    """A trained naive Bayes classifier."""

    ngrams: NGrams
    bayes: Bayes
    test: sparse.csr_array
    """tf-idf weights of the test rows (rows, features)."""
    alpha: float


def _learn(words: SetWords, pairs: bool) -> Learned:
    splits = words.splits
    ngrams, counts = words.counts(pairs)
    train, dev, test = _weighed(counts)
    bayes = Bayes.of(train, splits.train.labels, len(splits.labels))
    alpha = choose(ALPHAS, lambda alpha, weights: bayes.predict(weights, alpha), splits, dev)
    return Learned(ngrams, bayes, test, alpha)


def bayes_curve(splits: Splits, subsets: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Which test rows nb-uni has right if trained on subsets of train, given by their indices; one array per subset.

    All of dev is used for smoothing. Words are counted once; trained on all rows, this is the baseline.
    """
    _, (train, dev, test) = SetWords(splits).counts(pairs=False)
    for subset in subsets:
        vocabulary = np.unique(train[subset].indices)
        some, some_dev, some_test = _weighed([counts[:, vocabulary] for counts in (train[subset], dev, test)])
        bayes = Bayes.of(some, splits.train.labels[subset], len(splits.labels))

        def predict(alpha: float, weights: sparse.csr_array, bayes: Bayes = bayes) -> np.ndarray:
            return bayes.predict(weights, alpha)

        yield predict(choose(ALPHAS, predict, splits, some_dev), some_test) == splits.test.labels


def predict_by_words(words: SetWords, *, pairs: bool) -> tuple[np.ndarray, dict[str, object]]:
    """The predictions of naive Bayes on the test rows, and its settings."""
    learned = _learn(words, pairs)
    train = words.splits.train
    columns = {name for row in train.examples for name, _ in row.extra} if train.requested_inputs else set()
    settings: dict[str, object] = {
        "alpha": learned.alpha, "ngrams": [1, 2] if pairs else [1], "lower_case": True,
        "inputs": [name for name in train.requested_inputs if name in columns], "features": len(learned.ngrams),
    }  # fmt: skip
    return learned.bayes.predict(learned.test, learned.alpha), settings


def top_features(dataset: Dataset, name: str = "nb-uni", top: int = 10) -> dict[str, list[tuple[str, float]]]:
    """The most indicative features of each label for naive Bayes: up to ``top``, with their log-odds, highest first.

    The log-odds of a feature are ln p(feature | label) - ln p(feature | any other label), smoothed as the baseline is.
    Features are lower-cased words, and for ``nb-bi`` also bigrams, joined by a space; those of a further input are
    prefixed with its name and a tab.
    """
    if name not in ("nb-uni", "nb-bi"):
        raise UsageError(f"Expected nb-uni or nb-bi, got {name!r}, which has no features.")
    splits = splits_of(dataset, hold_out_dev=False)
    splits.check_trainable(f"the baseline {name}")
    words = SetWords(splits)
    learned = _learn(words, name == "nb-bi")
    weights, alpha = learned.bayes.counts, learned.alpha
    width = weights.shape[1]
    all_weights = np.asarray(weights.sum(axis=0)).ravel()
    total, features = all_weights.sum(), list(learned.ngrams.names(words.vocabulary))
    top_of: dict[str, list[tuple[str, float]]] = {}
    for i, label in enumerate(splits.labels):
        occurring = weights.indices[
            weights.indptr[i] : weights.indptr[i + 1]
        ]  # other features do not occur with the label
        weight = weights.data[weights.indptr[i] : weights.indptr[i + 1]]
        others = np.maximum(all_weights[occurring] - weight, 0.0)
        odds = np.log((weight + alpha) / (weight.sum() + alpha * width))
        odds -= np.log((others + alpha) / (total - weight.sum() + alpha * width))
        best = sorted(zip((-odds).tolist(), [features[j] for j in occurring.tolist()], strict=True))[:top]
        top_of[label] = [(feature, -odd) for odd, feature in best if odd < -1e-9]  # anything less may be rounding
    return top_of


def _weighed(counts: Sequence[sparse.csr_array]) -> list[sparse.csr_array]:
    """Counts of train and of other rows times the rarity in train, each row of length 1: scikit-learn's tf-idf."""
    train = counts[0]
    rarity = np.log((1 + train.shape[0]) / (1 + np.bincount(train.indices, minlength=train.shape[1]))) + 1
    return [_weigh(each, rarity) for each in counts]


def _weigh(counts: sparse.csr_array, rarity: np.ndarray) -> sparse.csr_array:
    data = counts.data * rarity[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
    return sparse.csr_array((data / norm[row], counts.indices, counts.indptr), shape=counts.shape)
