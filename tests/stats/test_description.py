"""Description lengths by hand, and what curves say."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from sentprobe.errors import DataError, TooFewError, UsageError
from sentprobe.stats import bootstrap, cluster_bootstrap
from sentprobe.stats.description_length import describe, entropy, sample_complexity, surplus_description_length


def test_costs_are_added_up_in_bits():
    costs = np.full((2, 8), 3.0)  # eight classes, all as probable: log2 8 each
    found = describe(costs, np.arange(8), 8)
    assert (found.bits, found.uniform, found.prior) == (24.0, 24.0, 24.0)
    assert (found.low, found.high) == (24.0, 24.0)
    assert found.compression == (1.0, 1.0, 1.0)
    assert (found.n, found.orders) == (8, 2)


def test_both_compressions_are_against_what_they_say():
    labels = np.repeat([0, 1, 2], [6, 1, 1])
    found = describe(np.full((1, 8), 0.5), labels, 4)
    assert found.uniform == 16.0
    assert found.prior == pytest.approx(8 * scipy_stats.entropy([6, 1, 1], base=2))
    assert found.compression[0] == 4.0
    assert found.prior_compression[0] == pytest.approx(found.prior / 4)


def test_the_ends_of_a_compression_are_those_of_the_bits():
    rng = np.random.default_rng(0)
    found = describe(rng.exponential(size=(3, 50)), rng.integers(2, size=50), 2)
    assert found.low < found.bits < found.high
    assert found.compression == pytest.approx((50 / found.bits, 50 / found.high, 50 / found.low))
    free = describe(np.zeros((2, 5)), [0, 1, 0, 1, 0], 2)
    assert free.compression == (math.inf, math.inf, math.inf)


def test_the_interval_of_one_order_is_that_of_a_bootstrap():
    rng = np.random.default_rng(1)
    costs, labels = rng.exponential(size=(1, 400)), rng.integers(2, size=400)
    found = describe(costs, labels, 2)
    low, high = bootstrap(costs[0], seed=1, draws=10_000)
    assert (found.low, found.high) == pytest.approx((400 * low, 400 * high), abs=0.1 * 400 * (high - low))
    clusters = np.arange(400) // 8
    costs = costs + np.repeat(rng.exponential(size=50), 8)
    wide = describe(costs, labels, 2, clusters=clusters)
    low, high = cluster_bootstrap(costs[0], clusters, seed=1, draws=10_000)
    assert (wide.low, wide.high) == pytest.approx((400 * low, 400 * high), abs=0.1 * 400 * (high - low))
    assert wide.high - wide.low > 1.5 * (found.high - found.low)


def test_orders_that_differ_widen_the_interval_by_students_t():
    costs = np.array([[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]])  # rows of an order are alike, so this part is all
    found = describe(costs, [0, 1], 2)
    t = scipy_stats.t.ppf(0.975, 2)
    assert found.high - found.bits == pytest.approx(t * np.std([2, 4, 8], ddof=1) / math.sqrt(3))
    assert describe(costs, [0, 1], 2, level=0.5).high < found.high


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).filter(lambda p: sum(p) > 1e-3))
def test_entropy_is_that_of_scipy(weights):
    shares = np.array(weights) / sum(weights)
    assert entropy(shares) == pytest.approx(scipy_stats.entropy(shares, base=2), abs=1e-9)


# curves

ENDS = (10, 20, 40, 80)
LOSSES = (0.9, 0.7, 0.4, 0.3)


def test_surplus_is_the_area_above_the_target():
    # 10 rows at log2 of two classes, 10 at 0.9, 20 at 0.7 and 40 at 0.4; the last loss is of rows that were not sent
    assert surplus_description_length(ENDS, LOSSES, 0.0, first=1.0) == pytest.approx(10 + 9 + 14 + 16)
    assert surplus_description_length(ENDS, LOSSES[:-1], 0.0, first=1.0) == pytest.approx(10 + 9 + 14 + 16)
    assert surplus_description_length(ENDS, LOSSES, 0.5, first=1.0) == pytest.approx(5 + 4 + 4)
    assert surplus_description_length(ENDS, LOSSES, 1.0, first=1.0) == 0.0


def test_sample_complexity_is_the_first_end_that_is_good_enough():
    assert sample_complexity(ENDS, LOSSES, 0.95) == 10
    assert sample_complexity(ENDS, LOSSES, 0.7) == 20
    assert sample_complexity(ENDS, LOSSES, 0.3) == 80
    assert sample_complexity(ENDS, LOSSES[:-1], 0.3) is None
    assert sample_complexity(ENDS, LOSSES, 0.29) is None


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 5), min_size=1, max_size=8),
    st.lists(st.integers(1, 50), min_size=8, max_size=8),
    st.floats(0, 5),
    st.floats(0, 5),
)
def test_an_easier_target_costs_less_and_is_met_earlier(losses, steps, one, two):
    ends, low, high = np.cumsum(steps)[: len(losses)].tolist(), min(one, two), max(one, two)
    assert (
        surplus_description_length(ends, losses, high, first=1.0)
        <= surplus_description_length(ends, losses, low, first=1.0) + 1e-9
    )
    late, early = (sample_complexity(ends, losses, target) for target in (low, high))
    assert late is None or (early is not None and early <= late)
    assert surplus_description_length(ends, losses, max([1.0, *losses]), first=1.0) == 0.0


def test_with_no_target_the_surplus_is_the_description_length():
    costs = np.concatenate([np.full(10, 1.0), np.full(10, 0.9), np.full(20, 0.7)])
    found = describe(costs[None, :], np.arange(40) % 2, 2)
    assert surplus_description_length((10, 20, 40), (0.9, 0.7), 0.0, first=1.0) == pytest.approx(found.bits)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: describe([[1.0, 1.0]], [0, 2], 2), DataError, "below 2, got 1.0 and 2"),
        (lambda: describe([[1.0, -1.0]], [0, 1], 2), DataError, "0 or more"),
        (lambda: describe([[1.0, 1.0]], [0], 2), DataError, "2 rows and labels 1"),
        (lambda: describe([1.0, 1.0], [0, 1], 2), DataError, "2 dimension"),
        (lambda: describe([[1.0]], [0], 2), TooFewError, "only one row"),
        (lambda: describe([[1.0, 1.0]], [0, 1], 2, level=95), UsageError, "between 0 and 1"),
        (lambda: surplus_description_length((10, 20), (1.0, 1.0, 1.0), 0.1, first=1.0), DataError, "3 losses"),
        (lambda: surplus_description_length((20, 10), (1.0, 1.0), 0.1, first=1.0), DataError, "increasing ends"),
        (lambda: sample_complexity((10, 20), (1.0, np.nan), 0.1), DataError, "not finite"),
    ],
)
def test_what_is_invalid_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
