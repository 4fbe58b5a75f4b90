"""Multinomial naive Bayes on tf-idf weights of words, or of words and bigrams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sentprobe.audit.bayes import Bayes
from sentprobe.baselines.parts import choose, parts_of
from sentprobe.baselines.words import NGrams, SetWords
from sentprobe.data.dataset import Dataset
from sentprobe.data.expected import expectations_for
from sentprobe.errors import UsageError

ALPHAS = (1.0, 0.01, 0.1, 10.0, 100.0)
"""Additive smoothing. The first is used if there are no dev rows, or if all are equally good."""


@dataclass(frozen=True)
class Learned:
    """A trained naive Bayes classifier."""

    ngrams: NGrams
    bayes: Bayes
    test: sparse.csr_array
    """tf-idf weights of the test rows (rows, features)."""
    alpha: float


def _learn(words: SetWords, pairs: bool) -> Learned:
    parts = words.parts
    ngrams, counts = words.counts(pairs)
    train, dev, test = _weighed(counts)
    bayes = Bayes.of(train, parts.numbers(parts.train), len(parts.labels))
    return Learned(ngrams, bayes, test, choose(ALPHAS, lambda alpha, given: bayes.predict(given, alpha), parts, dev))


def bayes_curve(dataset: Dataset, subsets: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Which test rows nb-uni has right if trained on subsets of train, given by their indices; one array per subset.

    All of dev is used for smoothing. Words are counted once; trained on all rows, this is the baseline.
    """
    parts = parts_of(dataset)
    _, (train, dev, test) = SetWords(parts, expectations_for(dataset).inputs).counts(pairs=False)
    labels, truth = parts.numbers(parts.train), parts.numbers(parts.test)
    for subset in subsets:
        some = train[subset]
        seen = np.unique(some.indices)  # the vocabulary of the subset
        own, own_dev, own_test = _weighed([counts[:, seen] for counts in (some, dev, test)])
        bayes = Bayes.of(own, labels[subset], len(parts.labels))

        def guess(alpha: float, given: sparse.csr_array, bayes: Bayes = bayes) -> np.ndarray:
            return bayes.predict(given, alpha)

        yield guess(choose(ALPHAS, guess, parts, own_dev), own_test) == truth


def predict_by_words(words: SetWords, *, pairs: bool) -> tuple[np.ndarray, dict[str, object]]:
    """The predictions of naive Bayes on the test rows, and its settings."""
    learned = _learn(words, pairs)
    columns = {name for row in words.parts.train for name, _ in row.extra}
    settings: dict[str, object] = {
        "alpha": learned.alpha, "ngrams": [1, 2] if pairs else [1], "lower_case": True,
        "inputs": [name for name in words.inputs if name in columns], "features": len(learned.ngrams),
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
    words = SetWords(parts_of(dataset), expectations_for(dataset).inputs)
    learned = _learn(words, name == "nb-bi")
    weights, alpha = learned.bayes.counts, learned.alpha
    width = weights.shape[1]
    all_weights = np.asarray(weights.sum(axis=0)).ravel()
    total, features = all_weights.sum(), list(learned.ngrams.names(words.vocabulary))
    found: dict[str, list[tuple[str, float]]] = {}
    for i, label in enumerate(words.parts.labels):
        here = weights.indices[weights.indptr[i] : weights.indptr[i + 1]]  # other features do not occur with the label
        mine = weights.data[weights.indptr[i] : weights.indptr[i + 1]]
        rest = np.maximum(all_weights[here] - mine, 0.0)
        odds = np.log((mine + alpha) / (mine.sum() + alpha * width))
        odds -= np.log((rest + alpha) / (total - mine.sum() + alpha * width))
        best = sorted(zip((-odds).tolist(), [features[j] for j in here.tolist()], strict=True))[:top]
        found[label] = [(feature, -odd) for odd, feature in best if odd < -1e-9]  # anything less may be rounding
    return found


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
