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

from sentprobe.audit.naive_bayes import Bayes
from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import Splits, splits_of
from sentprobe.errors import UsageError
from sentprobe.tasks import Example

ALPHAS = (1.0, 0.01, 0.1, 10.0, 100.0)
"""Additive smoothing. The first is used if there are no dev rows, or if all are equally good."""

T = TypeVar("T")
Ints = npt.NDArray[np.int64]
RawToken = str | tuple[str, str]
"""A token, or the name of a further input and its text: either may have several words, or none."""


@dataclass(frozen=True)
class RowWords:
    """The lower-cased words of rows, text after text; those of further inputs are prefixed with a name and a tab."""

    numbers: Ints
    """The number of each word in the vocabulary."""
    starts: Ints
    """Where each text starts and ends in these, (texts + 1,)."""
    rows: Ints
    """Where the texts of each row start and end, (rows + 1,)."""


@dataclass(frozen=True)
class WordNumbers:
    """Numbers of words, in the order in which these are first seen."""

    inputs: tuple[str, ...]
    """The further inputs whose words are counted."""
    numbers: dict[str, int] = field(default_factory=dict)
    _tokens: dict[RawToken, int] = field(default_factory=dict)
    _words_of: list[list[int]] = field(default_factory=list)
    """The numbers of the words of each token."""

    def read(self, rows: Sequence[Example]) -> RowWords:
        """The words of rows; each distinct token is looked at once."""
        texts = [self._texts(row) for row in rows] if self.inputs else [(row.tokens,) for row in rows]
        flat_texts: list[Sequence[RawToken]] = list(chain.from_iterable(texts))
        flat_tokens = list(chain.from_iterable(flat_texts))
        for token in dict.fromkeys(flat_tokens):
            if token not in self._tokens:
                self._tokens[token] = len(self._tokens)
                self._words_of.append([self.numbers.setdefault(word, len(self.numbers)) for word in _words(token)])
        tokens = np.fromiter(map(self._tokens.__getitem__, flat_tokens), np.int64, len(flat_tokens))
        sizes = np.fromiter(map(len, self._words_of), np.int64, len(self._words_of))
        starts = _ends(sizes[tokens])[_ends(map(len, flat_texts))]
        return RowWords(self._expanded(tokens, sizes), starts, _ends(map(len, texts)))

    def _texts(self, row: Example) -> list[Sequence[RawToken]]:
        return [row.tokens, *([(name, text)] for name, text in row.extra if name in self.inputs)]

    def _expanded(self, tokens: Ints, sizes: Ints) -> Ints:
        """The words of tokens, one after the other; ``sizes`` are the numbers of words of all distinct tokens."""
        words = np.fromiter(chain.from_iterable(self._words_of), np.int64, int(sizes.sum()))
        return words[_ranges(_ends(sizes)[tokens], sizes[tokens])]


def _words(token: RawToken) -> list[str]:
    prefix, text = ("", token) if isinstance(token, str) else (f"{token[0]}\t", token[1])
    return [prefix + word for word in text.lower().split(" ") if word]


def _ends(sizes: Iterable[int] | Ints) -> Ints:
    """Where things of these sizes start and end in line, (n + 1,)."""
    array = sizes if isinstance(sizes, np.ndarray) else np.array([*sizes], np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(array, dtype=np.int64)])


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """start, start + 1, … of each range, one range after the other."""
    ends = np.cumsum(sizes)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(starts - ends + sizes, sizes)


class SetWords:
    """The words of the rows of a set, read when they are first needed."""

    def __init__(self, splits: Splits) -> None:
        self.splits, self.vocabulary = splits, WordNumbers(splits.train.requested_inputs)

    @cached_property
    def words(self) -> tuple[RowWords, RowWords, RowWords]:
        """The words of train, dev and test."""
        splits = self.splits
        train, dev, test = (self.vocabulary.read(rows.examples) for rows in (splits.train, splits.dev, splits.test))
        return train, dev, test

    def counts(self, pairs: bool) -> tuple[NGrams, list[sparse.csr_array]]:
        """The features, and how often each row of train, dev and test has each of them."""
        train, dev, test = self.words
        ngrams, train_counts = NGrams.of(train, pairs, len(self.vocabulary.numbers))
        return ngrams, [train_counts, ngrams.counts(dev), ngrams.counts(test)]


