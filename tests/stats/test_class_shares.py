"""Balanced accuracy: scikit-learn as an oracle, its variance, and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from sentprobe.results.metric import METRICS
from sentprobe.stats.class_shares import ClassShares
from sentprobe.stats.classification import balanced_accuracy
from sentprobe.stats.means import ScoredRows

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), min_size=1, max_size=40)


@given(LABELS)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true", "ignore:A single label was found")
def test_it_is_that_of_scikit_learn(pairs):
    predicted, truth = map(np.array, zip(*pairs, strict=True))
    expected = balanced_accuracy_score(truth, predicted)
    assert balanced_accuracy(predicted, truth) == pytest.approx(expected, abs=1e-12)
    metric = METRICS.get("balanced_accuracy")
    assert metric.score({"predicted": predicted, "truth": truth}) == pytest.approx(expected, abs=1e-12)


@given(LABELS)
def test_weighted_and_linearised_rows_have_it_as_their_mean(pairs):
    predicted, truth = map(np.array, zip(*pairs, strict=True))
    correct = (predicted == truth).astype(float)
    classes = ClassShares.of(truth)
    expected = balanced_accuracy(predicted, truth)
    assert classes.weighted(correct).mean() == pytest.approx(expected, abs=1e-12)
    assert classes.linearised(np.array([correct, 1 - correct])).mean(axis=1) == pytest.approx(
        [expected, 1 - expected], abs=1e-12
    )


def test_the_variance_is_that_within_classes():
    truth = np.array([0] * 400 + [1] * 40)
    rng = np.random.default_rng(3)
    correct = (rng.random(440) < np.where(truth == 0, 0.9, 0.6)).astype(float)
    classes, rows = ClassShares.of(truth), ScoredRows.of(440)
    one, two = classes.recalls(correct)
    # two independent shares: var = (p(1-p)/(n-1) + q(1-q)/(m-1)) / 4, by hand
    expected = (one * (1 - one) / 399 + two * (1 - two) / 39) / 4
    assert rows.mean(classes.linearised(correct)).variance == pytest.approx(expected * 440 / 439)


@pytest.mark.parametrize("recalls", [(1, 1), (0, 0), (1, 0), (0.95, 0.5)])
def test_the_interval_has_a_width_and_holds_the_score(recalls):
    truth = np.repeat([0, 1], [40, 10])
    right = [np.arange(n) < round(r * n) for r, n in zip(recalls, (40, 10), strict=True)]
    correct = np.concatenate(right).astype(float)
    widths = []
    for clusters in (None, np.arange(50) // 5):
        rows, classes = ScoredRows.of(50, clusters), ClassShares.of(truth, clusters)
        found = rows.mean(classes.linearised(correct))
        low, high = classes.interval(correct, found, rows)
        assert 0 <= low <= found.value <= high <= 1
        widths.append(high - low)
    assert 0 < widths[0] <= widths[1] + 1e-9


def test_equal_classes_have_about_the_interval_of_accuracy():
    from sentprobe.stats.intervals import wilson

    truth = np.arange(400) % 2
    correct = (np.arange(400) // 2 % 10 < 8).astype(float)
    classes, rows = ClassShares.of(truth), ScoredRows.of(400)
    found = classes.interval(correct, rows.mean(classes.linearised(correct)), rows)
    assert found == pytest.approx(wilson(correct.sum(), 400), abs=0.004)
