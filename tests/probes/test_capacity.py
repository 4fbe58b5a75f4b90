"""Probes that can do less: the full one at their end, ranks that suffice, norms, and what is learned by heart."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from sentprobe.errors import DataError, ShapeError, UsageError
from sentprobe.probes import Features, convex, fit, named
from sentprobe.probes.capacity import _FullProbe, capacity, frontier, hypervolume, ranks


def draw(n, d, classes, seed=0, rank=None):
    """Vectors (n, d), and labels by noisy scores of them, which may be of a lower rank."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) @ (np.eye(d) + rng.normal(size=(d, d)) / np.sqrt(d)) + rng.normal(size=d)
    weights = rng.normal(size=(d, rank or classes)) @ rng.normal(size=(rank or classes, classes))
    scores = (x - x.mean(axis=0)) @ weights / np.sqrt(d)
    return x.astype(np.float32), (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def points(x, y, classes, cut=None, **options):
    """Probes trained on the first rows, and measured on two parts of the others."""
    a = cut or len(y) // 2
    b = (a + len(y)) // 2
    parts = [each for part in (slice(0, a), slice(a, b), slice(b, None)) for each in (Features.of(x[part]), y[part])]
    return capacity(*parts, classes, **{"l2": 1e-2, **options}), parts


@pytest.mark.parametrize(
    ("classes", "dimensions", "wanted"),
    [
        (2, 384, (1,)),
        (3, 384, (1, 2)),
        (6, 384, (1, 2, 4, 5)),
        (9, 384, (1, 2, 4, 8)),
        (1000, 6, (1, 2, 4, 6)),
        (1, 5, (1,)),
    ],
)
def test_ranks_double_up_to_the_highest(classes, dimensions, wanted):
    assert ranks(classes, dimensions) == wanted


def test_the_last_rank_is_the_plain_probe():
    x, y = draw(1600, 12, 5)
    found, (train, train_y, dev, dev_y, test, test_y) = points(x, y, 5, l2=1e-3, penalties=())
    assert [point.rank for point in found] == [1, 2, 4]
    plain = fit(replace(named("linear"), l2=(1e-3,)), train, train_y, dev, dev_y, 5)[0]
    assert found[-1].dev == pytest.approx(plain.dev, abs=0.006)
    logs = plain.model.scores(test)
    assert found[-1].test == pytest.approx((logs.argmax(axis=1) == test_y).mean(), abs=0.006)
    weights = plain.model.weights * train.tables[0].std(axis=0, dtype=np.float64)
    assert found[-1].norm == pytest.approx(np.linalg.norm(weights - weights.mean(axis=0), "nuc"), rel=0.01)


def test_more_rank_is_worth_more_until_it_is_enough():
    x, y = draw(6000, 20, 8, rank=2)
    found, _ = points(x, y, 8, penalties=())
    by_rank = {point.rank: point for point in found}
    assert list(by_rank) == [1, 2, 4, 7]
    assert by_rank[1].bits > by_rank[2].bits + 0.2
    assert by_rank[2].bits == pytest.approx(by_rank[7].bits, abs=0.02)
    assert by_rank[2].test == pytest.approx(by_rank[7].test, abs=0.03)


def test_a_rank_is_refitted_as_scikit_learn_would_and_never_worse_than_cut():
    x, y = draw(1200, 10, 6, seed=1)
    rows, l2 = Features.of(x), 1e-2
    statistics = convex.TrainingStatistics.of(rows, y, 6)
    full = _FullProbe.of(convex.optima(statistics, rows, y, 6, [l2])[0], statistics)
    seen = StandardScaler().fit_transform(x.astype(np.float64))
    for rank in (1, 2, 4):
        few = full.project(rows, rank).astype(np.float64)
        assert few == pytest.approx(seen @ full.basis[:, :rank], abs=1e-4)
        model = LogisticRegression(C=1 / (len(y) * l2), tol=1e-9, max_iter=10_000).fit(few, y)
        cut = full.truncated(rank)
        losses = [
            -log_softmax(few @ weights.T + bias, axis=1)[np.arange(len(y)), y].mean() + l2 / 2 * (weights**2).sum()
            for weights, bias in ((model.coef_, model.intercept_), (cut.weights, cut.bias))
        ]
        assert losses[0] <= losses[1]
        bits = -model.predict_log_proba(few)[np.arange(len(y)), y].mean() / math.log(2)
        found = capacity(rows, y, rows, y, rows, y, 6, l2=l2, penalties=(), statistics=statistics)
        point = next(point for point in found if point.rank == rank)
        assert point.test == pytest.approx(model.score(few, y), abs=0.005)
        assert point.bits <= bits + 1e-3  # the temperature is free
        assert point.norm == pytest.approx(np.linalg.norm(model.coef_, "nuc"), rel=0.02)


def test_the_leading_axes_are_those_of_the_logits():
    x, y = draw(2000, 6, 4)
    rows = Features.of(x)
    statistics = convex.TrainingStatistics.of(rows, y, 4)
    model = convex.optima(statistics, rows, y, 4, [1e-2])[0]
    logits = x.astype(np.float64) @ model.weights.T
    logits -= logits.mean(axis=1, keepdims=True)
    spread = np.linalg.svd(logits - logits.mean(axis=0), full_matrices=False)[2]
    full = _FullProbe.of(model, statistics)
    assert np.abs(spread[:2] @ full.turn[:, :2]) == pytest.approx(np.eye(2), abs=0.05)
    assert full.basis.T @ full.basis == pytest.approx(np.eye(4), abs=1e-9)


@pytest.mark.parametrize("classes", [2, 4])
def test_a_stronger_penalty_leaves_a_smaller_norm(classes):
    x, y = draw(1000, 8, classes)
    found, _ = points(x, y, classes, l2=1e-4)
    full = sorted((point for point in found if point.rank == classes - 1), key=lambda point: point.l2)
    assert [point.l2 for point in full] == [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0]
    norms = [point.norm for point in full]
    assert norms == sorted(norms, reverse=True)
    assert norms[-1] < 0.1 * norms[0]


def test_two_classes_have_one_direction_whose_norm_is_that_of_its_weights():
    x, y = draw(1000, 8, 2)
    found, (train, train_y, dev, dev_y, _, _) = points(x, y, 2, l2=1e-2, penalties=())
    (point,) = found
    model = fit(replace(named("linear"), l2=(1e-2,)), train, train_y, dev, dev_y, 2)[0].model
    apart = (model.weights[1] - model.weights[0]) * train.tables[0].std(axis=0, dtype=np.float64)
    assert point.norm == pytest.approx(np.linalg.norm(apart) / math.sqrt(2), rel=0.01)


def test_what_is_known_already_and_names_of_classes_do_not_matter():
    x, y = draw(1600, 8, 4)
    found, (train, train_y, dev, dev_y, *_) = points(x, y, 4)
    statistics = convex.TrainingStatistics.of(train, train_y, 4)
    plain = fit(replace(named("linear"), l2=(1e-2,)), train, train_y, dev, dev_y, 4)[0].model
    other = np.array([2, 3, 1, 0])
    for again in (points(x, y, 4, plain=plain, statistics=statistics)[0], points(x, other[y], 4)[0]):
        for one, two in zip(found, again, strict=True):
            assert (one.rank, one.l2) == (two.rank, two.l2)
            assert one.bits == pytest.approx(two.bits, abs=0.01)
            assert one.test == pytest.approx(two.test, abs=0.02)


def test_labels_that_were_never_met_are_wrong_and_cost_nothing():
    x, y = draw(1200, 6, 3)
    train, dev = (Features.of(x[:600]), y[:600]), (Features.of(x[600:900]), y[600:900])
    odd = np.where(np.arange(300) < 100, -1, y[900:])
    one = capacity(*train, *dev, Features.of(x[1000:]), y[1000:], 3, l2=1e-2, penalties=())
    two = capacity(*train, *dev, Features.of(x[900:]), odd, 3, l2=1e-2, penalties=())
    for first, second in zip(one, two, strict=True):
        assert first.bits == pytest.approx(second.bits)
        assert second.test == pytest.approx(first.test * 200 / 300)


def test_the_temperature_is_that_of_dev_whatever_the_test_labels():
    """What a test row costs does not depend on the labels of the other ones."""
    x, y = draw(400, 12, 3)
    y[300:] = (y[300:] + 1) % 3  # wrong in the second half of the test rows
    learned = (Features.of(x[:60]), y[:60], Features.of(x[60:200]), y[60:200])
    first, second, whole = (
        capacity(*learned, Features.of(x[part]), y[part], 3, l2=1e-3)
        for part in (slice(200, 300), slice(300, 400), slice(200, 400))
    )
    for one, two, both in zip(first, second, whole, strict=True):
        assert two.bits > one.bits + 0.2
        assert both.bits == pytest.approx((one.bits + two.bits) / 2, abs=1e-6)


def test_a_class_without_rows_does_not_count_for_the_rank():
    x, y = draw(900, 6, 3)
    found, _ = points(x, y, 5, penalties=())
    assert [point.rank for point in found] == [1, 2]
    assert all(math.isfinite(point.bits) for point in found)


def test_rows_without_labels_are_refused():
    x, y = draw(90, 4, 2)
    rows = Features.of(x)
    with pytest.raises(ShapeError, match="90 rows and 80 labels"):
        capacity(rows, y, rows, y[:80], rows, y, 2, l2=1.0)


# frontiers


def test_the_frontier_has_no_point_that_another_beats():
    assert frontier([1, 2, 3, 4, 2], [0.5, 0.7, 0.6, 0.8, 0.65]) == [0, 1, 3]
    assert frontier([3, 1, 2], [0.5, 0.5, 0.5]) == [1]


def test_hypervolume_by_hand():
    # half of the rows from complexity 2 to 4, all from 4 to 8; the floor is 0.5
    assert hypervolume([2, 4], [0.75, 1.0], most=8, floor=0.5) == pytest.approx((2 * 0.25 + 4 * 0.5) / (8 * 0.5))
    assert hypervolume([0], [1.0], most=8, floor=0.5) == 1.0
    assert hypervolume([1, 2], [0.5, 0.4], most=8, floor=0.5) == 0.0
    assert hypervolume([9], [1.0], most=8, floor=0.5) == 0.0


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 1)), min_size=1, max_size=8), st.integers(0, 7))
@example([(0.0, 1.0), (3.5, 0.0), (3.3367300519228187, 0.0), (0.99, 0.0)], 0)  # rounds up to more than 1
def test_hypervolume_is_that_of_the_frontier_and_grows_with_points(found, which):
    x, y = [point[0] for point in found], [point[1] for point in found]
    whole = hypervolume(x, y, most=10, floor=0.2)
    front = frontier(x, y)
    assert hypervolume([x[i] for i in front], [y[i] for i in front], most=10, floor=0.2) == pytest.approx(whole)
    assert 0 <= whole <= 1
    rest = [i for i in range(len(found)) if i != which % len(found)]
    if rest:
        assert hypervolume([x[i] for i in rest], [y[i] for i in rest], most=10, floor=0.2) <= whole + 1e-12


@pytest.mark.parametrize(
    ("x", "y", "floor", "most", "error", "message"),
    [
        ([1, 2], [0.5], 0.5, 8, DataError, "2 rows and accuracy 1"),
        ([1], [np.nan], 0.5, 8, DataError, "not finite"),
        ([], [], 0.5, 8, DataError, "complexity"),
        ([1], [0.5], 1.0, 8, UsageError, "below 1, got 8 and 1.0"),
        ([1], [0.5], 0.5, 0, UsageError, "above 0"),
    ],
)
def test_what_is_no_plane_is_refused(x, y, floor, most, error, message):
    with pytest.raises(error, match=message):
        hypervolume(x, y, most=most, floor=floor)
