"""Erasing a property: nothing linear is left of it, no more is changed than must be, and fits on the rest are right."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from sentprobe.errors import DataError, ShapeError, UsageError
from sentprobe.probes import Features, erased_probes, fit, named
from sentprobe.probes.erase import Eraser, VectorMoments, erased, leace, random_directions, reinjected
from sentprobe.probes.erased_probes import measure, measure_reinjected, refit
from sentprobe.probes.standardised_rows import StandardisedRows
from sentprobe.stats.intervals import wilson

LINEAR = named("linear")
CLOSE = 1e-3
"""How far apart two probabilities of the same optimum may be: what ``convex.TOLERANCE`` is set for."""


def draw(n, d, classes, seed=0, noise=0.5):
    """Vectors (n, d) with correlated dimensions, and labels by noisy linear scores of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) @ (np.eye(d) + rng.normal(size=(d, d)) / np.sqrt(d)) + rng.normal(size=d)
    scores = (x - x.mean(axis=0)) @ rng.normal(size=(d, classes)) / np.sqrt(d)
    return x.astype(np.float32), (scores + noise * rng.gumbel(size=scores.shape)).argmax(axis=1)


def crossed(x, y):
    """Covariances of vectors and one-hot classes, (d, classes)."""
    x = np.asarray(x, np.float64)
    return (x - x.mean(axis=0)).T @ (np.eye(y.max() + 1)[y] - np.bincount(y) / len(y)) / len(y)


def nothing(d):
    """An eraser that takes nothing out."""
    return Eraser(np.zeros(d), np.zeros((d, 0)), np.zeros((0, d)))


def awkward():
    """Vectors and labels by name."""
    x, y = draw(400, 8, 3)
    rare = np.where(y == 2, 0, y)
    rare[7] = 2
    return {
        "plain": (x, y),
        "two classes": (x, (y > 0).astype(np.int64)),
        "a class with one row": (x, rare),
        "a class with no row": (x, np.where(y == 2, 5, y)),
        "constant and repeated columns": (np.hstack([x, np.full((400, 1), 7, np.float32), x[:, :3]]), y),
        "of all sizes": (x * np.logspace(-8, 8, 8, dtype=np.float32), y),
        "far from 0": (x + np.float32(1e3), y),
        "more dimensions than rows": draw(30, 60, 3),
        "more classes than dimensions": draw(600, 4, 9),
    }


# LEACE


@pytest.mark.parametrize("name", awkward())
def test_nothing_linear_is_left(name):
    x, y = awkward()[name]
    eraser = leace(Features.of(x), y, int(y.max()) + 1)
    left = eraser.apply(x.astype(np.float64))
    scale = x.std(axis=0, dtype=np.float64)[:, None] + (x.std(axis=0)[:, None] == 0)
    assert np.abs(crossed(left, y) / scale).max() < 1e-8
    assert np.abs(crossed(x, y) / scale).max() > 1e-2
    assert eraser.rank <= len(np.unique(y)) - 1
    assert left.mean(axis=0) == pytest.approx(x.mean(axis=0, dtype=np.float64), rel=1e-6, abs=1e-6)
    again = eraser.apply(left)
    assert np.abs((again - left) / scale.T).max() < 1e-8


@pytest.mark.parametrize(("classes", "n", "d"), [(2, 700, 10), (5, 700, 10)])
def test_no_linear_probe_beats_the_majority(classes, n, d):
    x, y = draw(n, d, classes)
    most = np.bincount(y).max()
    features = Features.of(x)
    left = erased(features, leace(features, y, classes))
    high = wilson(most, n)[1]
    (plain,) = fit(LINEAR, features, y, features, y, classes)
    assert plain.dev > high
    (ours,) = fit(LINEAR, left, y, left, y, classes)
    assert all(point["accuracy"] <= high for point in ours.tried)
    rows = left.take(slice(None)).astype(np.float64)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    for c in (1e-2, 1.0, 1e4):
        theirs = LogisticRegression(C=c, max_iter=10_000).fit(rows, y)
        assert theirs.score(rows, y) <= high
        # and the loss is that of the constant: the property is gone, not only hidden from the decision
        shares = np.bincount(y) / n
        assert -theirs.predict_log_proba(rows)[np.arange(n), y].mean() == pytest.approx(-shares @ np.log(shares))


