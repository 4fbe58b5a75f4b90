"""The criterion against loops, and against what MUSE's code computes."""

import numpy as np
import pytest

from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.method import Matrices


def brute_force(source, target, matrices, words, k, targets=None):
    one = source.astype(float) @ matrices.source
    two = target.astype(float) if matrices.target is None else target.astype(float) @ matrices.target
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    two /= np.linalg.norm(two, axis=1, keepdims=True)
    cosines = one @ two.T
    penalty = [sum(sorted(column)[-k:]) / k for column in cosines.T]
    found = []
    for row in cosines[:words]:
        best = max(range(len(row)), key=lambda j: 2 * row[j] - penalty[j])
        if targets is None or best < targets:
            found.append(row[best])
    return sum(found) / len(found)


@pytest.fixture
def spaces():
    rng = np.random.default_rng(0)
    return tuple(rng.standard_normal((n, 8)).astype(np.float32) for n in (150, 120))


@pytest.mark.parametrize("width", [8, 5])
def test_criterion(spaces, width):
    rng = np.random.default_rng(1)
    source, target = spaces
    sides = [rng.standard_normal((8, width)).astype(np.float32) for _ in range(2)]
    for matrices in [Matrices(sides[0], sides[1]), *([Matrices(sides[0])] if width == 8 else [])]:
        expected = brute_force(source, target, matrices, 50, 10)
        assert criterion(source, target, matrices, words=50) == pytest.approx(expected, abs=1e-6)
        expected = brute_force(source, target, matrices, 150, 3)
        assert criterion(source, target, matrices, k=3) == pytest.approx(expected, abs=1e-6)


def test_translations_beyond_a_rank_may_be_left_out(spaces):
    matrices = Matrices(np.eye(8, dtype=np.float32))
    expected = brute_force(*spaces, matrices, 50, 10, targets=41)
    assert criterion(*spaces, matrices, words=50, targets=41) == pytest.approx(expected, abs=1e-6)
    assert criterion(*spaces, matrices, targets=0) == -1


def test_a_perfect_map_has_criterion_one(spaces):
    source, _ = spaces
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0].astype(np.float32)
    assert criterion(source, (source @ turn)[::-1], Matrices(turn)) == pytest.approx(1, abs=1e-6)
