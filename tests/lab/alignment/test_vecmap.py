"""vecmap: its algebra against scipy, its dictionaries against loops, and planted rotations that it has to find."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from sentprobe.core.arguments import resolve_settings
from sentprobe.errors import TooFewError
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.maps import prepare, unit_rows
from sentprobe.lab.alignment.method import Problem
from sentprobe.lab.alignment.methods import _induction
from sentprobe.lab.alignment.methods._induction import induce
from sentprobe.lab.alignment.methods._weighted import Weights, products, roots, rotation, weighted
from sentprobe.lab.alignment.methods.vecmap import start
from sentprobe.lab.alignment.top_k import top_columns, top_mean

METHOD = METHODS.get("vecmap")
QUICK = {"interval": 5, "start_words": 300, "random_words": 300}


def words_like(rng, n, d):
    """Vectors in clusters, with few strong and many weak directions."""
    centres = rng.standard_normal((n // 8 + 1, d))
    found = centres[rng.integers(0, len(centres), n)] + 0.7 * rng.standard_normal((n, d))
    return found / np.arange(1, d + 1) ** 0.5


def planted(seed=0, n=400, d=20, noise=0.02):
    """A space, the same rotated with noise and in another order, and where its words are now."""
    rng = np.random.default_rng(seed)
    source = words_like(rng, n, d)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    # the most frequent stay among the most frequent
    order = np.argsort(np.arange(n) + rng.uniform(0, 20, n))
    target = (source @ turn + noise * rng.standard_normal((n, d)))[order]
    source, target = source.astype(np.float32), target.astype(np.float32)
    prepare(source, METHOD.steps)
    prepare(target, METHOD.steps)
    return source, target, np.argsort(order)


def problem(source, target, pairs=None, seed=0, **given):
    return Problem(source, target, pairs, resolve_settings(METHOD.settings, given, "vecmap"), seed)


def precision(source, target, found, gold):
    one, two = source @ found.source, target @ found.target
    unit_rows(one)
    unit_rows(two)
    return float(((one @ two.T).argmax(1) == gold).mean())


@pytest.mark.parametrize(("n", "m", "k"), [(7, 900, 10), (5, 335, 10), (4, 12, 10), (3, 4, 10), (6, 1, 3), (9, 640, 1)])
def test_the_largest_of_each_row(n, m, k):
    scores = np.random.default_rng(m).standard_normal((n, m)).astype(np.float32)
    wanted = np.sort(scores, axis=1)[:, -min(k, m) :]
    assert np.array_equal(np.sort(np.take_along_axis(scores, top_columns(scores, k), 1), axis=1), wanted)
    assert np.allclose(top_mean(scores, k), wanted.mean(1), atol=1e-6)


def test_the_largest_of_equal_numbers():
    assert np.array_equal(top_mean(np.full((2, 700), 0.5, np.float32), 10), np.full(2, 0.5, np.float32))
    columns = top_columns(np.zeros((2, 700), np.float32), 10)
    assert all(len(set(row)) == 10 for row in columns.tolist())


def test_roots_are_those_of_scipy():
    rows = np.random.default_rng(0).standard_normal((60, 8))
    gram = rows.T @ rows
    white, color = roots(gram)
    assert np.allclose(color, scipy.linalg.sqrtm(gram), atol=1e-9)
    assert np.allclose(white, scipy.linalg.inv(scipy.linalg.sqrtm(gram)), atol=1e-9)
    # whitened rows have the identity as their Gram matrix
    assert np.allclose((rows @ white).T @ (rows @ white), np.eye(8), atol=1e-9)


def test_roots_of_a_matrix_without_full_rank():
    rows = np.random.default_rng(0).standard_normal((60, 8))
    rows[:, 3] = rows[:, 2]
    white, color = roots(rows.T @ rows)
    assert np.allclose(white, scipy.linalg.pinv(scipy.linalg.sqrtm(rows.T @ rows).real, rtol=1e-6), atol=1e-6)
    assert np.allclose(color @ color, rows.T @ rows, atol=1e-9)


def test_products_do_not_depend_on_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    one, two = rng.standard_normal((2, 30, 4)).astype(np.float32)
    rows, others = rng.integers(0, 30, (2, 50))
    wanted = one[rows].astype(np.float64).T @ two[others].astype(np.float64)
    monkeypatch.setattr("sentprobe.lab.alignment.methods._weighted.BLOCK", 7)
    assert np.allclose(products(one, rows, two, others), wanted, atol=1e-12)


@pytest.mark.parametrize("weights", [Weights(), Weights(source_reweight=0, target_reweight=1), Weights(dewhiten=False)])
def test_the_weighted_map_step_by_step(weights):
    """The steps of the paper one after another, on the rows of the dictionary, with scipy."""
    rng = np.random.default_rng(1)
    source, target = rng.standard_normal((2, 90, 6)).astype(np.float32)
    pairs = np.stack([rng.integers(0, 90, 120), rng.integers(0, 90, 120)], axis=1)
    x, z = source[pairs[:, 0]].astype(np.float64), target[pairs[:, 1]].astype(np.float64)
    white_x, white_z = (scipy.linalg.inv(scipy.linalg.sqrtm(m.T @ m)) for m in (x, z))
    left, s, right = scipy.linalg.svd((x @ white_x).T @ (z @ white_z))
    one, two = x @ white_x @ left * s**weights.source_reweight, z @ white_z @ right.T * s**weights.target_reweight
    if weights.dewhiten:
        one = one @ (left.T @ scipy.linalg.inv(white_x) @ left)
        two = two @ (right @ scipy.linalg.inv(white_z) @ right.T)
    found = weighted(source, target, pairs, weights)
    # singular vectors have no sign, so that only products of both sides are determined
    assert np.allclose(x @ found.source @ (z @ found.target).T, one @ two.T, atol=1e-5)
    assert np.allclose(x @ found.source @ found.source.T @ x.T, one @ one.T, atol=1e-4)


def test_without_whitening_and_weights_it_is_procrustes():
    source, target, gold = planted()
    pairs = np.stack([np.arange(100), gold[:100]], axis=1)
    found = weighted(source, target, pairs, Weights(False, 0, 0, False))
    turn = METHODS.get("procrustes").solve(problem(source, target, pairs)).source
    assert np.allclose(found.source @ found.target.T, turn, atol=1e-5)
    assert np.allclose(rotation(source, target, pairs), turn, atol=1e-5)
    assert np.allclose(found.source.T @ found.source, np.eye(20), atol=1e-5)


def test_fewer_dimensions():
    source, target, gold = planted()
    pairs = np.stack([np.arange(300), gold[:300]], axis=1)
    every = METHOD.solve(problem(source, target, pairs))
    some = METHOD.solve(problem(source, target, pairs, dimensions=7))
    assert some.source.shape == some.target.shape == (20, 7)
    assert np.array_equal(some.source, every.source[:, :7])


def test_a_dictionary_finds_all_words():
    source, target, gold = planted()
    pairs = np.stack([np.arange(0, 400, 4), gold[::4]], axis=1)
    assert precision(source, target, METHOD.solve(problem(source, target, pairs)), gold) > 0.99


def by_loop(one, two, k):
    cosines = one.astype(np.float64) @ two.T.astype(np.float64)
    means = [np.sort(c, axis=1)[:, -k:].mean(1) for c in (cosines, cosines.T)]
    pairs = [(i, max(range(len(two)), key=lambda j: (2 * cosines[i, j] - means[1][j], -j))) for i in range(len(one))]
    pairs += [(max(range(len(one)), key=lambda i: (2 * cosines[i, j] - means[0][i], -i)), j) for j in range(len(two))]
    return pairs, (cosines.max(1).mean() + cosines.max(0).mean()) / 2


@pytest.mark.parametrize(("n", "m"), [(30, 50), (3, 4), (1, 5)])
def test_a_dictionary_is_that_of_a_loop(n, m):
    rng = np.random.default_rng(0)
    one, two = rng.standard_normal((n, 6)).astype(np.float32), rng.standard_normal((m, 6)).astype(np.float32)
    unit_rows(one)
    unit_rows(two)
    pairs, objective = by_loop(one, two, 10)
    found = induce(one, two, 10)
    assert found.pairs.tolist() == [list(pair) for pair in pairs]
    assert found.objective == pytest.approx(objective, abs=1e-6)


def test_of_equal_candidates_the_first():
    one = np.eye(4, dtype=np.float32)
    two = np.concatenate([one, one])
    assert induce(one, two, 2).pairs[:4].tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]


def streams():
    return np.random.default_rng(5), np.random.default_rng(6)


@pytest.mark.parametrize("keep", [0.1, 0.5, 1.0])
def test_dictionaries_do_not_depend_on_blocks(monkeypatch, keep):
    source, target, _ = planted(n=150)
    wanted = induce(source, target[:133], 10, keep, streams())
    monkeypatch.setattr(_induction, "HELD", 0)
    monkeypatch.setattr(_induction, "BLOCK", 1000)
    found = induce(source, target[:133], 10, keep, streams())
    assert np.array_equal(found.pairs, wanted.pairs)
    assert found.objective == pytest.approx(wanted.objective, abs=1e-6)


def test_candidates_are_left_out_at_random():
    """The r-th best candidate is chosen with probability keep (1 − keep)^(r − 1)."""
    rng = np.random.default_rng(0)
    one, two = np.ones((20_000, 1), np.float32), np.sort(rng.uniform(0.1, 1, (40, 1)).astype(np.float32), axis=0)[::-1]
    found = induce(one, np.ascontiguousarray(two), 1, 0.25, streams()).pairs[:20_000, 1]
    # one neighbour: the mean of every candidate is its own cosine, so that half of it is left, in the same order
    share = np.bincount(found, minlength=40)[:4] / 20_000
    assert share == pytest.approx([0.25, 0.1875, 0.1406, 0.1055], abs=0.012)


def test_with_few_words_left_out_altogether_none_is():
    one = np.eye(3, dtype=np.float32)
    found = induce(one, one, 1, 0.001, streams()).pairs
    assert found.shape == (6, 2)
    assert found.tolist() == [[0, 0], [1, 1], [2, 2]] * 2


def test_the_start_is_better_than_chance():
    source, target, gold = planted()
    pairs = start(source, target, 4000, 10)
    assert (gold[pairs[:, 0]] == pairs[:, 1]).mean() > 0.05


def test_the_start_does_not_depend_on_rotation():
    source, target, _ = planted()
    turn = np.linalg.qr(np.random.default_rng(9).standard_normal((20, 20)))[0].astype(np.float32)
    same = (start(source, target, 100, 10) == start(source @ turn, target, 100, 10)).mean()
    assert same > 0.98


@pytest.mark.parametrize("seed", [0, 1])
def test_a_planted_rotation_is_found_without_a_dictionary(seed):
    source, target, gold = planted(seed)
    reports = []
    given = replace(problem(source, target, seed=seed, **QUICK), report=lambda *r: reports.append(r))
    assert precision(source, target, METHOD.solve(given), gold) > 0.95
    numbers, keeps = [r[1] for r in reports], [r[3]["keep"] for r in reports[:-1]]
    assert numbers == list(range(1, len(reports) + 1))
    assert keeps == sorted(keeps)
    assert sorted(set(keeps)) == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0])
    assert reports[-1][2] is not None
    assert sum(r[2] is not None for r in reports[:-1]) == (len(reports) - 1) // 10
    assert all(0 < r[3]["objective"] <= 1.0001 for r in reports[:-1])


def test_a_seed_dictionary_is_enough():
    source, target, gold = planted()
    pairs = np.stack([np.arange(12), gold[:12]], axis=1)
    with pytest.raises(TooFewError, match=r"12 different words .* whitening needs 20.*supervised=no"):
        METHOD.solve(problem(source, target, pairs))
    found = METHOD.solve(problem(source, target, pairs, supervised="no", **QUICK))
    assert precision(source, target, found, gold) > 0.95


def test_an_interrupted_run_ends_as_another():
    source, target, _ = planted(n=200)
    kept = []
    wanted = METHOD.solve(replace(problem(source, target, **QUICK), save=lambda arrays: kept.append(dict(arrays))))
    for at in (0, len(kept) // 2, len(kept) - 1):
        reports = []
        again = replace(
            problem(source, target, **QUICK),
            load=lambda at=at: kept[at],
            report=lambda *r, reports=reports: reports.append(r[1]),
        )
        found = METHOD.solve(again)
        assert np.array_equal(found.source, wanted.source)
        assert np.array_equal(found.target, wanted.target)
        assert reports == list(range(at + 2, len(kept) + 2))


def test_the_same_seed_and_others():
    source, target, _ = planted(n=200)
    first, again, other = (METHOD.solve(problem(source, target, seed=s, rounds=3, **QUICK)).source for s in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 9), (15, 12)])
def test_small_vocabularies(n, m):
    """Fewer words than neighbours, than dimensions and than every limit."""
    source, target, _ = planted(n=30)
    found = METHOD.solve(problem(source[:n].copy(), target[:m].copy(), interval=2))
    assert np.isfinite(found.source).all()
    assert np.allclose(found.source @ found.source.T, np.eye(20), atol=1e-4)  # too few for more than a rotation


def test_problems_are_not_changed():
    source, target, gold = planted(n=100)
    one, two = source.copy(), target.copy()
    METHOD.solve(problem(source, target, rounds=3, **QUICK))
    METHOD.solve(problem(source, target, np.stack([np.arange(100), gold], axis=1)))
    assert np.array_equal(source, one)
    assert np.array_equal(target, two)