def test_the_package_of_the_authors_agrees():
    x = np.array(
        [[2, 1, 0, 3], [4, 0, 1, 1], [1, 3, 2, 0], [0, 2, 5, 1], [3, 3, 1, 4], [5, 1, 4, 2], [2, 4, 0, 6], [1, 0, 3, 3],
         [6, 2, 2, 1]], np.float64,
    )  # fmt: skip
    y = np.array([0, 1, 0, 2, 1, 2, 0, 1, 2])
    # concept-erasure 0.2.4, x and one-hot y as float64: LeaceFitter.fit(x, z, shrinkage=False,
    # constrain_cov_trace=False, svd_tol=1e-12).eraser(x), rounded
    theirs = [
        [2.965836378, 1.580685574, 1.904584752, 1.739306167], [3.987308029, 1.182396467, 1.484983679, 0.506555007],
        [1.924257934, 0.924995265, 2.695154429, -0.078982473], [-0.550504628, 1.503830983, 3.843633916, 1.789362999],
        [3.407709035, 2.325417778, 1.409823108, 3.861982915], [3.283746519, 2.132430274, 1.543178436, 3.312652577],
        [3.109905688, 2.827652494, 1.400260819, 5.339676306], [0.604982936, 1.825519088, 3.105193213, 2.631462077],
        [5.266758109, 1.697072076, 0.613187648, 1.897984425],
    ]  # fmt: skip
    assert leace(Features.of(x), y, 3).apply(x) == pytest.approx(np.array(theirs), abs=2e-9)


@settings(deadline=None, max_examples=15)
@given(classes=st.integers(2, 5), d=st.integers(5, 9), seed=st.integers(0, 99))
def test_the_change_is_the_least_that_erases(classes, d, seed):
    x, y = draw(300, d, classes, seed)
    x = x.astype(np.float64)
    eraser = leace(Features.of(x.astype(np.float32)), y, classes)
    centred, covariance = x - x.mean(axis=0), crossed(x, y)
    change = -centred @ eraser.proj_right.T @ eraser.proj_left.T
    # the same minimum by Lagrange's multipliers, without whitening: Σxz (Σxzᵀ Σxx⁻¹ Σxz)⁺ Σxzᵀ Σxx⁻¹
    inverse = np.linalg.inv(centred.T @ centred / len(x))
    map_ = covariance @ np.linalg.pinv(covariance.T @ inverse @ covariance, rcond=1e-9) @ covariance.T @ inverse
    # where covariances are all but singular the map is large, and the inverse above no more exact than this
    share = 1e-9 + 1e-14 * np.linalg.cond(inverse)
    assert eraser.proj_left @ eraser.proj_right == pytest.approx(map_, abs=share * max(1, np.abs(map_).max()))
    # another map that erases differs from it by one that maps all columns of Σxz to 0
    rng = np.random.default_rng(seed)
    basis = np.linalg.svd(covariance)[0][:, : np.linalg.matrix_rank(covariance, tol=1e-9)]
    other = rng.normal(size=(d, d)) @ (np.eye(d) - basis @ basis.T)
    norm = rng.normal(size=(d, d))
    for step in (1e-3, -1e-3, 1.0):
        moved = change + step * centred @ other.T
        assert np.abs(crossed(x + moved, y)).max() < 1e-8
        assert (moved**2).sum() > (change**2).sum()
        assert ((moved @ norm) ** 2).sum() > ((change @ norm) ** 2).sum()
    orthogonal = -centred @ basis @ basis.T
    assert np.abs(crossed(x + orthogonal, y)).max() < 1e-8
    assert (orthogonal**2).sum() >= (change**2).sum() * (1 - 1e-9)


def test_moments_are_shared_and_come_from_pieces():
    x, y = draw(20_000, 30, 4)
    features = Features.of(x)
    tracemalloc.start()
    moments = VectorMoments.of(features)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * x.size / 4
    assert moments.rows == 20_000
    assert moments.mean == pytest.approx(x.mean(axis=0, dtype=np.float64), abs=1e-12)
    assert moments.covariance == pytest.approx(np.cov(x.astype(np.float64).T, bias=True), abs=1e-11)
    for labels in (y, (y > 1).astype(np.int64)):
        alone, shared = leace(features, labels, 4), leace(features, labels, 4, moments)
        assert np.array_equal(alone.proj_left, shared.proj_left)
        assert np.array_equal(alone.proj_right, shared.proj_right)


def test_the_number_of_threads_does_not_matter():
    x, y = draw(1500, 60, 4)
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            features = Features.of(x)
            eraser = leace(features, y, 4)
            control = random_directions(60, 3, 1, VectorMoments.of(features))
            rows = StandardisedRows.of(features, y, 4)
            found.append(
                [
                    eraser.proj_left,
                    eraser.proj_right,
                    control.proj_left,
                    *measure(rows, [eraser, control], features, 1e-3),
                ]
            )
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two)


# the controls


