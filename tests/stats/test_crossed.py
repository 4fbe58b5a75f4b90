"""Means over training sets and test rows: known variances, and intervals that cover what they should."""

import numpy as np
import pytest
from scipy import stats

from sentprobe.errors import TooFewError, UsageError
from sentprobe.stats.crossed import crossed


def table(rng, k, n, sets=0.0, rows=0.0, noise=1.0):
    return sets * rng.normal(size=(k, 1)) + rows * rng.normal(size=(1, n)) + noise * rng.normal(size=(k, n))


def test_one_training_set_is_the_t_interval_of_its_rows():
    values = np.random.default_rng(0).normal(size=(1, 40))
    found = crossed(values)
    low, high = stats.t.interval(0.95, 39, loc=values.mean(), scale=stats.sem(values[0]))  # scipy's
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.mean == pytest.approx(values.mean())


def test_training_sets_that_differ_widen_the_interval():
    rng = np.random.default_rng(1)
    same = np.repeat(table(rng, 1, 500), 4, axis=0)
    other = same + np.array([[-0.3], [-0.1], [0.1], [0.3]])
    one, two = crossed(same), crossed(other)
    assert one.between == 0
    assert two.between == pytest.approx(np.var([-0.3, -0.1, 0.1, 0.3], ddof=1))
    assert two.high - two.low > 2 * (one.high - one.low)


def test_what_is_chance_among_test_rows_is_not_that_of_training_sets():
    rng = np.random.default_rng(2)
    none = np.mean([crossed(table(rng, 4, 200)).between for _ in range(300)])
    some = np.mean([crossed(table(rng, 4, 200, sets=0.2)).between for _ in range(300)])
    assert none < 0.4 / 200  # means vary by 1 / 200, all of it of rows; what is below 0 counts as 0
    assert some == pytest.approx(0.04, rel=0.15)


@pytest.mark.parametrize("size", [2, 16])
def test_the_interval_covers_the_mean_of_all_pools(size):
    """Training rows add up; subsamples are drawn from pools of 32, and every test row has a difficulty of its own."""
    rng, covered = np.random.default_rng(3), 0
    for _ in range(400):
        pool = rng.normal(size=32)
        each = np.array([pool[rng.permutation(32)[:size]].mean() for _ in range(4)])
        found = crossed(each[:, None] + table(rng, 4, 100, rows=1.0), share=size / 32)
        covered += found.low <= 0 <= found.high
    assert 0.93 <= covered / 400 <= 0.99


def test_clusters_are_drawn_and_not_rows():
    rng = np.random.default_rng(4)
    values = np.repeat(rng.normal(size=(3, 30)), 20, axis=1)
    apart, together = crossed(values), crossed(values, clusters=np.repeat(np.arange(30), 20))
    assert together.high - together.low > 2 * (apart.high - apart.low)
    few = crossed(values[:, ::20])  # as many clusters of one row each
    assert together.high - together.low == pytest.approx(few.high - few.low)


def test_one_set_may_vary_as_others_did():
    rng = np.random.default_rng(5)
    others = crossed(table(rng, 4, 300, sets=0.3))
    alone = table(rng, 1, 300)
    bare, wide = crossed(alone), crossed(alone, like=others)
    assert (wide.between, wide.sets) == (others.between, 4)
    assert wide.high - wide.low > 2 * (bare.high - bare.low)


def test_values_that_are_all_alike_have_no_width():
    found = crossed(np.ones((4, 10)))
    assert (found.mean, found.low, found.high) == (1, 1, 1)


def test_what_cannot_be_is_refused():
    with pytest.raises(UsageError, match="share must be 0 or more and below 1"):
        crossed(np.ones((2, 5)), share=1.0)
    with pytest.raises(TooFewError, match="only one row or cluster"):
        crossed(np.ones((2, 5)), clusters=["a"] * 5)
