"""Correlations against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from sentprobe.errors import DataError
from sentprobe.stats import correlate
from sentprobe.stats.correlation import mean_correlation, ranks

PAIRS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=12).filter(
    lambda pairs: all(len(set(side)) > 1 for side in zip(*pairs, strict=True))
)
OF_SCIPY = {"spearman": scipy_stats.spearmanr, "pearson": scipy_stats.pearsonr}


@settings(deadline=None, max_examples=40)
@given(PAIRS, st.sampled_from(["spearman", "pearson"]), st.integers(0, 2**32))
def test_the_value_is_that_of_scipy_and_order_does_not_count(pairs, kind, seed):
    x, y = zip(*pairs, strict=True)
    found = correlate(x, y, kind=kind, seed=seed, draws=200)
    assert found.value == pytest.approx(OF_SCIPY[kind](x, y).statistic, abs=1e-9)
    assert 0 < found.p <= 1
    assert -1 <= found.low <= found.high <= 1
    assert found.exact == (len(x) <= 8)
    order = np.random.default_rng(seed).permutation(len(x))
    assert correlate(np.array(x)[order], np.array(y)[order], kind=kind, seed=seed, draws=200) == found
    if found.exact:
        other = correlate(y, np.negative(x), kind=kind, seed=seed, draws=200)
        assert (other.value, other.p) == pytest.approx((-found.value, found.p), abs=1e-9)


@pytest.mark.parametrize("kind", ["spearman", "pearson"])
@pytest.mark.parametrize("n", [4, 6, 7])
def test_exact_p_values_are_those_of_scipy(kind, n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = (x + rng.normal(size=n)).round(0 if n == 6 else 3)  # with ties, or without
    a, b = (scipy_stats.rankdata(side) if kind == "spearman" else side for side in (x, y))
    oracle = scipy_stats.permutation_test(
        (a,), lambda a: np.round(abs(np.corrcoef(a, b)[0, 1]), 9), permutation_type="pairings", alternative="greater",
        n_resamples=np.inf,
    )  # fmt: skip
    assert correlate(x, y, kind=kind, seed=1, draws=100).p == pytest.approx(oracle.pvalue)


@pytest.mark.parametrize("kind", ["spearman", "pearson"])
def test_sampled_p_values_come_near_the_limit(kind):
    rng = np.random.default_rng(2)
    x = rng.normal(size=60)
    y = 0.25 * x + rng.normal(size=60)
    found = correlate(x, y, kind=kind, seed=1)
    assert not found.exact
    assert found.p == pytest.approx(OF_SCIPY[kind](x, y).pvalue, abs=0.015)


@pytest.mark.parametrize("kind", ["spearman", "pearson"])
@pytest.mark.parametrize("n", [10, 25])
def test_the_interval_is_scipys_bca(kind, n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    y = 0.7 * x + 0.7 * rng.normal(size=n)

    def statistic(a, b, axis):
        a, b = (scipy_stats.rankdata(side, axis=axis) if kind == "spearman" else side for side in (a, b))
        return scipy_stats.pearsonr(a, b, axis=axis).statistic

    oracle = scipy_stats.bootstrap(
        (x, y), statistic, paired=True, vectorized=True, n_resamples=40_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    found = correlate(x, y, kind=kind, seed=1, draws=40_000)
    assert (found.low, found.high) == pytest.approx(tuple(oracle), abs=0.03)
    assert found.low < found.value < found.high


def test_perfect_and_nearly_constant_sides():
    found = correlate([1, 2, 3, 4], [10, 20, 30, 40], seed=1)
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p == 2 / 24  # of 4! orders, the observed one and its reverse
    found = correlate([0, 0, 0, 1], [5, 6, 7, 8], seed=1)  # without the last row there is no correlation: percentiles
    assert -1 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("n", [9, 30])
def test_the_interval_covers(n):
    # normal pairs with correlation 0.6, whose Spearman correlation is 6 / pi arcsin(0.3)
    rng, truth, runs = np.random.default_rng(n), 6 / np.pi * np.arcsin(0.3), 200
    covered = 0
    for _ in range(runs):
        x = rng.normal(size=n)
        found = correlate(x, 0.6 * x + 0.8 * rng.normal(size=n), seed=0, draws=300)
        covered += found.low <= truth <= found.high
    assert 0.89 <= covered / runs <= 0.995


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 12).flatmap(lambda n: st.lists(st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=1)))
def test_ranks_are_those_of_scipy(rows):
    assert (ranks(np.array(rows, float)) == scipy_stats.rankdata(rows, axis=1)).all()


def test_the_mean_correlation_is_that_of_scipy_and_varies_with_encoders_and_sets():
    rng = np.random.default_rng(0)
    ability = rng.normal(size=12)
    x, y = (ability + rng.normal(size=(rows, 12)) for rows in (5, 4))
    found = mean_correlation(x, y, seed=1)
    expected = np.mean([scipy_stats.spearmanr(a, b).statistic for a in x for b in y])
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    # the same sets again and again tell no more; sets that differ widen the interval
    single = mean_correlation(np.repeat(x[:1], 5, axis=0), np.repeat(y[:1], 4, axis=0), seed=1)
    direct = mean_correlation(x[:1], y[:1], seed=1)
    assert (single.low, single.high) == pytest.approx((direct.low, direct.high), abs=0.1)
    with pytest.raises(DataError, match="that vary"):
        mean_correlation(np.ones((2, 5)), rng.normal(size=(2, 5)), seed=0)


def test_the_interval_of_the_mean_covers_that_of_many_encoders_and_sets():
    """The truth of 400 encoders and 40 + 40 sets, in 40 samples of 12 encoders and 6 + 6 sets."""
    rng = np.random.default_rng(3)
    ability, loads = rng.normal(size=400), rng.uniform(0.2, 1.5, size=(80, 1))
    scores = loads * ability + rng.normal(size=(80, 400))
    truth = mean_correlation(scores[:40], scores[40:], seed=0, draws=100).value
    covered = 0
    for trial in range(40):
        encoders = rng.choice(400, 12, replace=False)
        x, y = rng.choice(40, 6, replace=False), 40 + rng.choice(40, 6, replace=False)
        found = mean_correlation(scores[np.ix_(x, encoders)], scores[np.ix_(y, encoders)], seed=trial, draws=100)
        covered += found.low <= truth <= found.high
    assert covered >= 32