def test_random_directions_are_as_many_and_change_little():
    x, y = draw(1200, 40, 2)
    features, moments = Features.of(x), VectorMoments.of(Features.of(x))
    (plain,) = fit(replace(LINEAR, l2=(1e-3,)), features, y, features, y, 2)
    rows = StandardisedRows.of(features, y, 2, moments)
    draws = [random_directions(40, 1, seed, given) for seed in range(2) for given in (None, moments)]
    for eraser, logs in zip(draws, measure(rows, draws, features, 1e-3, plain.model), strict=True):
        assert eraser.rank == 1
        left = eraser.apply(x.astype(np.float64))
        assert np.linalg.matrix_rank(left - left.mean(axis=0), tol=1e-6) == 39
        assert np.abs(eraser.apply(left) - left).max() < 1e-9
        assert abs((logs.argmax(axis=1) == y).mean() - plain.dev) < 0.05
    assert not np.allclose(draws[0].proj_left, draws[2].proj_left)
    assert np.array_equal(random_directions(40, 1, 1, moments).proj_left, draws[-1].proj_left)


def test_random_directions_with_moments_are_of_deviation_1():
    x, _ = draw(500, 6, 2)
    moments = VectorMoments.of(Features.of(x))
    eraser = random_directions(6, 4, 0, moments)
    taken = (x.astype(np.float64) - moments.mean) @ eraser.proj_right.T
    assert taken.T @ taken / 500 == pytest.approx(np.eye(4), abs=1e-9)
    plain = random_directions(6, 4, 0)
    assert plain.proj_right @ plain.proj_left == pytest.approx(np.eye(4), abs=1e-12)
    assert np.array_equal(plain.proj_left.T, plain.proj_right)


@pytest.mark.parametrize("rank", [-1, 7])
def test_directions_that_are_not_there_are_refused(rank):
    with pytest.raises(UsageError, match="0 … 6"):
        random_directions(6, rank, 0)
    with pytest.raises(ShapeError, match="6 dimensions"):
        random_directions(5, 1, 0, VectorMoments.of(Features.of(draw(50, 6, 2)[0])))


# features


def test_features_are_erased_when_they_are_read(tmp_path):
    x, y = draw(300, 6, 3)
    eraser = leace(Features.of(x), y, 3)
    np.save(tmp_path / "x.npy", x)
    table = np.load(tmp_path / "x.npy", mmap_mode="r")
    left = erased(Features.of(table), eraser)
    assert left.tables[0] is table
    assert left.shape == (300, 6)
    np.testing.assert_array_equal(left.take(slice(None)), eraser.apply(x))
    np.testing.assert_array_equal(left.select([5, 2]).take(slice(None)), eraser.apply(x)[[5, 2]])
    halves = Features((x[:, :2].copy(), x[:, 2:].copy()), (np.arange(300), np.arange(300)))
    np.testing.assert_array_equal(erased(halves, eraser).take(slice(9)), eraser.apply(x[:9]))
    sums = Features((x, x[::-1].copy()), (np.arange(300), np.arange(300)), lambda parts: parts[0] + parts[1])
    np.testing.assert_array_equal(erased(sums, eraser).take(slice(9)), eraser.apply(x[:9] + x[::-1][:9]))
    twice = erased(erased(Features.of(x), eraser), eraser).take(slice(None))
    assert twice == pytest.approx(eraser.apply(x), abs=1e-5)


def test_the_class_is_told_beside_the_vector():
    x, _ = draw(4, 3, 2)
    labels = np.array([1, 0, -1, 2])
    with_class = reinjected(Features.of(x), labels, 3)
    expected = np.hstack([x, [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 1]]]).astype(np.float32)
    np.testing.assert_array_equal(with_class.take(slice(None)), expected)
    sums = Features((x, x), (np.arange(4), np.arange(4)), lambda parts: parts[0] + parts[1])
    np.testing.assert_array_equal(reinjected(sums, labels, 3).take(slice(None))[:, :3], 2 * x)
    eraser = random_directions(3, 2, 0)
    both = reinjected(erased(Features.of(x), eraser), labels, 3)
    np.testing.assert_array_equal(both.take(slice(None)), eraser.widened(3).apply(expected))


# fits on erased vectors


def expected(probe, train, y, test, classes):
    (found,) = fit(probe, train, y, train, y, classes, seeds=(1,))
    return np.exp(found.model.scores(test))


