"""Sparse rows: the optimum of the same rows in a dense array, from what is not 0 alone."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from sentprobe.errors import DataError
from sentprobe.probes import Features, convex, fit, named
from sentprobe.probes.convex import data as training
from sentprobe.probes.convex import rows as reading
from sentprobe.probes.convex import search
from sentprobe.probes.convex.engine import Numpy

LINEAR = named("linear")
CLOSE = 1e-3
"""How far apart two probabilities of the same optimum may be, as in test_convex."""


def bags(n, d, classes, seed=0):
    """Normalised bags of words (n, d) by Zipf's law, one word in three that of a class, and their labels.

    One column is always 0, one always the same, and one is there in all rows but one.
    """
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, d - 2)
    words = rng.choice(d - 3, size=(n, 12), p=shares / shares.sum())
    labels = rng.integers(classes, size=n)
    words[:, :4] = np.where(rng.random((n, 4)) < 0.3, 5 + labels[:, None] % (d - 8), words[:, :4])
    rows = np.zeros((n, d), np.float32)
    np.add.at(rows, (np.arange(n)[:, None], words), 1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[:, d - 2] = 0.3
    rows[1:, d - 1] = 0.1
    return rows, labels


def both(rows):
    return Features.of(rows), Features.of(sparse.csr_array(rows))


STRONG = replace(LINEAR, l2=(1e-2, 1e-1, 1.0))
"""Without the penalties with which rows of few words are separable, and the loss is too flat to compare weights."""


@pytest.mark.parametrize(("classes", "d"), [(2, 60), (5, 60), (5, 900)], ids=["binary", "5 classes", "wide"])
def test_the_optimum_is_that_of_the_dense_rows(classes, d):
    rows, y = bags(700, d, classes)
    found = []
    for train, dev, test in zip(both(rows[:400]), both(rows[400:550]), both(rows[550:]), strict=True):
        (one,) = fit(STRONG, train, y[:400], dev, y[400:550], classes)
        found.append((one, np.exp(one.model.scores(test))))
    (dense, expected), (one, probabilities) = found
    assert one.chosen == dense.chosen
    assert one.dev == dense.dev
    assert np.abs(probabilities - expected).max() < CLOSE
    for mine, other in zip(one.tried, dense.tried, strict=True):
        assert mine["converged"] == (mine["l2"] == one.chosen["l2"])
        if mine["converged"]:
            assert mine["loss"] == pytest.approx(other["loss"], abs=CLOSE)


@pytest.mark.parametrize("classes", [2, 5])
def test_a_search_in_float32_ends_at_the_same_optimum(classes, monkeypatch):
    rows, y = bags(700, 60, classes)
    found = []
    for most in (training.MAX_DOUBLES, 0):
        monkeypatch.setattr(training, "MAX_DOUBLES", most)
        train, dev = (Features.of(sparse.csr_array(some)) for some in (rows[:500], rows[500:]))
        found += fit(STRONG, train, y[:500], dev, y[500:], classes)
    usual, single = found
    assert not np.array_equal(single.model.weights, usual.model.weights)
    assert (single.chosen, single.dev) == (usual.chosen, usual.dev)
    for one, other in zip(single.tried, usual.tried, strict=True):
        assert (one["passes"], one["converged"]) == (other["passes"], other["converged"])
        assert one["loss"] == pytest.approx(other["loss"], abs=1e-5)


def test_a_class_without_rows_gets_the_probability_that_it_gets_in_dense_rows():
    rows, y = bags(300, 40, 3)
    y[y == 1] = 2
    dense, one = (fit(LINEAR, train, y, train, y, 3)[0].model.scores(train) for train in both(rows))
    assert np.abs(np.exp(dense) - np.exp(one)).max() < CLOSE


def test_rows_are_never_made_dense(monkeypatch):
    def refuse(*_):
        raise AssertionError("dense rows")

    rows, y = bags(300, 40, 3)
    train = Features.of(sparse.csr_array(rows))
    monkeypatch.setattr(Features, "take", refuse)
    (one,) = fit(LINEAR, train, y, train, y, 3)
    assert one.model.scores(train).shape == (300, 3)
    assert convex.TrainingStatistics.of(train, y, 3).correlations is None


@pytest.mark.parametrize("classes", [2, 4])
def test_losses_and_gradients_are_those_of_the_dense_rows_at_any_points_in_any_blocks(classes, monkeypatch):
    rows, y = bags(500, 50, classes)
    monkeypatch.setattr(reading, "BLOCK_ROWS", 64)
    rng = np.random.default_rng(1)
    points = [rng.normal(size=(1 if classes == 2 else classes, 51)) for _ in range(3)]
    counts = np.bincount(y, minlength=classes)
    dense, one = (training.TrainingData.of(train, y, counts, Numpy()).values(points) for train in both(rows))
    for (loss, slope), (expected, expected_slope) in zip(one, dense, strict=True):
        assert loss == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(slope, expected_slope, atol=1e-5)


def test_means_and_deviations_are_those_of_the_dense_rows():
    rows, y = bags(200, 30, 2)
    dense, one = (convex.TrainingStatistics.of(train, y, 2) for train in both(rows))
    np.testing.assert_allclose(one.mean, dense.mean, atol=1e-12)
    np.testing.assert_allclose(one.scale, dense.scale, rtol=1e-9)
    assert one.scale[-3:].tolist() == dense.scale[-3:].tolist()
    assert one.scale[-2] == 1  # a constant


def test_the_input_of_two_sparse_tables_is_sparse_and_of_a_mixture_dense():
    rows, y = bags(200, 30, 2)
    table, place = sparse.csr_array(rows), np.arange(200)
    two = Features((table, table), (place, place[::-1]))
    mixed = Features((table, rows), (place, place[::-1]))
    assert two.sparse
    assert not mixed.sparse
    np.testing.assert_array_equal(two.take_sparse().toarray(), mixed.take(slice(None)))
    one, other = (np.exp(fit(STRONG, x, y, x, y, 2)[0].model.scores(x)) for x in (two, mixed))
    assert np.abs(one - other).max() < CLOSE


def test_values_that_are_not_finite_are_an_error():
    rows, y = bags(100, 30, 2)
    rows[3, 0] = np.nan
    with pytest.raises(DataError, match="1 of 30 dimensions"):
        fit(LINEAR, Features.of(sparse.csr_array(rows)), y, Features.of(rows), y, 2)


def test_a_search_over_many_parameters_remembers_fewer_steps(monkeypatch):
    rows, y = bags(300, 40, 5)
    train = Features.of(sparse.csr_array(rows))
    probe = replace(LINEAR, l2=(1e-2,))
    full = fit(probe, train, y, train, y, 5)[0]
    sizes = []
    loops = search._newton_step
    monkeypatch.setattr(search, "_newton_step", lambda *given: [sizes.append(len(given[2])), loops(*given)][1])
    monkeypatch.setattr(search, "MAX_MEMORY_VALUES", 4 * 5 * 41)
    few = fit(probe, train, y, train, y, 5)[0]
    assert max(sizes) == 4
    assert np.abs(np.exp(few.model.scores(train)) - np.exp(full.model.scores(train))).max() < CLOSE
