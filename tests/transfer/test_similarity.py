from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from sentprobe.errors import DataError, ShapeError, TooFewError, UsageError
from sentprobe.probes import Features
from sentprobe.transfer import similarity as module
from sentprobe.transfer.similarity import correlations, similarity


def cosines(one, two):
    return similarity(Features.of(np.array(one)), Features.of(np.array(two)))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 5), st.sampled_from([np.float32, np.float64]))
def test_it_is_the_cosine_of_each_row(seed, rows, dimensions, dtype):
    draw = np.random.RandomState(seed)
    one, two = (draw.normal(size=(rows, dimensions)).astype(dtype) for _ in range(2))
    expected = [u @ v / (np.linalg.norm(u) * np.linalg.norm(v)) for u, v in zip(one, two, strict=True)]
    np.testing.assert_allclose(cosines(one, two), expected, atol=1e-6)
    np.testing.assert_allclose(cosines(3 * one, two), expected, atol=1e-6)
    np.testing.assert_allclose(cosines(one, -two), -np.array(expected), atol=1e-6)


def test_rows_are_gathered_a_chunk_at_a_time(monkeypatch):
    draw = np.random.RandomState(0)
    one, two = draw.normal(size=(10, 3)), draw.normal(size=(10, 3))
    expected = cosines(one, two)
    monkeypatch.setattr(module, "COSINE_ROWS", 4)
    np.testing.assert_array_equal(cosines(one, two), expected)


def test_vectors_without_a_direction_have_the_cosine_0():
    one = [[0.0, 0.0], [np.inf, 1.0], [-np.inf, np.inf], [np.nan, np.nan]]
    np.testing.assert_array_equal(cosines(one, np.ones((4, 2))), np.zeros(4))
    np.testing.assert_array_equal(cosines(np.ones((4, 2)), one), np.zeros(4))


def test_a_value_that_is_no_number_counts_as_0():
    np.testing.assert_allclose(cosines([[np.nan, 3.0, 4.0]], [[1.0, 3.0, np.nan]]), [9 / (5 * np.sqrt(10))])


def test_vectors_of_any_size_have_a_cosine():
    np.testing.assert_allclose(cosines([[1e38, 1e38], [1e-40, 0]], [[1e38, 0], [1e-40, 1e-40]]), [np.sqrt(0.5)] * 2)


def test_sides_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(2, 4\)"):
        cosines(np.ones((2, 3)), np.ones((2, 4)))


def example(sizes=(30, 8, 50), seed=0):
    """Similarities, gold scores with ties, and the group of each row, in any order."""
    draw = np.random.RandomState(seed)
    groups = draw.permutation(np.repeat([f"set {i}" for i in range(len(sizes))], sizes))
    gold = draw.randint(0, 11, size=len(groups)) / 2
    return gold / 5 + draw.normal(size=len(groups)), gold, groups


def test_groups_are_correlated_one_by_one_and_added_up_in_three_ways():
    x, gold, groups = example()
    found = correlations(x, gold, groups.tolist(), seed=1)
    assert list(found.groups) == list(dict.fromkeys(groups.tolist()))
    for name, group in found.groups.items():
        assert group.n == (groups == name).sum()
        assert group.pearson == pearsonr(x[groups == name], gold[groups == name])
        assert group.spearman == spearmanr(x[groups == name], gold[groups == name])
    for kind, work in (("pearson", pearsonr), ("spearman", spearmanr)):
        summary, sizes = getattr(found, kind), [group.n for group in found.groups.values()]
        each = [getattr(group, kind)[0] for group in found.groups.values()]
        assert summary.mean == pytest.approx(sum(each) / 3)
        assert summary.weighted == pytest.approx(sum(r * n for r, n in zip(each, sizes, strict=True)) / 88)
        assert summary.overall == pytest.approx(work(x, gold)[0])
        assert summary.low < summary.overall < summary.high
    assert found.n == 88


def test_results_are_scipys_own_which_clients_take_apart():
    found = correlations(*example(), seed=1).groups["set 0"]
    value, p = found.spearman
    assert found.spearman.correlation == found.spearman[0] == found.spearman.statistic == value
    assert found.pearson.statistic == found.pearson[0]
    assert 0 <= p <= 1


