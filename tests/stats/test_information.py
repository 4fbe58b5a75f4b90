"""Usable information: nothing, everything, and the numbers of scikit-learn in between."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from sentprobe.errors import DataError, TooFewError
from sentprobe.probes import Features, fit, named
from sentprobe.probes.calibration import fit_temperature, scaled
from sentprobe.stats import bits
from sentprobe.stats.classification import MOST_BITS
from sentprobe.stats.information import conditional, information, prior


def drawn(n=400, classes=3, seed=0):
    """Log2 of what is given to labels (n,), the labels, and a prior."""
    rng = np.random.default_rng(seed)
    return -rng.exponential(size=n), rng.integers(classes, size=n), rng.dirichlet(np.full(classes, 5.0))


def test_a_prior_is_the_shares_of_the_training_rows():
    assert prior([0, 0, 0, 2], 4).tolist() == [0.75, 0.0, 0.25, 0.0]


def test_a_vector_that_shows_the_label_has_its_entropy():
    train, test = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 0, 0, 0, 0, 0])
    found = information(np.zeros(8), test, prior(train, 2))
    entropy = -(6 * math.log2(0.75) + 2 * math.log2(0.25)) / 8  # of the training shares, on the test rows
    assert found.bits == pytest.approx(entropy)
    assert found.entropy == pytest.approx(entropy)
    assert found.share == 1.0
    assert found.pointwise.tolist() == pytest.approx([-math.log2(0.75 if y == 0 else 0.25) for y in test])


def test_the_prior_itself_tells_nothing():
    labels = np.array([0, 1, 0, 2])
    shares = np.array([0.5, 0.25, 0.25])
    found = information(np.log2(shares[labels]), labels, shares)
    assert (found.bits, found.low, found.high, found.share) == (0.0, 0.0, 0.0, 0.0)


def test_it_is_the_difference_of_two_losses_of_scikit_learn_in_bits():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(900, 4))
    y = (x @ rng.normal(size=(4, 3)) + rng.gumbel(size=(900, 3))).argmax(axis=1)
    model = LogisticRegression().fit(x[:600], y[:600])
    sure = model.predict_proba(x[600:])
    found = information(-bits(np.log(sure), y[600:]), y[600:], prior(y[:600], 3))
    constant = np.tile(np.bincount(y[:600]) / 600, (300, 1))
    nats = log_loss(y[600:], constant) - log_loss(y[600:], sure)
    assert found.bits == pytest.approx(nats / math.log(2))
    assert found.entropy == pytest.approx(log_loss(y[600:], constant) / math.log(2))
    assert 0 < found.low < found.bits < found.high < found.entropy
    assert found.pointwise.mean() == pytest.approx(found.bits)


@pytest.mark.parametrize("shown", [False, True])
def test_a_probe_of_vectors_that_tell_nothing_has_none_and_of_labels_has_all(shown):
    rng = np.random.default_rng(3)
    y = rng.choice(3, size=2400, p=(0.5, 0.3, 0.2))
    x = np.eye(3, dtype=np.float32)[y] if shown else rng.normal(size=(2400, 40)).astype(np.float32)
    train, dev, test = (slice(0, 800), slice(800, 1600), slice(1600, 2400))
    rows = [Features.of(x[part]) for part in (train, dev, test)]
    model = fit(named("linear"), rows[0], y[train], rows[1], y[dev], 3)[0].model
    t = fit_temperature(model.scores(rows[1]), y[dev])
    found = information(-bits(scaled(model.scores(rows[2]), t), y[test]), y[test], prior(y[train], 3))
    if shown:
        assert found.bits == pytest.approx(found.entropy, abs=5e-3)
    else:
        assert found.low <= 0 <= found.high
        assert abs(found.bits) < 0.02


def test_what_is_too_sure_and_wrong_is_below_0_and_says_so():
    labels = np.array([0, 1] * 20)
    found = information(np.where(labels == 0, -0.01, -8.0), labels, [0.5, 0.5])
    assert found.bits == pytest.approx(1 - 8.01 / 2)
    assert found.high < 0
    assert found.share == pytest.approx(found.bits)
    assert found.pointwise.min() == pytest.approx(-7.0)


def test_no_probability_counts_as_less_than_a_row_may_cost():
    found = information([-np.inf, -0.5], [0, 1], [0.5, 0.5])
    assert found.pointwise.tolist() == pytest.approx([1 - MOST_BITS, 0.5])
    assert information([-1.0, -1.0], [0, 1], [0.0, 1.0]).entropy == MOST_BITS / 2


def test_rows_whose_label_was_never_met_count_nowhere():
    logs, labels, shares = drawn()
    odd = np.where(np.arange(400) % 5 == 0, -1, labels)
    found = information(np.where(odd < 0, -np.inf, logs), odd, shares)
    rest = information(logs[odd >= 0], labels[odd >= 0], shares)
    assert (found.bits, found.low, found.high, found.rows) == (rest.bits, rest.low, rest.high, 320)
    assert np.isnan(found.pointwise[odd < 0]).all()
    assert (found.pointwise[odd >= 0] == rest.pointwise).all()


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6), st.permutations(range(4)))
def test_names_of_classes_do_not_matter(seed, other):
    logs, labels, shares = drawn(40, 4, seed)
    other = np.array(other)
    one, two = information(logs, labels, shares), information(logs, other[labels], shares[np.argsort(other)])
    assert (one.bits, one.low, one.high) == pytest.approx((two.bits, two.low, two.high))


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(4)
    logs = -np.repeat(rng.exponential(size=50), 8)
    labels, forms = np.arange(400) % 2, [f"form{i // 8}" for i in range(400)]
    alone, whole = (information(logs, labels, [0.5, 0.5], clusters=c) for c in (None, forms))
    assert alone.bits == whole.bits
    assert whole.high - whole.low > 2 * (alone.high - alone.low)
    odd = np.where(np.arange(400) < 8, -1, labels)
    assert information(logs, odd, [0.5, 0.5], clusters=np.array(forms)).rows == 392


def test_the_interval_covers():
    # of 1 bit rows leave 0.7 on average, whenever they are drawn
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(100):
        found = information(-0.7 * rng.exponential(size=200), np.arange(200) % 2, [0.5, 0.5])
        held += found.low <= 0.3 <= found.high
    assert held >= 88


# more than something that is known already


def test_conditional_information_is_paired():
    rng = np.random.default_rng(6)
    hard = rng.exponential(3.0, size=500)  # some rows cost a lot, with and without
    labels = rng.integers(2, size=500)
    found = conditional(-hard, -hard - 0.1, labels)
    assert found.bits == pytest.approx(0.1)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))
    assert found.entropy == pytest.approx(hard.mean() + 0.1)
    assert found.share == pytest.approx(0.1 / (hard.mean() + 0.1))


def test_what_was_known_already_adds_nothing_and_exchanging_changes_the_sign():
    logs, labels, shares = drawn()
    assert conditional(logs, logs, labels).bits == 0.0
    other = np.log2(shares[labels])
    assert conditional(logs, other, labels).bits == pytest.approx(-conditional(other, logs, labels).bits)
    assert conditional(logs, other, labels).bits == information(logs, labels, shares).bits


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: information([0.0], [0, 1], [0.5, 0.5]), DataError, r"2 rows; .* \(1,\)"),
        (lambda: information([0.5, 0.0], [0, 1], [0.5, 0.5]), DataError, "at most 0"),
        (lambda: information([np.nan, 0.0], [0, 1], [0.5, 0.5]), DataError, "NaN"),
        (lambda: information([0.0, 0.0], [0, 2], [0.5, 0.5]), DataError, "shares of at least 3"),
        (lambda: information([0.0, 0.0], [0, 1], [0.5, 0.6]), DataError, "sum to 1"),
        (lambda: information([0.0, 0.0], [-1, -1], [0.5, 0.5]), TooFewError, "at least 2"),
        (lambda: prior([0, 3], 3), DataError, "classes 0 … 2, got 3"),
    ],
)
def test_what_is_invalid_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
