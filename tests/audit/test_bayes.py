"""Naive Bayes and correlations against those of others."""

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from sentprobe.audit import naive_bayes as bayes
from sentprobe.audit.checks.balance import chi_square
from sentprobe.audit.checks.lengths import correlation_ratio
from sentprobe.audit.naive_bayes import bags
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from tests.audit.plants import sound


@pytest.mark.parametrize("classes", [2, 7, 60])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_predictions_are_those_of_scikit_learn(classes, alpha, monkeypatch):
    monkeypatch.setattr(bayes, "MAX_BAYES_CELLS", 1000)  # in several pieces
    rng = np.random.default_rng(classes)
    label = rng.integers(classes, size=400)
    lean = rng.dirichlet(np.full(50, 0.3), size=classes)
    rows = [rng.choice(50, size=rng.integers(1, 12), p=lean[c]) for c in label]
    bag = bayes.Bag(np.concatenate(rows), np.r_[0, np.cumsum([len(r) for r in rows])], 50)
    matrix = bag.matrix
    oracle = MultinomialNB(alpha=alpha).fit(matrix[:300], label[:300]).predict(matrix[300:])
    assert np.array_equal(bayes.predict(matrix[:300], label[:300], matrix[300:], classes, alpha), oracle)


def dense(bag):
    return np.sort(bag.matrix.toarray().astype(int), axis=None)


def test_bags_of_words_and_pairs_are_those_of_scikit_learn():
    rows = Split.of_set(sound(sizes={"tr": 60, "va": 20, "te": 20}))
    found = dict(bags(rows, np.arange(60), Expectations()))
    for name, options in {
        "unigrams": {"lowercase": True},
        "unigrams cased": {"lowercase": False},
    }.items():
        oracle = CountVectorizer(tokenizer=str.split, token_pattern=None, **options).fit_transform(rows.texts)
        assert np.array_equal(dense(found[name]), np.sort(oracle.toarray(), axis=None)), name
    # pairs: ours have one more per row, the last token with the end of the sentence
    oracle = CountVectorizer(tokenizer=str.split, token_pattern=None, ngram_range=(1, 2))
    marked = oracle.fit_transform([f"{text} </s>" for text in rows.texts])
    ours = found["bigrams"].matrix
    assert ours.sum() == marked.sum() - len(rows)  # the end mark is no word
    assert (ours.toarray().max(axis=0) > 0).sum() == marked.shape[1] - 1


def test_character_ngrams_are_those_of_scikit_learn():
    rows = Split.of_set(sound(sizes={"tr": 60, "va": 20, "te": 20}))
    found = dict(bags(rows, np.arange(60), Expectations()))["characters"]
    marked = [f"\x02{text}\x03" for text in rows.texts]
    oracle = CountVectorizer(analyzer="char", ngram_range=(2, 4), lowercase=False).fit_transform(marked)
    assert np.array_equal(np.diff(found.starts), np.asarray(oracle.sum(axis=1)).ravel())
    met = (found.matrix.sum(axis=0) > 0).sum()
    assert 0.98 * oracle.shape[1] <= met <= oracle.shape[1]  # hashing lets a few fall together


def test_correlation_ratio_and_its_p_value():
    rng = np.random.default_rng(0)
    label = rng.integers(3, size=300)
    value = rng.normal(size=300) + 0.4 * label
    eta, p = correlation_ratio(label, value)
    groups = [value[label == c] for c in range(3)]
    assert p == pytest.approx(stats.f_oneway(*groups).pvalue)
    # epsilon squared (Kelley 1935): 1 - (n - 1) / (n - k) * within / whole
    within = sum(((g - g.mean()) ** 2).sum() for g in groups)
    whole = ((value - value.mean()) ** 2).sum()
    assert eta**2 == pytest.approx(1 - 299 / 297 * within / whole)
    two = label.clip(max=1)
    assert correlation_ratio(two, value)[0] == pytest.approx(abs(np.corrcoef(two, value)[0, 1]), abs=0.01)
    assert correlation_ratio(np.zeros(5, int), value[:5]) == (0.0, 1.0)
    assert correlation_ratio(np.array([0, 1, 0, 1]), np.array([1.0, 2, 1, 2])) == (1.0, 0.0)


def test_chi_square_is_that_of_scipy():
    table = np.array([[30.0, 50, 20], [45, 40, 25]])
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    assert chi_square(table, expected) == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert chi_square(table[:1], np.full((1, 3), 100 / 3)) == pytest.approx(stats.chisquare(table[0]).pvalue)