def test_draws_are_what_scipy_says_of_the_rows_drawn():
    x, gold, _ = example((25,), seed=3)
    x = x.round(1)  # ties on both sides
    found = module._bootstrap(x, gold, np.random.default_rng(7), 60)
    order = np.lexsort((gold, x))
    drawn = np.random.default_rng(7).integers(25, size=(60, 25))
    for kind, work in zip(found, (pearsonr, spearmanr), strict=True):
        expected = [work(x[order][rows], gold[order][rows])[0] for rows in drawn]
        np.testing.assert_allclose(kind, expected, atol=1e-12)


def test_many_rows_are_drawn_in_parts_of_some_draws(monkeypatch):
    x, gold, _ = example((25,))
    overall = module._bootstrap(x, gold, np.random.default_rng(7), 101)
    monkeypatch.setattr(module, "CHUNK_CELLS", 25 * 10)
    for one, other in zip(module._bootstrap(x, gold, np.random.default_rng(7), 101), overall, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_interval_depends_on_the_seed_and_not_on_the_order_of_rows():
    x, gold, groups = example()
    order = np.random.RandomState(5).permutation(len(x))
    first, turned, other = (
        correlations(x[rows], gold[rows], groups[rows].tolist(), seed=seed).spearman
        for rows, seed in ((slice(None), 1), (order, 1), (slice(None), 2))
    )
    assert (first.low, first.high) == (turned.low, turned.high)
    assert (first.low, first.high) != (other.low, other.high)


def test_the_interval_is_narrower_with_more_rows_and_wider_at_a_higher_level(monkeypatch):
    widths = []
    for sizes, level in (((400,), 0.95), ((100,), 0.95), ((100,), 0.999)):
        monkeypatch.setattr("sentprobe.stats.level.LEVEL", level)
        found = correlations(*example(sizes), seed=1).pearson
        widths.append(found.high - found.low)
    assert all(narrow < wide for narrow, wide in pairwise(widths))


def test_the_interval_is_about_what_theory_says():
    draw = np.random.RandomState(0)
    x = draw.normal(size=500)
    y = 0.6 * x + 0.8 * draw.normal(size=500)
    found = correlations(x, y, ["all"] * 500, seed=1).pearson
    # Fisher's z for a bivariate normal: tanh(atanh(r) ± 1.96 / sqrt(n - 3))
    expected = np.tanh(np.arctanh(found.overall) + np.array([-1.96, 1.96]) / np.sqrt(497))
    np.testing.assert_allclose([found.low, found.high], expected, atol=0.015)


def test_a_side_that_does_not_vary_has_no_correlation():
    _, gold, groups = example()
    found = correlations(np.full(88, 0.1), gold, groups.tolist(), seed=1)
    for summary in (found.pearson, found.spearman):
        assert np.isnan([summary.mean, summary.weighted, summary.overall, summary.low, summary.high]).all()


def test_perfect_agreement_has_an_interval_of_no_width():
    found = correlations(np.arange(20.0), 3 * np.arange(20.0), ["all"] * 20, seed=1)
    assert found.spearman.low == pytest.approx(1)
    assert found.pearson.high == pytest.approx(1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"gold": [1.0, 2.0]}, DataError, "4 rows and gold 2"),
        ({"groups": ["a"]}, DataError, "groups 1"),
        ({"similarities": [1.0, np.nan, 2.0, 3.0]}, DataError, "not finite"),
        ({"groups": ["a", "b", "b", "b"]}, TooFewError, "The group a must have at least 3"),
        ({"draws": 5}, UsageError, "draws"),
    ],
)
def test_what_cannot_be_correlated_is_refused(change, error, message):
    given_rows = {"similarities": [1.0, 3.0, 2.0, 4.0], "gold": [1.0, 2.0, 3.0, 4.0], "groups": ["a"] * 4, "seed": 1}
    with pytest.raises(error, match=message):
        correlations(**{**given_rows, **change})
