"""Seeds and folds."""

import math

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from sentprobe.stats import bootstrap, cluster_bootstrap, corrected_t, hierarchical_bootstrap, spread
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.seeds import ONE_SEED, encoder_seeds, probe_seeds
from sentprobe.stats.training import Systems


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


# Encoder seeds


def crossed(rng, seeds, n, of_seed, of_row=1.0, noise=1.0):
    """Values (seeds, n) of a seed, a row and both."""
    return (
        of_seed * rng.standard_normal((seeds, 1))
        + of_row * rng.standard_normal(n)
        + noise * rng.standard_normal((seeds, n))
    )


@pytest.mark.parametrize("of_seed", [0.5, 3.0])
def test_the_variance_of_a_recipe_is_that_of_two_crossed_random_effects(of_seed):
    # the mean of a table with random rows and columns: (MS seeds + MS rows - MS residual) / (seeds · n), with the mean
    # squares of the analysis of variance without replication (Searle, Casella and McCulloch 1992, section 4.6)
    values = crossed(np.random.default_rng(4), 4, 60, of_seed)
    long = pandas.DataFrame([(s, i, values[s, i]) for s in range(4) for i in range(60)], columns=["s", "i", "x"])
    squares = anova_lm(ols("x ~ C(s) + C(i)", long).fit())["mean_sq"]
    expected = (squares["C(s)"] + squares["C(i)"] - squares["Residual"]) / values.size
    rows = ScoredRows.of(60)
    systems = Systems(rows, values.mean(axis=0)[None], seeds=[encoder_seeds(values, rows)])
    assert systems.score(0).variance == pytest.approx(expected)


def test_a_pair_of_encoders_by_hand():
    # scores 3/4 and 1/4: s² = 1/8. Each is 1/4 from the mean on two rows of its own: deviations 1/2, 1/2, 0, 0, less
    # their mean 1/4, have squares that sum to 1/4, over 4 · 3, for either: noise 2 · 1/48 = 1/24. 1/8 - 1/24 = 1/12,
    # two thirds of s², whose single degree of freedom becomes 4/9.
    correct = np.array([[1, 1, 1, 0], [0, 0, 1, 0]], float)
    between = encoder_seeds(correct, ScoredRows.of(4))
    assert between == pytest.approx((1 / 12, 2, 4 / 9))
    assert between.of_mean == pytest.approx((1 / 24, 4 / 9))


def test_encoders_that_are_right_on_the_same_rows_add_nothing():
    right = (np.random.default_rng(5).random(200) < 0.7).astype(float)
    rows = ScoredRows.of(200)
    single = Systems(rows, right[None]).score(0)
    both = Systems(rows, right[None], seeds=[encoder_seeds(np.array([right] * 3), rows)]).score(0)
    assert (both.value, both.variance) == pytest.approx((single.value, single.variance))
    assert both.df == pytest.approx(single.df)


def test_one_encoder_has_no_variance_between_seeds():
    correct = np.ones((1, 10))
    assert encoder_seeds(correct, ScoredRows.of(10)) == probe_seeds(correct) == ONE_SEED


def test_a_few_seeds_that_differ_have_their_degrees_of_freedom():
    # rows are so many that the interval is that of Student's t of three scores
    scores = np.array([0.6, 0.7, 0.86])
    rows = ScoredRows.of(4000)
    correct = np.array([np.arange(4000) < s * 4000 for s in scores], float)  # which also differ on rows: a little
    mean = Systems(rows, correct.mean(axis=0)[None], seeds=[encoder_seeds(correct, rows)]).score(0)
    assert mean.df == pytest.approx(2, rel=0.02)
    low, high = scipy_stats.t.interval(0.95, 2, scores.mean(), scipy_stats.sem(scores))
    assert mean.interval() == pytest.approx((low, high), rel=0.01)


def test_two_recipes_are_compared_as_welch_does_where_rows_do_not_matter():
    rng = np.random.default_rng(6)
    rows = ScoredRows.of(50)
    first, second = (np.repeat(rng.normal(0.7, sd, (k, 1)), 50, axis=1) for k, sd in ((3, 0.02), (6, 0.05)))
    seeds = [encoder_seeds(side, rows) for side in (first, second)]
    difference = Systems(rows, np.array([first.mean(axis=0), second.mean(axis=0)]), seeds=seeds).difference(0, 1)
    expected = scipy_stats.ttest_ind(first[:, 0], second[:, 0], equal_var=False)
    assert (difference.p, difference.df) == pytest.approx((expected.pvalue, expected.df))


def paired(first, second, names):
    """The difference of two systems whose trainings (seeds, n) have these names."""
    rows = ScoredRows.of(first.shape[1])
    seeds = [encoder_seeds(side, rows) for side in (first, second)]
    trainings = [
        dict(zip(side_names, side, strict=True)) for side_names, side in zip(names, (first, second), strict=True)
    ]
    means = np.array([first.mean(axis=0), second.mean(axis=0)])
    return Systems(rows, means, seeds=seeds, trainings=trainings).difference(0, 1)


def test_the_same_trainings_on_both_sides_are_paired():
    # trainings differ by more than the two ways in which each is probed; rows do not matter
    rng = np.random.default_rng(8)
    base = rng.normal(0.7, 0.05, (5, 1))
    first, second = (np.repeat(base + rng.normal(gain, 0.005, (5, 1)), 60, axis=1) for gain in (0.02, 0))
    expected = scipy_stats.ttest_rel(first[:, 0], second[:, 0])
    difference = paired(first, second, ["abcde", "abcde"])
    assert (difference.p, difference.df) == pytest.approx((expected.pvalue, expected.df))
    difference = paired(first[::-1], second, ["edcba", "abcde"])  # whatever their order
    assert difference.p == pytest.approx(expected.pvalue)
    assert paired(first, second, ["abcde", "fghij"]).p > 0.3  # others are drawn independently


@pytest.mark.parametrize("names", [("abc", "abc"), ("abc", "ab")])
def test_trainings_in_common_that_are_right_on_other_rows_have_an_interval(names):
    # of which there is hardly any in the difference: taken off from it, the noise of rows would leave nothing
    first = (np.random.default_rng(9).random((3, 400)) < 0.7).astype(float)
    second = first[: len(names[1])].copy()
    second[:, :2] = 1 - second[:, :2]
    low, high = paired(first, second, names).interval()
    assert high - low < 0.3


def test_the_variance_between_clustered_rows_is_taken_off():
    # encoders of the same accuracy are right on different clusters, by chance
    rng, gaps, noises = np.random.default_rng(7), [], []
    cluster = np.arange(300) // 10
    for _ in range(400):
        easy = rng.random(30) < 0.5
        correct = np.array([np.where(rng.random(30) < 0.5, easy, rng.random(30) < 0.5)[cluster] for _ in range(4)])
        rows = ScoredRows.of(300, cluster)
        between = encoder_seeds(correct.astype(float), rows)
        gaps.append(correct.mean(axis=1).var(ddof=1))
        noises.append(between.variance)
    assert np.mean(noises) < 0.5 * np.mean(gaps)  # no lower: it is at least 0
    assert np.median(noises) == pytest.approx(0, abs=0.2 * np.mean(gaps))