@pytest.mark.parametrize("name", [*awkward(), "one class"])
def test_a_fit_is_that_of_the_probe_on_erased_vectors(name):
    l2 = 1e-2
    x, y = awkward().get(name, (draw(50, 4, 2)[0], np.ones(50, np.int64)))
    classes, probe = int(y.max()) + 1, replace(LINEAR, l2=(l2,))
    features = Features.of(x)
    other = draw(len(x), x.shape[1], 2, seed=5)
    erasers = [
        leace(Features.of((other[0] * x.std(axis=0)).astype(np.float32)), other[1], 2),
        random_directions(x.shape[1], 2, 1, VectorMoments.of(features)),
    ]
    (plain,) = fit(probe, features, y, features, y, classes, seeds=(1,))
    rows = StandardisedRows.of(features, y, classes)
    for start in (None, plain.model):
        found = list(measure(rows, [nothing(x.shape[1]), *erasers], features, l2, start))
        assert np.exp(found[0]) == pytest.approx(np.exp(plain.model.scores(features)), abs=2 * CLOSE)
        for eraser, logs in zip(erasers, found[1:], strict=True):
            left = erased(features, eraser)
            assert logs.dtype == np.float32
            assert np.exp(logs) == pytest.approx(expected(probe, left, y, left, classes), abs=3 * CLOSE)


def test_erasers_fitted_together_and_alone_agree(monkeypatch):
    x, y = draw(900, 12, 3)
    features = Features.of(x)
    rows = StandardisedRows.of(features, y, 3)
    erasers = [nothing(12), leace(features, y, 3), *(random_directions(12, rank, rank) for rank in (1, 5, 12))]
    together = list(measure(rows, erasers, features, 1e-3))
    alone = [next(measure(rows, [eraser], features, 1e-3)) for eraser in erasers]
    monkeypatch.setattr(erased_probes, "MAX_COLUMNS", 6)
    monkeypatch.setattr("sentprobe.probes.standardised_rows.MAX_CACHED_BYTES", 0)
    by_two = list(measure(StandardisedRows.of(features, y, 3), erasers, features, 1e-3))
    for one, two, three in zip(together, alone, by_two, strict=True):
        assert np.exp(one) == pytest.approx(np.exp(two), abs=CLOSE)
        assert np.exp(one) == pytest.approx(np.exp(three), abs=CLOSE)


def test_what_has_no_direction_left_says_how_frequent_the_classes_are():
    x, y = draw(400, 5, 3)
    rows = StandardisedRows.of(Features.of(x), y, 3)
    (logs,) = measure(rows, [random_directions(5, 5, 0)], Features.of(x), 1e-3)
    assert np.exp(logs) == pytest.approx(np.tile(np.bincount(y) / 400, (400, 1)), abs=1e-4)


def test_a_classifier_of_erased_vectors_reads_vectors_as_they_are():
    x, y = draw(600, 8, 2)
    eraser = leace(Features.of(x), (x[:, 0] > x[:, 0].mean()).astype(np.int64), 2)
    (model,) = refit(StandardisedRows.of(Features.of(x), y, 2), [eraser], 1e-3)
    same = model.scores(erased(Features.of(x), eraser))
    assert model.scores(Features.of(x)) == pytest.approx(same, abs=1e-4)
    assert np.abs(model.weights @ eraser.proj_left).max() < 1e-9 * np.abs(model.weights).max()


