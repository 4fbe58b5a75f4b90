"""Imitation: a linear function is found exactly, noise is not learned, and least squares are those of numpy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sentprobe.errors import ShapeError
from sentprobe.probes import Features
from sentprobe.probes.added import imitate


def drawn(n=500, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 3 * rng.normal(size=d)).astype(np.float32)


def read(model, x):
    return x @ model.weights.T + model.bias


def split(x, targets, at=400):
    return Features.of(x[:at]), targets[:at], Features.of(x[at:]), targets[at:]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_linear_function_is_imitated(sparse):
    x = drawn()
    x[:, 3] = 7  # a constant dimension
    targets = x @ np.random.default_rng(1).normal(size=(12, 3)) - 5
    train, given, dev, dev_targets = split(x, targets)
    if sparse:
        train, dev = (Features.of(csr_array(each.take(slice(None)))) for each in (train, dev))
    found = read(imitate(train, given, dev, dev_targets), x)
    assert np.abs(found - targets).max() < 1e-3 * targets.std()


def test_least_squares_are_those_of_numpy_where_dev_asks_for_them():
    """With dev targets that are the least-squares prediction itself, the search goes on to it."""
    x, rng = drawn(), np.random.default_rng(2)
    targets = x @ rng.normal(size=(12, 2)) + 4 * rng.normal(size=(500, 2))
    rows = np.column_stack([x, np.ones(500)]).astype(np.float64)
    oracle = rows @ np.linalg.lstsq(rows[:400], targets[:400])[0]
    model = imitate(Features.of(x[:400]), targets[:400], Features.of(x[400:]), oracle[400:])
    assert read(model, x) == pytest.approx(oracle, abs=1e-3 * targets.std())


def test_noise_is_not_learned():
    rng = np.random.default_rng(0)
    x, targets = rng.normal(size=(200, 150)).astype(np.float32), rng.normal(size=(200, 1))
    found = read(imitate(*split(x, targets, 120)), x)
    error, constant = (np.square(each - targets[120:]).mean() for each in (found[120:], targets[:120].mean()))
    assert error <= 1.001 * constant


def test_columns_are_imitated_by_themselves():
    x, rng = drawn(), np.random.default_rng(1)
    targets = np.column_stack([x @ rng.normal(size=12), 1e-4 * x @ rng.normal(size=12), np.full(500, 2.0)])
    found = read(imitate(*split(x, targets)), x)
    assert np.abs(found - targets).max(axis=0) == pytest.approx(0, abs=1e-2 * targets[:, 0].std())
    assert found[:, 2] == pytest.approx(2.0)


def test_targets_must_be_those_of_the_rows():
    x = drawn()
    with pytest.raises(ShapeError, match="as many targets as rows: 400 and 100"):
        imitate(Features.of(x[:400]), np.zeros((399, 1)), Features.of(x[400:]), np.zeros((100, 1)))
