"""Learning curves: subsamples are what they should be, and curves that are known come out."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.errors import TooFewError
from sentprobe.probes import Features, fit, parse
from sentprobe.probes.learning import SUBSAMPLES, learning, majority, subsample_order, subsets

LINEAR = parse("linear")[1]


def drawn(n, d=10, seed=0, scale=2.0):
    """Rows and labels of a logistic model."""
    rng = np.random.default_rng([seed, n])
    weights = np.random.default_rng(seed).normal(size=d)
    rows = rng.normal(size=(n, d)).astype(np.float32)
    return rows, (rows @ (scale * weights / np.linalg.norm(weights)) + rng.logistic(size=n) > 0).astype(np.int64)


def curve(parts, clusters=None, classes=2, **more):
    (x, y), (xd, yd), (xt, yt) = parts
    train, dev, test = map(Features.of, (x, xd, xt))
    (plain,) = fit(LINEAR, train, y, dev, yd, classes)
    chosen = (plain.chosen["l2"], plain.model)
    return plain, learning(
        train, y, dev, yd, test, yt, classes, l2=LINEAR.l2, plain=chosen, seed=3, clusters=clusters, **more
    )


# subsamples


@settings(deadline=None, max_examples=60)
@given(st.integers(20, 200), st.integers(2, 5), st.integers(1, 6), st.integers(0, 10**6))
def test_beginnings_have_the_shares_of_the_classes_and_whole_clusters(n, classes, each, seed):
    rng = np.random.default_rng(seed)
    clusters = [f"k{i // each}" for i in range(n)]
    label = rng.integers(classes, size=n)
    labels = np.array([label[i // each] for i in range(n)])  # as with target forms, all rows of a cluster have one
    order, may = subsample_order(labels, clusters, rng)
    assert sorted(order.tolist()) == list(range(n))
    assert may[-1] == n
    for cut in may.tolist():
        assert not {clusters[i] for i in order[:cut]} & {clusters[i] for i in order[cut:]}
        shares = np.bincount(labels[order[:cut]], minlength=classes) - cut * np.bincount(labels, minlength=classes) / n
        assert np.abs(shares).max() <= each * classes  # a cluster of each class, one way or the other


def test_rows_without_clusters_stand_for_themselves():
    labels = np.arange(300) % 3
    order, may = subsample_order(labels, None, np.random.default_rng(1))
    assert may.tolist() == list(range(1, 301))
    assert np.abs(np.bincount(labels[order[:30]]) - 10).max() <= 1
    assert order.tolist() != sorted(order.tolist())


def test_subsamples_are_nested_and_those_of_other_orders_are_others():
    labels = np.arange(640) % 2
    found = subsets(labels, [f"k{i // 4}" for i in range(640)], 2, seed=5)
    assert [len(size) for size in found] == [SUBSAMPLES] * 4
    assert [[len(rows) for rows in size] for size in found] == [[n] * SUBSAMPLES for n in (40, 80, 160, 320)]
    for small, large in pairwise(found):
        for one, two in zip(small, large, strict=True):
            assert set(one.tolist()) < set(two.tolist())
    assert len({tuple(sorted(rows.tolist())) for rows in found[-1]}) == SUBSAMPLES
    again = subsets(labels, [f"k{i // 4}" for i in range(640)], 2, seed=6)
    assert found[0][0].tolist() != again[0][0].tolist()


def test_a_subsample_has_two_classes():
    """One form has most of the rows of its class."""
    labels = np.array([0] * 400 + [1] * 240)
    clusters = ["big"] * 400 + [f"k{i}" for i in range(240)]
    for size in subsets(labels, clusters, 2, seed=1):
        for rows in size:
            assert len(set(labels[rows].tolist())) == 2


# curves


def test_the_last_point_is_the_plain_probe_and_the_curve_rises():
    parts = [drawn(n, d=40) for n in (1280, 400, 2000)]
    plain, points = curve(parts)
    (xt, yt) = parts[2]
    assert [point.rows for point in points] == [41, 80, 160, 320, 640, 1280]
    assert np.array_equal(points[-1].right[0], plain.model.scores(Features.of(xt)).argmax(axis=1) == yt)
    assert points[-1].l2 == (plain.chosen["l2"],)
    right = [point.right.mean() for point in points]
    assert right == sorted(right)
    assert right[0] < 0.68 < 0.76 < right[-1]
    assert all(point.right.shape == (SUBSAMPLES, 2000) for point in points[:-1])


def test_the_order_of_the_grid_does_not_matter():
    (x, y), (xd, yd), (xt, yt) = [drawn(n) for n in (320, 200, 200)]
    train, dev, test = map(Features.of, (x, xd, xt))
    (plain,) = fit(LINEAR, train, y, dev, yd, 2)
    found = [
        learning(train, y, dev, yd, test, yt, 2, l2=grid, plain=(plain.chosen["l2"], plain.model), seed=3, subsamples=2)
        for grid in (LINEAR.l2, LINEAR.l2[::-1], LINEAR.l2[1::2] + LINEAR.l2[::2])
    ]
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            assert one.l2 == two.l2
            assert np.array_equal(one.right, two.right)


def test_a_subsample_has_the_probe_that_it_would_have_alone():
    """With the same penalties and the statistics of all rows, to the rows that are nearly undecided."""
    parts = [drawn(n) for n in (640, 400, 1000)]
    _, points = curve(parts)
    (x, y), (xd, yd), (xt, yt) = parts
    for size, point in zip(subsets(y, None, 2, seed=3), points, strict=False):
        for rows, hits, l2 in zip(size, point.right, point.l2, strict=True):
            probe = parse(f"linear?l2={l2}")[1]
            (alone,) = fit(probe, Features.of(x[rows]), y[rows], Features.of(xd), yd, 2)
            other = alone.model.scores(Features.of(xt)).argmax(axis=1) == yt
            assert abs(hits.mean() - other.mean()) < 0.05  # dimensions are standardised by all rows, not by 40
            assert (hits == other).mean() > 0.9


def test_the_penalty_is_of_the_grid_and_chosen_by_accuracy_on_dev():
    parts = [drawn(n) for n in (640, 400, 1000)]
    _, points = curve(parts)
    assert {l2 for point in points for l2 in point.l2} <= set(LINEAR.l2)
    turned = [parts[0], (parts[1][0], 1 - parts[1][1]), parts[2]]
    _, other = curve(turned)  # where dev is turned round, it chooses what is worst
    assert [point.l2 for point in other] != [point.l2 for point in points]
    # and test labels choose nothing
    wrong = [parts[0], parts[1], (parts[2][0], 1 - parts[2][1])]
    _, same = curve(wrong)
    assert [point.l2 for point in same] == [point.l2 for point in points]
    assert np.array_equal(same[0].right, ~points[0].right)


def test_forms_that_are_not_cut_make_the_curve_of_forms():
    """An encoder that knows forms only: with single rows all are seen early, with whole forms they are not."""
    rng = np.random.default_rng(2)
    forms = np.repeat(np.arange(160), 8)
    of_form = rng.integers(2, size=160)
    x, y = np.eye(160, dtype=np.float32)[forms], of_form[forms]
    parts = [(x, y), (x[::4], y[::4]), (x[1::4], y[1::4])]
    _, cut = curve(parts)
    _, whole = curve(parts, clusters=forms.tolist())
    assert cut[-2].right.mean() > 0.95  # of 640 rows, nearly every form has some
    assert whole[-2].right.mean() == pytest.approx(0.75, abs=0.05)  # half is known, and half guessed


def test_majority_is_that_of_the_subsample():
    labels = np.array([0, 1, 1, 0, 2])
    assert majority(labels, np.array([0, 1, -1])).tolist() == [True, False, False]
    (x, _), *others = [drawn(n) for n in (640, 200, 300)]
    few = np.where(np.arange(640) % 4 == 0, 1, 0)
    _, points = curve([(x, few), *others])
    assert all(np.array_equal(row, others[1][1] == 0) for point in points for row in point.majority)


def test_too_few_rows_are_told():
    with pytest.raises(
        TooFewError, match=r"60 training rows of 2 classes.* too few for a learning curve.* at least 64"
    ):
        curve([drawn(n) for n in (60, 40, 40)])


def test_labels_that_were_never_met_are_misses():
    (x, y), (xd, yd), (xt, yt) = [drawn(n) for n in (640, 200, 300)]
    yt[:100] = -1
    yd[:50] = -1
    _, points = curve([(x, y), (xd, yd), (xt, yt)])
    assert not any(point.right[:, :100].any() for point in points)
