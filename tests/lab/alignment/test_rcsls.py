"""RCSLS: its loss against a loop, its gradient against differences, and that it only ever gets better."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.core.arguments import resolve_settings
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.maps import prepare
from sentprobe.lab.alignment.method import Problem
from sentprobe.lab.alignment.methods import rcsls
from sentprobe.lab.alignment.methods.rcsls import RcslsVectors, loss, project

METHOD = METHODS.get("rcsls")


def planted(seed=0, n=300, d=12, noise=0.15):
    rng = np.random.default_rng(seed)
    source = rng.standard_normal((n, d)) / np.arange(1, d + 1) ** 0.5
    bent = np.linalg.qr(rng.standard_normal((d, d)))[0] * rng.uniform(0.5, 1.5, d)
    target = source @ bent + noise * rng.standard_normal((n, d))
    source, target = source.astype(np.float32), target.astype(np.float32)
    prepare(source, METHOD.steps)
    prepare(target, METHOD.steps)
    return source, target


PAIRS = np.stack([np.arange(150), np.arange(150)], axis=1)


def problem(source, target, pairs=PAIRS, seed=0, **given):
    return Problem(source, target, pairs, resolve_settings(METHOD.settings, given, "rcsls"), seed)


def words(source, target, k=10):
    return RcslsVectors(source, target, source, target, k)


def by_loop(source, target, pairs, matrix, k):
    total = 0.0
    for i, j in pairs:
        x, y = source[i].astype(np.float64), target[j].astype(np.float64)
        there = sorted((x @ matrix @ z for z in target.astype(np.float64)), reverse=True)[:k]
        back = sorted((z @ matrix @ y for z in source.astype(np.float64)), reverse=True)[:k]
        total += -2 * (x @ matrix @ y) + np.mean(there) + np.mean(back)
    return total / len(pairs)


@pytest.mark.parametrize("k", [1, 10, 400])
def test_the_loss_is_that_of_a_loop(k):
    source, target = planted(n=60)
    pairs = np.array([(0, 0), (0, 3), (5, 2), (7, 2)])  # words with several translations count once per pair
    matrix = np.random.default_rng(0).standard_normal((12, 12))
    found = loss(words(source, target, k), pairs, matrix)
    assert found.value == pytest.approx(by_loop(source, target, pairs, matrix, k), abs=1e-5)


def test_the_gradient_is_that_of_differences():
    source, target = (side.astype(np.float64) for side in planted(n=80))
    pairs = np.stack([np.arange(40) // 2, np.arange(40)], axis=1)
    matrix = np.random.default_rng(0).standard_normal((12, 12))
    found, step = loss(words(source, target), pairs, matrix), 1e-7
    for at in [(0, 0), (3, 7), (11, 2), (5, 5)]:
        change = np.zeros_like(matrix)
        change[at] = step
        up, down = (loss(words(source, target), pairs, matrix + sign * change).value for sign in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(found.gradient[at], abs=1e-6)


def test_the_loss_does_not_depend_on_blocks(monkeypatch):
    source, target = planted()
    wanted = loss(words(source, target), PAIRS, np.eye(12))
    monkeypatch.setattr(rcsls, "BLOCK", 1000)
    found = loss(words(source, target), PAIRS, np.eye(12))
    assert found.value == pytest.approx(wanted.value, abs=1e-9)
    assert np.allclose(found.gradient, wanted.gradient, atol=1e-9)


def test_equal_neighbours():
    same = np.tile(np.eye(3, dtype=np.float32), (300, 1))
    found = loss(words(same, same), np.array([(0, 0), (1, 1)]), np.eye(3))
    assert found.value == pytest.approx(0)
    assert np.isfinite(found.gradient).all()


def test_the_projection_is_the_nearest_matrix_of_the_unit_ball():
    rng = np.random.default_rng(0)
    matrix = 2 * rng.standard_normal((5, 5))
    found = project(matrix)
    assert np.linalg.norm(found, 2) == pytest.approx(1)
    for _ in range(50):
        other = rng.standard_normal((5, 5))
        other /= max(1, np.linalg.norm(other, 2))
        # no point of a convex set lies beyond the projection
        assert np.vdot(matrix - found, other - found) <= 1e-9
    inside = other / 2
    assert np.allclose(project(inside), inside)


@pytest.mark.parametrize("given", [{}, {"spectral": "yes"}, {"batch": 40}, {"lr": 1000}, {"sample": 100}])
def test_the_loss_falls_from_the_procrustes_solution(given):
    source, target = planted()
    reports = []
    found = METHOD.solve(replace(problem(source, target, **given), report=lambda *r: reports.append(r)))
    losses = [r[3]["loss"] for r in reports]
    turn = METHODS.get("procrustes").solve(problem(source, target)).source
    assert [r[:2] for r in reports] == [("epoch", n) for n in range(1, 11)]
    assert losses == sorted(losses, reverse=True)
    negatives = rcsls._vectors_of_settings(problem(source, target, **given))
    assert losses[-1] < loss(negatives, PAIRS, turn.astype(np.float64)).value - 0.001
    assert losses[-1] == pytest.approx(loss(negatives, PAIRS, found.source.astype(np.float64)).value, abs=1e-5)
    if given.get("spectral"):
        assert np.linalg.norm(found.source, 2) <= 1 + 1e-5


def test_the_learning_rate_is_halved_when_the_loss_grows():
    source, target = planted()
    reports = []
    given = problem(source, target, lr=64, epochs=12, spectral="yes")
    METHOD.solve(replace(given, report=lambda *r: reports.append(r)))
    rates, losses = [r[3]["lr"] for r in reports], [r[3]["loss"] for r in reports]
    assert rates[-1] < 64
    assert losses[-1] < losses[0]
    for n in range(1, 12):
        assert rates[n] == (rates[n - 1] if losses[n] < losses[n - 1] else rates[n - 1] / 2)


@pytest.mark.parametrize("given", [{}, {"batch": 40, "sample": 100}])
def test_an_interrupted_run_ends_as_another(given):
    source, target = planted()
    kept = []
    wanted = METHOD.solve(replace(problem(source, target, **given), save=lambda arrays: kept.append(dict(arrays))))
    assert len(kept) == 10
    for at in (0, 4, 9):
        again = METHOD.solve(replace(problem(source, target, **given), load=lambda at=at: kept[at]))
        assert np.array_equal(again.source, wanted.source)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 8)])
def test_small_vocabularies(n, m):
    source, target = planted()
    pairs = np.array([(0, 0), (1, 1)])
    found = METHOD.solve(problem(source[:n], target[:m], pairs))
    assert np.isfinite(found.source).all()