def planted(n, seed):
    """Vectors (n, 20) with two properties in directions of their own, and a third that goes with the first."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(np.random.default_rng(9).normal(size=(20, 20)))[0]
    hidden = rng.normal(size=(n, 20))
    noise = 0.3 * rng.normal(size=(3, n))
    z, y, near = hidden[:, 0] + noise[0] > 0, hidden[:, 1] + noise[1] > 0, hidden[:, 0] + hidden[:, 2] + noise[2] > 0
    return (hidden @ turn * 3).astype(np.float32), [each.astype(np.int64) for each in (z, y, near)]


def test_what_goes_with_an_erased_property_is_lost_and_what_does_not_is_kept():
    x, labels = planted(3000, 0)
    test, truths = planted(2000, 1)
    other, given_there = planted(3000, 2)  # the property is learned on other rows
    eraser = leace(Features.of(other), given_there[0], 2)
    scores = []
    for y, truth in zip(labels, truths, strict=True):
        rows = StandardisedRows.of(Features.of(x), y, 2)
        control = [random_directions(20, 1, seed, rows.moments) for seed in range(5)]
        found = measure(rows, [nothing(20), eraser, *control], Features.of(test), 1e-3)
        scores.append([(logs.argmax(axis=1) == truth).mean() for logs in found])
    for plain, _, *control in scores:
        assert plain > 0.85
        assert plain - np.mean(control) < 0.05  # 1 of 20 directions
    low, high = wilson(1000, 2000)
    assert low - 0.02 < scores[0][1] < high + 0.02  # other rows, so nearly
    assert scores[1][0] - scores[1][1] < 0.01
    assert 0.1 < scores[2][0] - scores[2][1] < 0.3  # one of its two directions


@pytest.mark.parametrize("classes", [2, 4])
def test_what_was_erased_and_told_again_is_found_again(classes):
    x, y = draw(1300, 10, classes)
    features, tested, truth, y = Features.of(x[:800]), Features.of(x[800:]), y[800:], y[:800]
    eraser = leace(features, y, classes)
    rows = StandardisedRows.of(features, y, classes)
    (plain,) = fit(replace(LINEAR, l2=(1e-2,)), features, y, features, y, classes)
    (gone,) = measure(rows, [eraser], tested, 1e-2, plain.model)
    assert (gone.argmax(axis=1) == truth).mean() < (plain.model.scores(tested).argmax(axis=1) == truth).mean()
    with_class = measure_reinjected(rows, eraser, tested, truth, 1e-2)
    assert (with_class.argmax(axis=1) == truth).mean() == 1
    train = reinjected(erased(features, eraser), y, classes)
    wanted = expected(
        replace(LINEAR, l2=(1e-2,)), train, y, reinjected(erased(tested, eraser), truth, classes), classes
    )
    assert np.exp(with_class) == pytest.approx(wanted, abs=3 * CLOSE)


def test_rows_with_their_class_have_the_moments_of_such_rows():
    x, y = draw(700, 5, 3)
    y = np.where(y == 1, 4, y)
    rows = StandardisedRows.of(Features.of(x), y, 6).reinjected()
    wanted = VectorMoments.of(reinjected(Features.of(x), y, 6))
    assert rows.moments.mean == pytest.approx(wanted.mean, abs=1e-9)
    assert rows.moments.covariance == pytest.approx(wanted.covariance, abs=1e-6)
    block, numbers = next(iter(rows.data.blocks()))
    assert block.shape == (700, 11)
    assert block * rows.data.scale + rows.data.mean == pytest.approx(
        reinjected(Features.of(x), y, 6).take(slice(None)), abs=1e-5
    )
    assert np.array_equal(np.unique(y)[numbers], y)


# wrong use


def test_what_does_not_fit_together_is_refused():
    x, y = draw(50, 4, 2)
    features = Features.of(x)
    eraser = leace(features, y, 2)
    rows = StandardisedRows.of(features, y, 2)
    with pytest.raises(ShapeError, match="49 labels"):
        leace(features, y[:49], 2)
    with pytest.raises(ShapeError, match="49 labels"):
        StandardisedRows.of(features, y[:49], 2)
    with pytest.raises(ShapeError, match="49 labels"):
        reinjected(features, y[:49], 2)
    with pytest.raises(DataError, match="expected 0 … 0"):
        leace(features, y, 1)
    with pytest.raises(DataError, match="-1 … 1"):
        StandardisedRows.of(features, np.where(np.arange(50) == 3, -1, y), 2)
    with pytest.raises(ShapeError, match="4 dimensions"):
        erased(Features.of(x[:, :3]), eraser)
    with pytest.raises(ShapeError, match="4 dimensions"):
        eraser.apply(x[:, :3])
    with pytest.raises(ShapeError, match="6 dimensions"):
        next(measure(rows, [eraser.widened(2)], features, 1e-3))
    with pytest.raises(ShapeError, match="50 x 4"):
        StandardisedRows.of(features.select(slice(40)), y[:40], 2, rows.moments)
    with pytest.raises(ShapeError, match="start"):
        refit(rows, [eraser], 1e-3, refit(StandardisedRows.of(features, y, 3), [eraser], 1e-3)[0])
    with pytest.raises(ShapeError, match="two rows"):
        VectorMoments.of(features.select([0]))
    many = Features((csr_array((3, 42_000), dtype=np.float32),), (np.arange(3),))
    with pytest.raises(ShapeError, match=r"Covariances of 42,000 dimensions would take 14 GB.*tfidf:FILE\?words=10000"):
        VectorMoments.of(many)
    broken = x.copy()
    broken[3, 1] = np.nan
    with pytest.raises(DataError, match="1 of 4 dimensions"):
        VectorMoments.of(Features.of(broken))


def test_an_eraser_says_how_many_directions_it_takes():
    eraser = Eraser(np.zeros(3), np.zeros((3, 2)), np.zeros((2, 3)))
    assert eraser.rank == eraser.widened(4).rank == 2
    assert eraser.apply(np.ones((2, 3), np.float16)).dtype == np.float16