@dataclass(frozen=True)
class NGrams:
    """Words, or words and bigrams, as columns of a matrix, in the order in which they are first seen in train."""

    pairs: bool
    base: int
    """The number of all words: a bigram of words a and b is the feature base + base * a + b."""
    features: Ints
    """The features, sorted."""
    columns: Ints
    """The column of each of them."""

    @classmethod
    def of(cls, train: RowWords, pairs: bool, base: int) -> tuple[NGrams, sparse.csr_array]:
        """The features of the training rows, which must be the first rows that were read; and their counts."""
        occurrences, starts = _features(train, pairs, base)
        if not pairs:  # words are numbered as they are first seen
            features = np.arange(int(occurrences.max(initial=-1)) + 1)
            return cls(pairs, base, features, features), _matrix(occurrences, starts, len(features))
        features, first, index = np.unique(occurrences, return_index=True, return_inverse=True)
        columns = np.empty(len(features), np.int64)
        columns[np.argsort(first)] = np.arange(len(features))
        return cls(pairs, base, features, columns), _matrix(columns[index], starts, len(features))

    def __len__(self) -> int:
        return len(self.features)

    def counts(self, words: RowWords) -> sparse.csr_array:
        """How often each feature occurs in each row, (rows, features); unknown features are left out."""
        occurrences, starts = _features(words, self.pairs, self.base)
        index = np.searchsorted(self.features, occurrences)
        in_train = np.append(self.features, -1)[index] == occurrences
        return _matrix(self.columns[index[in_train]], _ends(in_train)[starts], len(self))

    def names(self, vocabulary: WordNumbers) -> Iterator[str]:
        """The features by column; the words of a bigram are joined by a space."""
        words = list(vocabulary.numbers)
        for feature in self.features[np.argsort(self.columns)].tolist():
            a, b = divmod(feature - self.base, self.base)
            yield words[feature] if feature < self.base else f"{words[a]} {words[b]}"


def _matrix(columns: Ints, starts: Ints, width: int) -> sparse.csr_array:
    """Counts (rows, features) of features in line, given where those of each row start and end."""
    cells = (np.ones(len(columns)), columns.astype(np.int32), starts)
    matrix = sparse.csr_array(cells, shape=(len(starts) - 1, max(1, width)))
    matrix.sum_duplicates()
    return matrix


def _features(words: RowWords, pairs: bool, base: int) -> tuple[Ints, Ints]:
    """The features of each text, words before bigrams; and where those of each row start and end, (rows + 1,)."""
    if not pairs:
        return words.numbers, words.starts[words.rows]
    sizes = np.diff(words.starts)
    bigrams = np.maximum(sizes - 1, 0)
    starts = _ends(sizes + bigrams)
    features = np.empty(int(starts[-1]), np.int64)
    features[_ranges(starts[:-1], sizes)] = words.numbers
    first = _ranges(words.starts[:-1], bigrams)  # the first word of each bigram
    features[_ranges(starts[:-1] + sizes, bigrams)] = base + base * words.numbers[first] + words.numbers[first + 1]
    return features, starts[words.rows]


def choose(grid: Sequence[float], predict: Callable[[float, T], np.ndarray], splits: Splits, dev: T) -> float:
    """The setting with the highest accuracy on dev; the first if several are best, or if there are no dev rows."""
    if not len(splits.dev):
        return grid[0]
    correct = [int((predict(setting, dev) == splits.dev.labels).sum()) for setting in grid]
    return grid[correct.index(max(correct))]


@dataclass(frozen=True)
class TrainedBayes:
    """A trained naive Bayes classifier, and the test rows as it reads them."""

    ngrams: NGrams
    bayes: Bayes
    test: sparse.csr_array
    """tf-idf weights of the test rows (rows, features)."""
    alpha: float


def _train(words: SetWords, pairs: bool) -> TrainedBayes:
    splits = words.splits
    ngrams, counts = words.counts(pairs)
    train, dev, test = _tfidf(counts)
    bayes = Bayes.of(train, splits.train.labels, len(splits.labels))
    alpha = choose(ALPHAS, lambda alpha, weights: bayes.predict(weights, alpha), splits, dev)
    return TrainedBayes(ngrams, bayes, test, alpha)


