"""Multinomial naive Bayes on tf-idf weights of words, or of words and bigrams."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from sonde.audit.bayes import predict
from sonde.baselines.parts import Parts, choose, parts_of
from sonde.data.dataset import Dataset
from sonde.data.expected import expectations_for
from sonde.errors import UsageError
from sonde.task import Example

ALPHAS = (1.0, 0.01, 0.1, 10.0, 100.0)
"""Additive smoothing. The first is used if there are no dev rows, or if all are equally good."""


@dataclass(frozen=True)
class Learned:
    """A trained naive Bayes classifier."""

    ids: dict[str, int]
    """The index of each feature."""
    train: sparse.csr_array
    """tf-idf weights (rows, features)."""
    label: np.ndarray
    test: sparse.csr_array
    alpha: float


def _learn(parts: Parts, inputs: tuple[str, ...], pairs: bool) -> Learned:
    ids: dict[str, int] = {}
    counts = _counts(parts.train, ids, inputs, pairs, grow=True)
    document_counts = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log((1 + len(parts.train)) / (1 + document_counts)) + 1
    train, label = _weighed(counts, rarity), parts.numbers(parts.train)
    dev, test = (_weighed(_counts(rows, ids, inputs, pairs), rarity) for rows in (parts.choose, parts.test))

    def guess(alpha: float, given: sparse.csr_array) -> np.ndarray:
        return predict(train, label, given, len(parts.labels), alpha)

    return Learned(ids, train, label, test, choose(ALPHAS, guess, parts, dev))


def bayes_curve(dataset: Dataset, subsets: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Which test rows nb-uni has right if trained on subsets of train, given by their indices; one array per subset.

    All of dev is used for smoothing. Words are counted once; trained on all rows, this is the baseline.
    """
    parts, inputs = parts_of(dataset), expectations_for(dataset).inputs
    ids: dict[str, int] = {}
    train = _counts(parts.train, ids, inputs, pairs=False, grow=True)
    dev, test = (_counts(rows, ids, inputs, pairs=False) for rows in (parts.choose, parts.test))
    labels, truth = parts.numbers(parts.train), parts.numbers(parts.test)
    for subset in subsets:
        some = train[subset]
        seen = np.unique(some.indices)  # the vocabulary of the subset
        own, own_dev, own_test = (counts[:, seen] for counts in (some, dev, test))
        rarity = np.log((1 + len(subset)) / (1 + np.bincount(own.indices, minlength=len(seen)))) + 1
        weights, label = _weighed(own, rarity), labels[subset]

        def guess(
            alpha: float, given: sparse.csr_array, weights: sparse.csr_array = weights, label: np.ndarray = label
        ) -> np.ndarray:
            return predict(weights, label, given, len(parts.labels), alpha)

        alpha = choose(ALPHAS, guess, parts, _weighed(own_dev, rarity))
        yield guess(alpha, _weighed(own_test, rarity)) == truth


def predict_by_words(parts: Parts, inputs: tuple[str, ...], *, pairs: bool) -> tuple[np.ndarray, dict[str, object]]:
    """The predictions of naive Bayes on the test rows, and its settings."""
    learned = _learn(parts, inputs, pairs)
    columns = {name for row in parts.train for name, _ in row.extra}
    settings: dict[str, object] = {
        "alpha": learned.alpha, "ngrams": [1, 2] if pairs else [1], "lower_case": True,
        "inputs": [name for name in inputs if name in columns], "features": len(learned.ids),
    }  # fmt: skip
    return predict(learned.train, learned.label, learned.test, len(parts.labels), learned.alpha), settings


def top_features(dataset: Dataset, name: str = "nb-uni", top: int = 10) -> dict[str, list[tuple[str, float]]]:
    """The most indicative features of each label for naive Bayes: up to ``top``, with their log-odds, highest first.

    The log-odds of a feature are ln p(feature | label) - ln p(feature | any other label), smoothed as the baseline is.
    Features are lower-cased words, and for ``nb-bi`` also bigrams, joined by a space; those of a further input are
    prefixed with its name and a tab.
    """
    if name not in ("nb-uni", "nb-bi"):
        raise UsageError(f"Expected nb-uni or nb-bi, got {name!r}, which has no features.")
    parts = parts_of(dataset)
    learned = _learn(parts, expectations_for(dataset).inputs, name == "nb-bi")
    n, width, alpha = len(learned.label), learned.train.shape[1], learned.alpha
    owner = sparse.csr_array((np.ones(n), (learned.label, np.arange(n))), shape=(len(parts.labels), n))
    weights = (owner @ learned.train).tocsr()
    all_weights = np.asarray(weights.sum(axis=0)).ravel()
    total, features = all_weights.sum(), list(learned.ids)
    found: dict[str, list[tuple[str, float]]] = {}
    for i, label in enumerate(parts.labels):
        here = weights.indices[weights.indptr[i] : weights.indptr[i + 1]]  # other features do not occur with the label
        mine = weights.data[weights.indptr[i] : weights.indptr[i + 1]]
        rest = np.maximum(all_weights[here] - mine, 0.0)
        odds = np.log((mine + alpha) / (mine.sum() + alpha * width))
        odds -= np.log((rest + alpha) / (total - mine.sum() + alpha * width))
        best = sorted(zip((-odds).tolist(), [features[j] for j in here.tolist()], strict=True))[:top]
        found[label] = [(feature, -odd) for odd, feature in best if odd < -1e-9]  # anything less may be rounding
    return found


def _features(row: Example, inputs: tuple[str, ...], pairs: bool) -> Iterator[str]:
    """Lower-cased words, bigrams joined by a space, and those of further inputs, prefixed with a name and a tab."""
    texts = [("", " ".join(row.tokens)), *((f"{name}\t", text) for name, text in row.extra if name in inputs)]
    for mark, text in texts:
        words = [mark + word for word in text.lower().split(" ") if word]
        yield from words
        if pairs:
            yield from (f"{a} {b}" for a, b in pairwise(words))


def _counts(
    rows: Sequence[Example], ids: dict[str, int], inputs: tuple[str, ...], pairs: bool, *, grow: bool = False
) -> sparse.csr_array:
    """Counts of features (rows, features); unknown features are added to ``ids`` or left out."""
    found, starts = array("i"), array("q", [0])
    for row in rows:
        for feature in _features(row, inputs, pairs):
            number = ids.setdefault(feature, len(ids)) if grow else ids.get(feature, -1)
            if number >= 0:
                found.append(number)
        starts.append(len(found))
    cells = (np.ones(len(found)), np.array(found, np.int32), np.array(starts, np.int64))
    matrix = sparse.csr_array(cells, shape=(len(rows), max(1, len(ids))))
    matrix.sum_duplicates()
    return matrix


def _weighed(counts: sparse.csr_array, rarity: np.ndarray) -> sparse.csr_array:
    """Counts times rarity, each row of length 1: scikit-learn's tf-idf."""
    data = counts.data * rarity[counts.indices]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    norm = np.sqrt(np.bincount(row, data * data, minlength=counts.shape[0]))
    return sparse.csr_array((data / norm[row], counts.indices, counts.indptr), shape=counts.shape)
