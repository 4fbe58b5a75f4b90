"""Intervals against scipy's, and against how often they should hold the truth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from sentprobe.stats import bootstrap, cluster_bootstrap, wilson

RIGHT = st.lists(st.booleans(), min_size=2, max_size=60)
NUMBERS = st.lists(st.floats(-100, 100), min_size=2, max_size=40)


@pytest.mark.parametrize(("k", "n"), [(0, 10), (7, 10), (520, 1000), (10, 10), (1, 1)])
def test_wilson_is_that_of_scipy(k, n):
    oracle = scipy_stats.binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert wilson(k, n, scipy_stats.norm.ppf(0.975)) == pytest.approx((oracle.low, oracle.high), abs=1e-9)
    assert wilson(k, n) == pytest.approx((oracle.low, oracle.high), abs=1e-6)


@settings(deadline=None)
@given(st.integers(1, 10**7), st.floats(0, 1), st.floats(0.1, 5))
def test_wilson_holds_the_share_and_is_a_mirror(n, share, z):
    k = share * n
    low, high = wilson(k, n, z)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high
    assert wilson(n - k, n, z) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_wilson_covers():
    # exactly: the probability of every k of n whose interval holds p, averaged over p
    n = 60
    intervals = np.array([wilson(k, n) for k in range(n + 1)])
    shares = np.linspace(0.02, 0.98, 97)
    covers = [
        scipy_stats.binom.pmf(np.flatnonzero((intervals[:, 0] <= p) & (p <= intervals[:, 1])), n, p).sum()
        for p in shares
    ]
    assert np.mean(covers) == pytest.approx(0.95, abs=0.01)
    assert min(covers) > 0.88


@pytest.mark.parametrize("kind", ["right", "floats"])
def test_bootstrap_is_that_of_scipy(kind):
    rng = np.random.default_rng(3)
    values = rng.random(300) < 0.7 if kind == "right" else rng.exponential(size=300)
    oracle = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    step = 1 / 300 if kind == "right" else 0.06 * np.std(values) / np.sqrt(300)
    assert bootstrap(values, seed=1, draws=20_000) == pytest.approx((oracle.low, oracle.high), abs=1.01 * step)


def test_cluster_bootstrap_is_scipys_of_the_ratio():
    rng = np.random.default_rng(4)
    size = rng.integers(1, 9, 40)
    clusters = np.repeat(np.arange(40), size)
    values = rng.random(len(clusters)) < np.repeat(rng.random(40), size)
    sums = np.bincount(clusters, values)

    def ratio(sums, sizes, axis):
        return sums.sum(axis=axis) / sizes.sum(axis=axis)

    oracle = scipy_stats.bootstrap(
        (sums, size), ratio, paired=True, vectorized=True, n_resamples=20_000, method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    low, high = cluster_bootstrap(values, clusters, seed=1, draws=20_000)
    assert (low, high) == pytest.approx((oracle.low, oracle.high), abs=0.003)
    narrow = bootstrap(values, seed=1)
    assert high - low > 1.2 * (narrow[1] - narrow[0])


@settings(deadline=None, max_examples=50)
@given(RIGHT | NUMBERS, st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_neither_order_nor_names_count(values, seed, random):
    clusters = [random.choice("abcdef") for _ in values]
    clusters[0] = "g"
    order = list(range(len(values)))
    random.shuffle(order)
    names = dict(zip("abcdefg", random.sample([None, 3, "x", "y\0", "y", (1,), ""], 7), strict=True))
    shuffled = [values[i] for i in order]
    assert bootstrap(values, seed=seed, draws=100) == bootstrap(shuffled, seed=seed, draws=100)
    if len(set(clusters)) > 1:
        found = cluster_bootstrap(values, clusters, seed=seed, draws=100)
        assert found == cluster_bootstrap(shuffled, [names[clusters[i]] for i in order], seed=seed, draws=100)


@settings(deadline=None, max_examples=50)
@given(RIGHT | NUMBERS, st.integers(0, 2**32))
def test_clusters_of_one_row_are_rows_and_the_interval_holds_the_mean(values, seed):
    found = bootstrap(values, seed=seed, draws=1000)
    assert found == pytest.approx(cluster_bootstrap(values, range(len(values)), seed=seed, draws=1000))
    slack = 1e-9 * (1 + np.abs(values).max())
    assert found[0] - slack <= np.mean(values) <= found[1] + slack
    assert min(values) - slack <= found[0]
    assert found[1] <= max(values) + slack


def test_few_kinds_of_rows_and_many_are_drawn_alike():
    # the mean of right and wrong by the multinomial, and with noise that makes every row another, by rows
    right = np.random.default_rng(5).random(400) < 0.6
    noisy = right + np.linspace(0, 1e-9, 400)
    few, many = (bootstrap(values, seed=2, draws=20_000) for values in (right, noisy))
    assert few == pytest.approx(many, abs=0.003)
    assert few != many


def test_a_seed_repeats_and_another_differs():
    values, clusters = np.random.default_rng(6).random(50), np.arange(50) // 3
    assert cluster_bootstrap(values, clusters, seed=1) == cluster_bootstrap(values, clusters, seed=1)
    assert cluster_bootstrap(values, clusters, seed=1) != cluster_bootstrap(values, clusters, seed=2)
    low, high = cluster_bootstrap(values, clusters, seed=1, level=0.5)
    wide = cluster_bootstrap(values, clusters, seed=1, level=0.99)
    assert wide[0] < low < high < wide[1]


def test_clusters_cover_where_rows_do_not():
    # 60 target forms, each with an accuracy of its own (Beta(4, 1), mean 0.8), in 1 to 19 rows
    rng, runs = np.random.default_rng(7), 300
    covered = {"clusters": 0, "rows": 0}
    for _ in range(runs):
        size = rng.integers(1, 20, 60)
        clusters = np.repeat(np.arange(60), size)
        values = rng.random(len(clusters)) < np.repeat(rng.beta(4, 1, 60), size)
        low, high = cluster_bootstrap(values, clusters, seed=0, draws=400)
        covered["clusters"] += low <= 0.8 <= high
        low, high = bootstrap(values, seed=0, draws=400)
        covered["rows"] += low <= 0.8 <= high
    assert 0.90 <= covered["clusters"] / runs <= 0.98
    assert covered["rows"] / runs < 0.85
