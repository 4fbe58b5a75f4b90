"""Moment matching finds rotated copies, with any signs, and survives tiny spaces."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pytest

from sentprobe.core.arguments import resolve_settings
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.maps import prepare
from sentprobe.lab.alignment.method import Matrices, Problem
from sentprobe.lab.alignment.methods.moments import agreements, moments
from sentprobe.lab.alignment.space import Matrix
from tests.lab.alignment.planted import Planted, plant

METHOD = METHODS["moments"]


def centred(found: Planted) -> Planted:
    found = found._replace(source=found.source.copy(), target=found.target.copy())
    prepare(found.source, METHOD.steps)
    prepare(found.target, METHOD.steps)
    return found


def solve(source: Matrix, target: Matrix, **settings: float) -> tuple[Matrix, dict[str, float]]:
    facts: dict[str, float] = {}

    def report(stage: str, number: int, matrices: Matrices | None, known: Mapping[str, float]) -> None:
        facts.update(known)

    given = resolve_settings(METHOD.settings, settings, "moments")
    problem = Problem(source, target, None, given, criterion=partial(criterion, source, target), report=report)
    return METHOD.solve(problem).source, facts


@pytest.mark.parametrize("seed", range(5))
def test_a_rotation_is_found(seed: int) -> None:
    found = centred(plant(600, 12, seed=seed))
    matrix, _ = solve(found.source, found.target)
    assert found.precision(matrix) > 0.95
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(12), atol=1e-5)


def test_signs_by_the_criterion_alone() -> None:
    found = centred(plant(300, 6, seed=1))
    matrix, facts = solve(found.source, found.target, agreement=1.0)
    assert facts["undecided"] == 6
    assert facts["criterion"] == pytest.approx(criterion(found.source, found.target, Matrices(matrix)))
    assert found.precision(matrix) > 0.95


def test_second_moments_match_and_third_moments_agree() -> None:
    found = centred(plant(500, 8, noise=0, seed=2))
    matrix, _ = solve(found.source, found.target)
    mapped = (found.source @ matrix).astype(np.float64)
    target = found.target.astype(np.float64)
    np.testing.assert_allclose(mapped.T @ mapped, target.T @ target, atol=1e-2)
    np.testing.assert_allclose(agreements(moments(found.source @ matrix), moments(found.target)) ** 2, 1, atol=1e-3)


def test_third_moments_against_a_loop() -> None:
    rows = plant(40, 3).source
    found = moments(rows)
    z = rows.astype(np.float64) @ found.vectors
    z /= np.sqrt((z**2).mean(0))
    expected = [[np.mean([r[i] * r[j] ** 2 for r in z]) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(found.third, expected, rtol=1e-6)


@pytest.mark.parametrize(("words", "others"), [(2, 2), (2, 50), (5, 3)])
def test_fewer_words_than_dimensions(words: int, others: int) -> None:
    matrix, _ = solve(plant(words, 8).source, plant(others, 8, seed=1).source)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(8), atol=1e-5)


def test_zero_vectors() -> None:
    matrix, _ = solve(np.zeros((3, 4), np.float32), np.zeros((3, 4), np.float32))
    assert np.isfinite(matrix).all()
