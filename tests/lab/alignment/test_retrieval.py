"""Retrieval against brute force in float64, whatever the sizes and blocks."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sentprobe.errors import UsageError
from sentprobe.lab.alignment import retrieval
from sentprobe.lab.alignment.maps import MappedRows, SideMap
from sentprobe.lab.alignment.retrieval import (
    CslsIndex,
    log_partition,
    mean_cosines,
    nearest,
    neighbour_means,
    penalty_of,
)

SHAPES = [(1, 1, 1), (7, 300, 5), (300, 7, 5), (257, 129, 16), (400, 400, 32), (64, 64, 1)]


def unit(rng, n, d):
    rows = rng.standard_normal((n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(source, target):
    return source.astype(np.float64) @ target.T.astype(np.float64)


def top_means(scores, k):
    return -np.sort(-scores, axis=1)[:, :k].mean(1)


@pytest.fixture(params=[(8192, 2048), (64, 64), (100, 30)], ids=str)
def blocks(request, monkeypatch):
    outer, block = request.param
    monkeypatch.setattr(retrieval, "OUTER", outer)
    monkeypatch.setattr(retrieval, "BLOCK", block)


@pytest.fixture(params=SHAPES, ids=str)
def pair(request):
    n, m, d = request.param
    rng = np.random.default_rng(n)
    return unit(rng, n, d), unit(rng, m, d)


@pytest.mark.parametrize("k", [1, 10, 1000])
def test_neighbour_means_of_both_sides(pair, blocks, k):
    source, target = pair
    exact = cosines(source, target)
    found = neighbour_means(source, target, k)
    np.testing.assert_allclose(found.source, top_means(exact, k), atol=1e-6)
    np.testing.assert_allclose(found.target, top_means(exact.T, k), atol=1e-6)
    np.testing.assert_allclose(mean_cosines(target, source, k), found.target, atol=1e-6)
    some = np.arange(len(target))[::-2]
    np.testing.assert_allclose(mean_cosines(target, source, k, only=some), found.target[some], atol=1e-6)


@pytest.mark.parametrize("k", [1, 10, 1000])
@pytest.mark.parametrize("scoring", ["nn", "csls"])
def test_nearest(pair, blocks, k, scoring):
    source, target = pair
    exact = cosines(source, target)
    if scoring == "csls":
        exact = 2 * exact - top_means(exact.T, 10)
    found = nearest(source, target, k, penalty=penalty_of(scoring, source, target))
    assert found.rows.shape == found.scores.shape == (len(source), min(k, len(target)))
    np.testing.assert_allclose(found.scores, -np.sort(-exact, axis=1)[:, :k], atol=2e-6)
    np.testing.assert_allclose(np.take_along_axis(exact, found.rows, 1), found.scores, atol=2e-6)
    assert all(len(set(row)) == len(row) for row in found.rows.tolist())


@pytest.mark.usefixtures("blocks")
def test_of_equal_scores_the_lower_row_is_first():
    # small integers are exact in float32, so that there are many ties
    rng = np.random.default_rng(0)
    queries, candidates = (rng.integers(-1, 2, (n, 4)).astype(np.float32) for n in (150, 250))
    order = np.argsort(-(queries @ candidates.T), axis=1, kind="stable")
    for k in (1, 5, 40, 250):
        assert np.array_equal(nearest(queries, candidates, k).rows, order[:, :k])
    penalty = rng.integers(0, 2, 250).astype(np.float32)
    order = np.argsort(-(2 * queries @ candidates.T - penalty), axis=1, kind="stable")
    assert np.array_equal(nearest(queries, candidates, 7, penalty=penalty).rows, order[:, :7])


@pytest.mark.parametrize("temperature", [1, 30, 500])
def test_log_partition(pair, blocks, temperature):
    source, target = pair
    exact = logsumexp(temperature * cosines(source, target), axis=0)
    np.testing.assert_allclose(log_partition(source, target, temperature), exact, rtol=1e-5, atol=1e-4)


def test_the_inverted_softmax_ranks_by_the_share_of_the_query():
    rng = np.random.default_rng(0)
    source, target = unit(rng, 60, 8), unit(rng, 50, 8)
    weights = np.exp(30 * cosines(source, target))
    shares = weights / weights.sum(0)
    found = nearest(source, target, 50, penalty=penalty_of("isf", source, target))
    assert np.array_equal(found.rows[:, :5], np.argsort(-shares, axis=1)[:, :5])
    np.testing.assert_allclose(found.scores, 2 / 30 * np.log(np.take_along_axis(shares, found.rows, 1)), atol=1e-5)


def test_rows_may_come_in_ascending_order_of_their_scores(blocks):
    # every score exceeds all before it
    angles = np.linspace(np.pi, 0.01, 500)
    candidates = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    query = np.array([[1, 0], [-1, 0]], np.float32)
    assert nearest(query, candidates, 3).rows.tolist() == [[499, 498, 497], [0, 1, 2]]
    exact = cosines(candidates, query)
    np.testing.assert_allclose(neighbour_means(query, candidates).source, top_means(exact.T, 10), atol=1e-6)


def test_scores_are_those_of_csls_but_for_what_is_the_same_for_all_candidates(pair):
    source, target = pair
    exact = cosines(source, target)
    exact = 2 * exact - top_means(exact, 10)[:, None] - top_means(exact.T, 10)
    queries = source[:20]
    found = nearest(queries, target, 3, penalty=penalty_of("csls", source, target))
    csls = found.scores - mean_cosines(queries, target)[:, None]
    np.testing.assert_allclose(csls, -np.sort(-exact[:20], axis=1)[:, :3], atol=2e-6)


def test_empty_sides():
    none, some = np.empty((0, 3), np.float32), unit(np.random.default_rng(0), 4, 3)
    assert nearest(none, some, 2).rows.shape == (0, 2)
    assert nearest(some, none, 2).rows.shape == (4, 0)
    assert neighbour_means(some, none).source.tolist() == [0] * 4
    assert neighbour_means(some, none).target.shape == (0,)
    assert log_partition(none, some).tolist() == [-np.inf] * 4
    assert log_partition(some, none).shape == (0,)
    assert CslsIndex(some, none).nearest(some, 2).rows.shape == (4, 0)
    assert CslsIndex(some, some).nearest(none, 2).rows.shape == (0, 2)
    assert np.array_equal(CslsIndex(none, some).nearest(some).rows, nearest(some, some).rows)


def test_zero_rows_have_cosine_zero():
    some = unit(np.random.default_rng(0), 40, 3)
    rows = np.concatenate([np.zeros((1, 3), np.float32), some])
    assert neighbour_means(rows, some).source[0] == 0
    assert nearest(rows, some, 3).rows[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("call", [neighbour_means, mean_cosines, nearest, CslsIndex])
def test_neighbours_are_one_or_more(call):
    some = np.eye(3, dtype=np.float32)
    with pytest.raises(UsageError, match="Expected 1 neighbour or more, got 0"):
        call(some, some, 0)


def test_mapped_rows_are_as_good_as_arrays(blocks):
    rng = np.random.default_rng(0)
    vectors, target, matrix = rng.standard_normal((200, 6)), unit(rng, 150, 4), rng.standard_normal((6, 4))
    side = SideMap(matrix=matrix.astype(np.float32))
    rows = MappedRows(vectors.astype(np.float32), side)
    plain = rows[:]
    np.testing.assert_allclose(np.linalg.norm(plain, axis=1), 1, atol=1e-6)
    for one, two in zip(neighbour_means(rows, target), neighbour_means(plain, target), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)
    assert np.array_equal(nearest(target, rows, 5).rows, nearest(target, plain, 5).rows)


# translations without the means of all words


@pytest.mark.parametrize("k", [1, 10, 700])
@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0, 10.0])
def test_a_translator_finds_what_all_means_find(monkeypatch, k, noise):
    monkeypatch.setattr(retrieval, "SMALLEST", 32)
    monkeypatch.setattr(retrieval, "QUERIES", 100)
    rng = np.random.default_rng(int(10 * noise))
    source = unit(rng, 900, 12)
    target = source[rng.permutation(900)[:600]] + noise * unit(rng, 600, 12)
    target /= np.linalg.norm(target, axis=1, keepdims=True)
    expected = nearest(source[:250], target, k, penalty=penalty_of("csls", source, target))
    translator = CslsIndex(source, target)
    for _ in range(2):
        found = translator.nearest(source[:250], k)
        np.testing.assert_allclose(found.scores, expected.scores, atol=2e-6)
        differ = found.rows != expected.rows
        assert differ.mean() < 0.01  # by rounding only
    assert translator.computed == 1 or (k < 700 and translator.computed > 0)


def test_a_translator_computes_no_more_penalties_than_it_needs(monkeypatch):
    monkeypatch.setattr(retrieval, "SMALLEST", 64)
    rng = np.random.default_rng(0)
    source = unit(rng, 3000, 24)
    translator = CslsIndex(source, source[::-1])
    assert translator.computed == 0
    assert np.array_equal(translator.nearest(source[:30]).rows[:, 0], 2999 - np.arange(30))
    assert translator.computed < 0.05


def test_duplicates_are_found_in_order(monkeypatch):
    monkeypatch.setattr(retrieval, "SMALLEST", 32)
    rows = np.repeat(np.eye(6, dtype=np.float32), 100, axis=0)
    found = CslsIndex(rows, rows).nearest(rows[::100], 150)
    expected = nearest(rows[::100], rows, 150, penalty=penalty_of("csls", rows, rows))
    assert np.array_equal(found.rows, expected.rows)
    assert np.array_equal(found.rows[2, :100], np.arange(200, 300))
