"""Seeds and folds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from sentprobe.stats import bootstrap, cluster_bootstrap, corrected_t, hierarchical_bootstrap, spread


def test_spread():
    found = spread([0.5, 0.7, 0.6])
    assert (found.mean, found.std) == pytest.approx((0.6, 0.1))
    assert (found.minimum, found.maximum, found.seeds) == (0.5, 0.7, 3)
    assert spread([0.5]).std is None


def test_one_seed_or_seeds_that_agree_leave_the_rows():
    rng = np.random.default_rng(1)
    right, clusters = rng.random(500) < 0.7, np.arange(500) // 5
    found = bootstrap(right, seed=1, draws=20_000)
    for table in ([right], [right] * 4):
        assert hierarchical_bootstrap(table, seed=1, draws=20_000) == pytest.approx(found, abs=0.003)
    found = cluster_bootstrap(right, clusters, seed=1, draws=20_000)
    assert hierarchical_bootstrap([right], clusters=clusters, seed=1, draws=20_000) == pytest.approx(found, abs=0.003)


def test_the_variance_is_that_of_seeds_and_rows_together():
    # values = seed + row effect, without noise: Var = var(seed) / s + var(row) / n, both as drawn
    rng = np.random.default_rng(2)
    of_seed, of_row = rng.normal(0, 0.3, 6), rng.normal(0, 2, 90)
    low, high = hierarchical_bootstrap(of_seed[:, None] + of_row, seed=1, draws=20_000, level=0.6827)
    assert (high - low) / 2 == pytest.approx(math.sqrt(of_seed.var() / 6 + of_row.var() / 90), rel=0.05)


def test_the_order_of_rows_does_not_count():
    rng = np.random.default_rng(3)
    table, order = rng.random((4, 60)) < 0.6, rng.permutation(60)
    assert hierarchical_bootstrap(table, seed=1) == hierarchical_bootstrap(table[:, order], seed=1)


def test_seeds_and_rows_cover():
    # logits: row N(0, 1.5) + seed N(0, 0.15), so that 0.5 is the mean by symmetry
    rng, runs = np.random.default_rng(4), 300
    covered = 0
    for _ in range(runs):
        logit = rng.normal(0, 1.5, 200) + rng.normal(0, 0.15, (5, 1))
        low, high = hierarchical_bootstrap(rng.random((5, 200)) < 1 / (1 + np.exp(-logit)), seed=0, draws=400)
        covered += low <= 0.5 <= high
    assert 0.91 <= covered / runs <= 0.99


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(1, 1000), st.floats(1, 1000))
def test_corrected_t_is_an_ordinary_t_with_more_variance(differences, n_train, n_test):
    found, other = corrected_t(differences, n_train, n_test), corrected_t(np.negative(differences), n_train, n_test)
    assert found.low <= found.mean <= found.high
    assert 0 <= found.p <= 1
    assert (found.p, found.t, found.low) == (other.p, -other.t, -other.high)
    error = np.std(differences, ddof=1) / math.sqrt(len(differences))
    if error > 1e-6:
        plain = scipy_stats.ttest_1samp(differences, 0)
        wider = math.sqrt(1 + len(differences) * n_test / n_train)
        assert found.t == pytest.approx(plain.statistic / wider, rel=1e-6, abs=1e-9)
        ends = plain.confidence_interval()
        assert found.high - found.low == pytest.approx((ends.high - ends.low) * wider, rel=1e-6)
        assert (found.p < 0.05) == (not found.low <= 0 <= found.high)


def test_corrected_t_by_hand():
    # d = 1, 2, 3 in 3 folds of 2/3 and 1/3: mean 2, s² 1, variance 1/3 + 1/2; t = 2 / sqrt(5/6), df 2
    found = corrected_t([1, 2, 3], 200, 100)
    assert (found.mean, found.folds) == (2.0, 3)
    assert found.t == pytest.approx(2 / math.sqrt(5 / 6))
    assert found.p == pytest.approx(2 * scipy_stats.t(2).sf(found.t))
    assert corrected_t([0.1, 0.1, 0.1], 90, 10).p == 0.0
    assert corrected_t([0.0, 0.0], 90, 10).p == 1.0
