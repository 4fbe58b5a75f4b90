"""Refinement: the dictionary against loops, planted rotations, and when it stops."""

import numpy as np
import pytest

from sentprobe.errors import DataError
from sentprobe.lab.alignment import refine as module
from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.methods.procrustes import orthogonal
from sentprobe.lab.alignment.refine import mutual_neighbours, refine


def planted(seed, n=400, d=12, noise=0.05):
    """Two spaces, the second a turned, noisy and shuffled copy of the first; the rotation; the row of each word."""
    rng = np.random.default_rng(seed)
    source = rng.standard_normal((n, d)).astype(np.float32)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0].astype(np.float32)
    order = rng.permutation(n)
    target = (source @ turn + noise * rng.standard_normal((n, d)).astype(np.float32))[order]
    return source, target, turn, np.argsort(order)


def close_to(turn, seed, angle):
    noise = np.random.default_rng(seed).standard_normal(turn.shape)
    return orthogonal(np.eye(len(turn), dtype=np.float32), (turn + angle * noise).astype(np.float32))


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("words", [30, 100, 1000])
@pytest.mark.parametrize("sides", [1, 2])
def test_the_dictionary_holds_mutual_neighbours(words, sides):
    source, target, turn, _ = planted(0, n=150, noise=0.8)
    target = target[:120]
    other = np.random.default_rng(1).standard_normal((12, 12)).astype(np.float32)
    matrices = Matrices(turn) if sides == 1 else Matrices(turn @ other, other)
    cosines = unit((source @ matrices.source).astype(float)) @ unit(target @ (other if sides == 2 else np.eye(12))).T
    of_source, of_target = (np.sort(c, axis=1)[:, -10:].mean(1) for c in (cosines, cosines.T))
    scores = 2 * cosines - of_source[:, None] - of_target
    expected = [
        [s, t] for s in range(min(words, 150)) for t in [int(scores[s].argmax())]
        if t < words and scores[:, t].argmax() == s
    ]  # fmt: skip
    found = mutual_neighbours(source, target, matrices, words)
    assert found.tolist() == expected
    assert 0 < len(expected) < 120


def test_refinement_finds_a_planted_rotation():
    source, target, turn, place = planted(3)
    start = Matrices(close_to(turn, 0, 0.15))
    rounds = list(refine(source, target, start, 5))
    assert 1 <= len(rounds) <= 5
    best = max(rounds, key=lambda r: r.criterion)
    assert best.criterion > criterion(source, target, start)
    assert np.abs(best.matrices.source - turn).max() < 0.02
    assert np.array_equal(best.pairs[:, 1], place[best.pairs[:, 0]])


@pytest.mark.parametrize("sides", [1, 2])
def test_a_round_is_a_dictionary_procrustes_and_the_criterion(sides):
    source, target, turn, _ = planted(4, noise=0.5)
    other = np.random.default_rng(5).standard_normal((12, 7)).astype(np.float32)
    matrices = Matrices(turn @ other, other) if sides == 2 else Matrices(close_to(turn, 0, 0.2))
    before = -np.inf
    for found in refine(source, target, matrices, 4, words=300):
        pairs = mutual_neighbours(source, target, matrices, 300)
        assert np.array_equal(found.pairs, pairs)
        there = target if sides == 1 else target @ other
        expected = orthogonal(source[pairs[:, 0]], there[pairs[:, 1]])
        np.testing.assert_allclose(found.matrices.source, expected, atol=1e-5)
        assert found.matrices.target is matrices.target
        assert found.criterion == pytest.approx(criterion(source, target, found.matrices), abs=1e-6)
        assert before < criterion(source, target, matrices) + 1e-6
        before, matrices = criterion(source, target, matrices), found.matrices


@pytest.mark.parametrize(
    ("values", "rounds", "yielded"),
    [
        ([0.1, 0.2, 0.3, 0.4], 3, [0.2, 0.3, 0.4]),
        ([0.1, 0.2, 0.15, 0.4], 3, [0.2, 0.15]),
        ([0.3, 0.2, 0.4], 2, [0.2]),
        ([0.2, 0.2, 0.2], 2, [0.2, 0.2]),
        ([0.1], 0, []),
    ],
)
def test_it_stops_when_the_criterion_falls(monkeypatch, values, rounds, yielded):
    source, target, turn, _ = planted(6)
    left = iter(values)
    monkeypatch.setattr(module, "mean_cosine", lambda *_: next(left))
    assert [r.criterion for r in refine(source, target, Matrices(turn), rounds)] == yielded


def test_what_an_interrupted_run_had_reached_counts():
    source, target, turn, _ = planted(6)
    assert list(refine(source, target, Matrices(turn), 3, above=2.0)) == []


def test_too_few_pairs_are_an_error():
    rng = np.random.default_rng(0)
    source, target = rng.standard_normal((300, 40)), rng.standard_normal((300, 40))
    target[1:] = target[0] + 1e-3 * target[1:]  # nearly one point
    with pytest.raises(DataError, match=r"(?s)Only \d of the 5 most frequent.*dictionary, another method"):
        list(
            refine(
                source.astype(np.float32), target.astype(np.float32), Matrices(np.eye(40, dtype=np.float32)), words=5
            )
        )


def test_small_vocabularies_can_be_refined():
    source = np.eye(3, dtype=np.float32)
    rounds = list(refine(source, source[::-1].copy(), Matrices(np.eye(3, dtype=np.float32)[::-1].copy()), 2))
    assert rounds[-1].criterion == pytest.approx(1)
    assert rounds[-1].pairs.tolist() == [[0, 0], [1, 1], [2, 2]] or len(rounds[-1].pairs) == 3
