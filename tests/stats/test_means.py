"""Means over rows in clusters: variances against statsmodels, degrees of freedom, intervals that cover."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp

from sentprobe.errors import TooFewError
from sentprobe.stats.intervals import proportion_interval, wilson
from sentprobe.stats.means import Mean, ScoredRows, combined, mean


def test_independent_rows_are_the_one_sample_t_test():
    values = np.random.default_rng(0).normal(0.3, 1.0, 40)
    found, oracle = mean(values), ttest_1samp(values, 0.0)
    assert found.p == pytest.approx(oracle.pvalue)
    assert found.interval() == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    assert found.df == 39


def test_clusters_are_bell_and_mccaffreys_cr2():
    # for a mean, CR2 divides each cluster's residual sum by the root of 1 - its share of the rows; the sandwich without
    # that correction is statsmodels' cluster-robust covariance with use_correction=False
    rng = np.random.default_rng(1)
    sizes = np.array([12, 7, 5, 5, 3, 1])
    clusters = np.repeat(np.arange(6), sizes)
    values = rng.normal(size=6)[clusters] + rng.normal(size=len(clusters))
    rows = ScoredRows.of(len(values), clusters)
    sums = np.bincount(clusters, values - values.mean())
    expected = (sums**2 / (1 - sizes / sizes.sum())).sum() / sizes.sum() ** 2
    assert rows.mean(values).variance == pytest.approx(expected)
    plain = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    uncorrected = (sums**2).sum() / sizes.sum() ** 2
    assert plain.bse[0] ** 2 == pytest.approx(uncorrected)
    assert uncorrected < expected


def test_degrees_of_freedom_are_satterthwaites():
    # brute force: trace² / trace of the square of the matrix by which residual sums correlate
    rng = np.random.default_rng(2)
    sizes = np.array([60, 32, 22, 17, 14, 3, 1, 1, 5])
    clusters, n = np.repeat(np.arange(9), sizes), int(sizes.sum())
    values = (rng.random(n) < rng.beta(2, 1, 9)[clusters]).astype(float)
    rows = ScoredRows.of(n, clusters)
    variance = sizes * (1 + rows._correlation(values) * (sizes - 1))
    centre = np.eye(9) - np.outer(sizes / n, np.ones(9))
    scale = np.diag(1 / np.sqrt(n * (n - sizes)))
    matrix = scale @ centre @ np.diag(variance) @ centre.T @ scale
    assert rows.df(values) == pytest.approx(np.trace(matrix) ** 2 / np.trace(matrix @ matrix))


def test_even_clusters_have_one_degree_less_than_there_are():
    values = np.random.default_rng(3).normal(size=80)
    assert ScoredRows.of(80, np.repeat(np.arange(8), 10)).df(values) == pytest.approx(7)


def test_a_share_of_independent_rows_is_wilsons_but_for_the_t_quantile():
    right = np.arange(400) < 300
    rows = ScoredRows.of(400)
    assert proportion_interval(rows.mean(right), rows) == pytest.approx(wilson(300, 400), abs=5e-4)


def test_rows_of_a_cluster_that_are_alike_count_once():
    right = np.repeat(np.arange(40) < 30, 10)
    rows = ScoredRows.of(400, np.repeat(np.arange(40), 10))
    low, high = proportion_interval(rows.mean(right), rows)
    once_low, once_high = wilson(30, 40)
    assert low == pytest.approx(once_low, abs=0.02)
    assert high == pytest.approx(once_high, abs=0.02)


def test_where_all_rows_are_right_clusters_count():
    rows = ScoredRows.of(400, np.repeat(np.arange(40), 10))
    low, high = proportion_interval(rows.mean(np.ones(400)), rows)
    assert high == 1.0
    assert low == pytest.approx(wilson(40, 40)[0], abs=0.02)


@pytest.mark.parametrize("uneven", [False, True])
def test_intervals_of_few_or_uneven_clusters_cover(uneven):
    # the percentile bootstrap over clusters covered 75 to 92 % here (benchmarks/interval_coverage.py --clusters)
    rng, m, hits = np.random.default_rng(4), 12, 0
    sizes = np.maximum(1, np.rint(60 / np.arange(1, m + 1) ** 0.9)).astype(int) if uneven else np.full(m, 10)
    clusters = np.repeat(np.arange(m), sizes)
    rows = ScoredRows.of(len(clusters), clusters)
    for _ in range(400):
        right = rng.random(len(clusters)) < rng.beta(0.5, 0.5 / 3, m)[clusters]
        low, high = proportion_interval(rows.mean(right), rows)
        hits += low <= 0.75 <= high
    assert 0.92 <= hits / 400 <= 0.995


def test_parts_of_a_variance_add_up_and_the_uncertain_one_counts():
    # Welch's t-test: scipy's degrees of freedom for samples of 10 and 30 with variances 4 and 1
    found = combined(1.0, (4 / 10, 9), (1 / 30, 29))
    assert found.variance == pytest.approx(4 / 10 + 1 / 30)
    assert found.df == pytest.approx((4 / 10 + 1 / 30) ** 2 / ((4 / 10) ** 2 / 9 + (1 / 30) ** 2 / 29))
    assert Mean(0.0, 0.0, 9).p == 1.0
    assert Mean(0.1, 0.0, 9).p == 0.0


def test_one_cluster_says_nothing():
    with pytest.raises(TooFewError, match="expected at least two"):
        ScoredRows.of(10, ["a"] * 10)
