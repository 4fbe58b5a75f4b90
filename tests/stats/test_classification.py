"""Scores of predictions against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.stats import accuracy, bits, confusion, correct, log2_loss, macro_f1
from sentprobe.stats.classification import auc, matthews

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 5)), min_size=1, max_size=60)


@settings(deadline=None, max_examples=40)
@given(ROWS)
def test_they_are_those_of_scikit_learn(rows):
    metrics = pytest.importorskip("sklearn.metrics")
    predicted, truth = np.array(rows).T
    assert accuracy(predicted, truth) == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert correct(predicted, truth).tolist() == (predicted == truth).tolist()
    assert macro_f1(predicted, truth) == pytest.approx(
        metrics.f1_score(truth, predicted, average="macro", zero_division=0)
    )
    if len({*predicted, *truth}) > 1:  # scikit-learn warns of a single label
        assert matthews(predicted, truth) == pytest.approx(metrics.matthews_corrcoef(truth, predicted), abs=1e-12)
    table = metrics.confusion_matrix(truth, predicted, labels=[0, 1, 2, 3, 4, 5, -1])[:, :-1]
    assert np.array_equal(confusion(predicted, truth, 6), table)


@settings(deadline=None, max_examples=40)
@given(st.integers(12, 60), st.integers(2, 5), st.integers(0, 2**32))
def test_areas_are_those_of_scikit_learn(n, classes, seed):
    metrics, rng = pytest.importorskip("sklearn.metrics"), np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % classes)
    logits = rng.normal(size=(n, classes)) + np.eye(classes)[truth]
    probabilities = np.round(np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True), 1)  # with ties
    probabilities[:, 0] = 1 - probabilities[:, 1:].sum(axis=1)
    oracle = np.mean([metrics.roc_auc_score(truth == k, probabilities[:, k]) for k in range(classes)])
    assert auc(probabilities, truth) == pytest.approx(oracle)


def test_an_area_needs_two_classes_and_counts_unknown_labels_as_others():
    assert np.isnan(auc([[0.5, 0.5], [0.2, 0.8]], [1, 1]))
    assert auc([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]], [0, 0, -1]) == 1.0


def test_labels_that_were_not_met_are_wrong_and_a_class_of_their_own():
    predicted, truth = [0, 1, 0, 1], [0, 1, -1, -1]
    assert accuracy(predicted, truth) == 0.5
    assert macro_f1(predicted, truth) == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert confusion(predicted, truth, 2)[-1].tolist() == [1, 1]


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(2, 6), st.integers(0, 2**32), st.floats(0.1, 60))
def test_log_loss_is_that_of_scikit_learn_in_bits(n, classes, seed, sharp):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    logits = rng.normal(scale=sharp, size=(n, classes))
    logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    truth = rng.integers(classes, size=n)
    oracle = metrics.log_loss(truth, np.exp(logs), labels=range(classes), normalize=True) / np.log(2)
    assert log2_loss(logs, truth) == pytest.approx(oracle, rel=1e-6, abs=1e-9)


def test_bits_of_rows():
    logs = np.log(np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0.5, 0.5]], np.float32) + 1e-45)
    assert bits(logs, [0, 0, 1, -1]) == pytest.approx([1.0, 2.0, 52.0, 52.0])  # not in train: like a probability of 0
    with np.errstate(divide="ignore"):
        assert bits(np.log([[1.0, 0.0]]), [1]).tolist() == [52.0]
    assert log2_loss(np.full((5, 8), -np.log(8)), [0, 1, 2, 3, 7]) == pytest.approx(3.0)
    assert bits([[1e-7, -16.1]], [0]).tolist() == [0.0]  # float32 may round above 0