def bayes_curve(splits: Splits, subsets: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Which test rows (n,) nb-uni has right if trained on subsets of train, given by their indices; one array each.

    All of dev is used for smoothing. Words are counted once; trained on all rows, this is the baseline.
    """
    for bayes, (dev, test) in _trained_on_subsets(SetWords(splits), False, subsets):

        def predict(alpha: float, weights: sparse.csr_array, bayes: Bayes = bayes) -> np.ndarray:
            return bayes.predict(weights, alpha)

        yield predict(choose(ALPHAS, predict, splits, dev), test) == splits.test.labels


def _trained_on_subsets(
    words: SetWords, pairs: bool, subsets: Iterable[np.ndarray]
) -> Iterator[tuple[Bayes, list[sparse.csr_array]]]:
    """Naive Bayes trained on subsets of train, with dev and test as it reads them."""
    splits = words.splits
    _, (train, dev, test) = words.counts(pairs)
    for subset in subsets:
        vocabulary = np.unique(train[subset].indices)
        weights, *tested = _tfidf([counts[:, vocabulary] for counts in (train[subset], dev, test)])
        yield Bayes.of(weights, splits.train.labels[subset], len(splits.labels)), tested


def retrain_by_words(
    words: SetWords, subsets: Iterable[np.ndarray], *, pairs: bool
) -> tuple[np.ndarray, np.ndarray, Iterator[np.ndarray]]:
    """Predictions for dev and test (alphas, n) with each smoothing, and for test (n,) trained on subsets of train.

    A subset is smoothed as dev chooses for all rows.
    """
    trained = _train(words, pairs)
    _, dev, test = _tfidf(words.counts(pairs)[1])
    on_dev, on_test = (np.array([trained.bayes.predict(rows, alpha) for alpha in ALPHAS]) for rows in (dev, test))
    refits = (
        bayes.predict(test_weights, trained.alpha)
        for bayes, (_, test_weights) in _trained_on_subsets(words, pairs, subsets)
    )
    return on_dev, on_test, refits


def predict_by_words(words: SetWords, *, pairs: bool) -> tuple[np.ndarray, dict[str, object]]:
    """The predictions (n,) of naive Bayes on the test rows, and its settings."""
    trained = _train(words, pairs)
    train = words.splits.train
    columns = {name for row in train.examples for name, _ in row.extra} if train.requested_inputs else set()
    settings: dict[str, object] = {
        "alpha": trained.alpha,
        "ngrams": [1, 2] if pairs else [1],
        "lower_case": True,
        "inputs": [name for name in train.requested_inputs if name in columns],
        "features": len(trained.ngrams),
    }
    return trained.bayes.predict(trained.test, trained.alpha), settings


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
    trained = _train(words, name == "nb-bi")
    weights, alpha = trained.bayes.counts, trained.alpha
    width = weights.shape[1]
    all_weights = np.asarray(weights.sum(axis=0)).ravel()
    total, features = all_weights.sum(), list(trained.ngrams.names(words.vocabulary))
    top_of: dict[str, list[tuple[str, float]]] = {}
    for i, label in enumerate(splits.labels):
        row = slice(weights.indptr[i], weights.indptr[i + 1])
        occurring, weight = weights.indices[row], weights.data[row]  # features that occur with the label
        elsewhere = np.maximum(all_weights[occurring] - weight, 0.0)  # the difference may be negative by rounding
        odds = np.log((weight + alpha) / (weight.sum() + alpha * width))
        odds -= np.log((elsewhere + alpha) / (total - weight.sum() + alpha * width))
        best = sorted(zip((-odds).tolist(), [features[j] for j in occurring.tolist()], strict=True))[:top]
        top_of[label] = [(feature, -odd) for odd, feature in best if odd < -1e-9]  # anything less may be rounding
    return top_of


def _tfidf(counts_by_split: Sequence[sparse.csr_array]) -> list[sparse.csr_array]:
    """scikit-learn's tf-idf weights of counts (rows, features), with the document frequencies of the first split."""
    train = counts_by_split[0]
    idf = np.log((1 + train.shape[0]) / (1 + np.bincount(train.indices, minlength=train.shape[1]))) + 1
    return [_weighted(counts, idf) for counts in counts_by_split]


def _weighted(counts: sparse.csr_array, idf: np.ndarray) -> sparse.csr_array:
    """Counts (rows, features) times idf (features,), each row of length 1."""
    data = counts.data * idf[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
    return sparse.csr_array((data / norm[row], counts.indices, counts.indptr), shape=counts.shape)
