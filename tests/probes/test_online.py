"""The online code: block by block against scikit-learn, on labels that cannot or can be predicted, and as a code."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import entr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from sentprobe.errors import ShapeError, TooFewError, UsageError
from sentprobe.probes import Features, convex, fit, named
from sentprobe.probes.online import (
    MIN_ROWS,
    MIN_ROWS_PER_CLASS,
    ONLINE_PENALTIES,
    BlockModel,
    block_ends,
    label_costs,
    online,
    permuted,
)


def draw(n, d, classes, seed=0, noise=1.0):
    """Vectors (n, d) with correlated dimensions far from 0, and labels by noisy linear scores of them.

    The seed changes the rows, and not where they are drawn from.
    """
    rng, fixed = np.random.default_rng([seed, n]), np.random.default_rng(d)
    x = rng.normal(size=(n, d)) @ (np.eye(d) + fixed.normal(size=(d, d)) / np.sqrt(d))
    scores = x @ fixed.normal(size=(d, classes))
    x = x * fixed.uniform(0.1, 10, size=d) + fixed.normal(size=d)
    return x.astype(np.float32), (scores + noise * np.sqrt(d) * rng.gumbel(size=scores.shape)).argmax(axis=1)


def code(x, y, dev_x, dev_y, classes, **options):
    return online(Features.of(x), y, Features.of(dev_x), dev_y, classes, **{"seed": 1, **options})


def halves(x, y):
    """Training and dev rows."""
    cut = 2 * len(y) // 3
    return x[:cut], y[:cut], x[cut:], y[cut:]


def bits_of(shares):
    """Entropy in bits."""
    return float(entr(shares).sum()) / math.log(2)


# blocks and orders


@pytest.mark.parametrize(
    ("n", "classes", "wanted"),
    [
        # 0.1, 0.2, 0.4, … 100 % of n: Voita and Titov (2020), from 32 rows and 2 rows per class on
        (10_000, 2, (40, 80, 160, 320, 625, 1250, 2500, 5000, 10_000)),
        (100_000, 2, (100, 200, 400, 800, 1600, 3200, 6250, 12_500, 25_000, 50_000, 100_000)),
        (10_000, 1000, (2500, 5000, 10_000)),
        (100_000, 1000, (3200, 6250, 12_500, 25_000, 50_000, 100_000)),
        (260, 2, (32, 65, 130, 260)),
        (40, 2, (40,)),
    ],
)
def test_blocks_are_those_of_the_paper_without_the_smallest(n, classes, wanted):
    assert block_ends(n, classes) == wanted


@settings(deadline=None)
@given(st.integers(1, 10**6), st.integers(1, 3000))
def test_blocks_grow_and_the_first_can_be_trained_on(n, classes):
    found = block_ends(n, classes)
    assert found[-1] == n
    assert all(a < b for a, b in pairwise(found))
    assert len(found) == 1 or found[0] >= max(MIN_ROWS, MIN_ROWS_PER_CLASS * classes)


def test_orders_depend_on_the_number_of_rows_and_the_seed_only():
    one = permuted(50, 0, 7)
    assert sorted(one) == list(range(50))
    assert (one == permuted(50, 0, 7)).all()
    assert (one != permuted(50, 1, 7)).any()
    assert (one != permuted(50, 0, 8)).any()
    x, y = draw(300, 6, 2)
    short, long = (code(*halves(x[:, :d], y), 2, orders=1) for d in (2, 6))
    first = permuted(200, 0, 1)[: short.block_ends[0]]
    for found in (short, long):
        assert (found.rows[first] == 1.0).all()  # log2 of two classes: they were sent without a classifier
        assert np.count_nonzero(found.rows == 1.0) == len(first)


# what is sent


@pytest.mark.parametrize("classes", [2, 4])
def test_blocks_cost_what_scikit_learn_says(classes, monkeypatch):
    monkeypatch.setattr("sentprobe.probes.online.ONLINE_TOLERANCE", convex.TOLERANCE / 10)
    x, y = draw(900, 8, classes)
    train_x, train_y, dev_x, dev_y = halves(x, y)
    found = code(
        train_x, train_y, dev_x, dev_y, classes, orders=2, test=Features.of(dev_x[:100]), test_labels=dev_y[:100]
    )
    scaler = StandardScaler().fit(train_x.astype(np.float64))
    for i in range(2):
        order = permuted(len(train_y), i, 1)
        seen, y = scaler.transform(train_x.astype(np.float64))[order], train_y[order]
        assert found.bits[i, 0] == pytest.approx(found.block_ends[0] * math.log2(classes))
        for j, (start, stop) in enumerate(pairwise(found.block_ends)):
            model = LogisticRegression(C=1 / (start * found.l2[j]), tol=1e-8, max_iter=10_000)
            model.fit(seen[:start], y[:start])
            if len(model.classes_) < classes:
                continue  # scikit-learn knows no class without rows
            nats = log_loss(y[start:stop], model.predict_proba(seen[start:stop]), labels=model.classes_)
            assert found.bits[i, j + 1] / (stop - start) == pytest.approx(nats / math.log(2), rel=1e-3)
            sure = model.predict_proba(scaler.transform(dev_x[:100].astype(np.float64)))
            assert found.test_bits[i, j] == pytest.approx(log_loss(dev_y[:100], sure) / math.log(2), rel=1e-3)
            assert found.test_accuracy[i, j] == pytest.approx((sure.argmax(axis=1) == dev_y[:100]).mean(), abs=0.011)
    assert (found.test_bits[0, -1] == found.test_bits[1, -1]).all()  # trained on all rows, in whatever order


def test_the_penalty_is_the_best_of_its_neighbours_on_dev():
    x, y = draw(900, 20, 2, noise=2.0)
    train_x, train_y, dev_x, dev_y = halves(x, y)
    found = code(train_x, train_y, dev_x, dev_y, 2, orders=1)
    order, statistics = permuted(600, 0, 1), convex.TrainingStatistics.of(Features.of(train_x), train_y, 2)
    for start, l2 in zip(found.block_ends, found.l2, strict=False):
        rows = order[:start]
        near = [ONLINE_PENALTIES[i] for i in range(len(ONLINE_PENALTIES)) if abs(i - ONLINE_PENALTIES.index(l2)) <= 1]
        models = convex.optima(statistics, Features.of(train_x[rows]), train_y[rows], 2, near)
        losses = [-model.scores(Features.of(dev_x))[np.arange(300), dev_y].mean() for model in models]
        assert min(losses) == pytest.approx(losses[near.index(l2)], rel=1e-3)


def test_nearer_optima_change_the_code_little(monkeypatch):
    x, y = draw(1500, 20, 3)
    one = code(*halves(x, y), 3)
    monkeypatch.setattr("sentprobe.probes.online.ONLINE_TOLERANCE", convex.TOLERANCE)
    two = code(*halves(x, y), 3)
    assert one.description.bits == pytest.approx(two.description.bits, rel=1e-3)
    assert np.abs(one.rows - two.rows).mean() < 0.005


def test_sums_agree():
    x, y = draw(600, 5, 3)
    found = code(*halves(x, y), 3, orders=3)
    assert found.bits.shape == (3, len(found.block_ends))
    assert found.rows.sum() == pytest.approx(found.description.bits)
    assert found.bits.sum(axis=1).mean() == pytest.approx(found.description.bits)
    assert found.losses @ np.diff(found.block_ends) + found.block_ends[0] * math.log2(3) == pytest.approx(
        found.description.bits
    )
    assert len(found.l2) == len(found.block_ends) - 1 == len(found.losses)
    assert found.test_bits is None
    assert found.test_accuracy is None


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=7), st.integers(0, 1000))
def test_what_a_sender_gives_to_all_classes_adds_up_to_1(counts, seed):
    # so that the bits are those of a code that can be read again, also where classes have no rows yet
    counts[0] += 1
    rng = np.random.default_rng(seed)
    model = convex.Linear(rng.normal(size=(len(counts), 3)), rng.normal(size=len(counts)))
    sender = BlockModel.of(model, np.array(counts))
    rows = Features.of(rng.normal(size=(4, 3)).astype(np.float32))
    shares = sum(2.0 ** -label_costs([sender], rows, np.full(4, label))[0][0] for label in range(len(counts)))
    assert shares == pytest.approx(np.ones(4), abs=1e-6)
    missing = [label for label, count in enumerate(counts) if count == 0]
    for label in missing:  # half a row each
        cost = label_costs([sender], rows, np.full(4, label))[0][0]
        assert cost == pytest.approx(np.full(4, math.log2(2 * sum(counts) + len(missing))))


# labels whose cost is known


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.8, 0.2), (0.6, 0.3, 0.1)])
def test_labels_that_cannot_be_told_cost_their_entropy_and_never_less(shares):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(1800, 30)).astype(np.float32), rng.choice(len(shares), size=1800, p=shares)
        found = code(*halves(x, y), len(shares), seed=seed).description
        shares = np.bincount(y[:1200]) / 1200
        assert found.prior == pytest.approx(1200 * bits_of(shares))
        assert found.prior <= found.bits
        assert found.low <= found.prior <= found.high
        assert found.bits == pytest.approx(found.prior, rel=0.04)
        assert found.prior_compression[0] <= 1 <= found.prior_compression[2]


@pytest.mark.parametrize("classes", [2, 5])
def test_labels_that_vectors_show_cost_their_first_block(classes):
    rng = np.random.default_rng(0)
    y = rng.integers(classes, size=1800)
    found = code(*halves(np.eye(classes, dtype=np.float32)[y], y), classes)
    first = found.block_ends[0] * math.log2(classes)
    assert first < found.description.bits < 1.1 * first
    assert found.description.compression[0] == pytest.approx(1200 / found.block_ends[0], rel=0.1)


def test_a_class_that_comes_late_can_be_sent():
    x, y = draw(900, 4, 40)  # of 1200 / 40 rows each, few are among the first 80
    found = code(*halves(x, y), 40)
    assert np.isfinite(found.rows).all()
    assert found.rows.max() < 20
    assert found.description.bits < 1.05 * found.description.uniform


# what must not matter


@pytest.mark.parametrize("classes", [2, 4])
def test_names_of_classes_do_not_matter(classes):
    x, y = draw(900, 6, classes)
    other = np.random.default_rng(3).permutation(classes)[::-1]
    one, two = (code(*halves(x, labels), classes).bits for labels in (y, other[y]))
    assert one == pytest.approx(two, rel=2e-3)


def test_scale_and_place_of_the_vectors_do_not_matter():
    x, y = draw(900, 6, 3)
    one, two = (code(*halves(rows, y), 3).bits for rows in (x, 0.01 * x - 5))
    assert one == pytest.approx(two, rel=2e-3)


def test_dev_rows_whose_label_was_never_met_do_not_count():
    x, y = draw(900, 6, 2)
    train_x, train_y, dev_x, dev_y = halves(x, y)
    more_x, more_y = np.concatenate([dev_x, 100 * dev_x[:50]]), np.concatenate([dev_y, np.full(50, -1)])
    one, two = code(train_x, train_y, dev_x, dev_y, 2), code(train_x, train_y, more_x, more_y, 2)
    assert (one.bits == two.bits).all()


def test_test_rows_whose_label_was_never_met_are_wrong_and_cost_nothing():
    x, y = draw(900, 6, 2)
    parts, test = halves(x, y), Features.of(x[:60])
    never = np.where(np.arange(60) < 20, -1, y[:60])
    one = code(*parts, 2, test=Features.of(x[20:60]), test_labels=y[20:60])
    two = code(*parts, 2, test=test, test_labels=never)
    assert one.test_bits == pytest.approx(two.test_bits)
    assert two.test_accuracy == pytest.approx(one.test_accuracy * 40 / 60)


def test_rows_that_are_not_held_are_read_again(monkeypatch):
    x, y = draw(600, 6, 2)
    one = code(*halves(x, y), 2)
    for module in ("convex.data", "online"):
        monkeypatch.setattr(f"sentprobe.probes.{module}.MAX_CACHED_BYTES", 0)
    assert code(*halves(x, y), 2).bits == pytest.approx(one.bits, rel=1e-5)


def test_known_statistics_change_nothing_and_clusters_only_the_interval():
    x, y = draw(600, 6, 2)
    parts = halves(x, y)
    one = code(*parts, 2)
    same = code(*parts, 2, statistics=convex.TrainingStatistics.of(Features.of(parts[0]), parts[1], 2))
    assert (one.bits == same.bits).all()
    clustered = code(*parts, 2, clusters=np.argsort(np.argsort(one.rows)) // 20)  # what costs the same comes together
    assert (clustered.rows == one.rows).all()
    assert clustered.description.high > one.description.high


def test_on_a_device_of_torch_the_code_is_the_same():
    pytest.importorskip("torch")
    x, y = draw(600, 6, 3)
    one, two = (code(*halves(x, y), 3, device=device).bits for device in (None, "cpu"))
    assert one == pytest.approx(two, rel=2e-3)


# how sure the sum is


def test_the_interval_holds_what_other_rows_cost():
    found = [code(*halves(*draw(180, 12, 2, seed=seed)), 2, seed=seed, orders=3).description for seed in range(60)]
    mean = np.mean([one.bits for one in found])
    held = np.mean([one.low <= mean <= one.high for one in found])
    assert held >= 0.9  # 60 codes: with 0.95, less than one time in 20
    width = np.mean([one.high - one.low for one in found]) / 2
    assert width < 2.5 * 1.96 * np.std([one.bits for one in found], ddof=1)  # and not by being of no use


# fits that share their training statistics


@pytest.mark.parametrize("classes", [2, 4])
def test_optima_are_those_of_a_plain_fit_wherever_the_search_begins(classes):
    x, y = draw(600, 8, classes)
    rows = Features.of(x)
    statistics = convex.TrainingStatistics.of(rows, y, classes)
    models = convex.optima(statistics, rows, y, classes, [1e-3, 1e-1])
    again = convex.optima(statistics, rows, y, classes, [1e-3], start=models[1])
    far = convex.Linear(np.full((classes, 8), 0.3), np.arange(classes, dtype=np.float64))
    third = convex.optima(statistics, rows, y, classes, [1e-3], start=far)
    for l2, found in ((1e-3, models[0]), (1e-1, models[1]), (1e-3, again[0]), (1e-3, third[0])):
        probe = named("linear").__class__(kind="convex", standardise=True, l2=(l2,))
        plain = fit(probe, rows, y, rows, y, classes)[0].model.scores(rows)
        assert np.exp(found.scores(rows)) == pytest.approx(np.exp(plain), abs=1e-3)


def test_statistics_cache_no_more_than_they_may(monkeypatch):
    x, y = draw(100, 5, 2)
    statistics = convex.TrainingStatistics.of(Features.of(x), y, 2)
    monkeypatch.setattr("sentprobe.probes.convex.data.MAX_CACHED_BYTES", 2 * 4 * 5 * 5)
    first = statistics.inverse(1.0)
    matrix = statistics.curvature * statistics.correlations.astype(np.float64) + np.eye(5)
    assert first == pytest.approx(np.linalg.inv(matrix), rel=1e-3, abs=1e-4)
    for l2 in (0.1, 0.01, 1.0):
        assert statistics.inverse(l2).shape == (5, 5)
    assert list(statistics.inverses) == [0.01, 1.0]


def test_statistics_of_too_many_dimensions_go_without_correlations(monkeypatch):
    x, y = draw(600, 30, 2)
    rows = Features.of(x)
    statistics = convex.TrainingStatistics.of(rows, y, 2)
    for name in ("data.MAX_FACTORED_DIMENSIONS", "data.MAX_CORRELATED_DIMENSIONS", "optimum.MAX_FACTORED_DIMENSIONS"):
        monkeypatch.setattr(f"sentprobe.probes.convex.{name}", 10)
    bare = convex.TrainingStatistics.of(rows, y, 2)
    assert bare.correlations is None
    one, two = (convex.optima(each, rows, y, 2, [1e-2])[0].scores(rows) for each in (statistics, bare))
    assert np.exp(one) == pytest.approx(np.exp(two), abs=1e-3)


# what cannot be meant


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"n": 60}, TooFewError, "60 training rows of 2 classes, and 50 dev rows .* at least 64 and 1"),
        ({"dev_y": np.full(50, -1)}, TooFewError, "0 dev rows"),
        ({"dev_y": np.zeros(49, np.int64)}, ShapeError, "50 rows and 49 labels"),
        ({"orders": 0}, UsageError, "got 0 orders"),
        ({"l2": (1.0, 0.0)}, UsageError, "above 0"),
        (
            {"test": Features.of(np.zeros((3, 4), np.float32)), "test_labels": np.zeros(2, np.int64)},
            ShapeError,
            "3 rows",
        ),
    ],
)
def test_what_cannot_be_coded_is_refused(change, error, message):
    x, y = draw(250, 4, 2)
    n, dev_y = change.pop("n", 200), change.pop("dev_y", y[200:])
    with pytest.raises(error, match=message):
        code(x[:n], y[:n], x[200:], dev_y, 2, **change)


def test_rows_that_do_not_fit_the_statistics_are_refused():
    x, y = draw(100, 5, 2)
    statistics = convex.TrainingStatistics.of(Features.of(x), y, 2)
    for rows, labels in ((x[:, :4], y), (x[:50], y)):
        with pytest.raises(ShapeError, match=r"expected \(100, 5\)"):
            convex.optima(statistics, Features.of(rows), labels, 2, [1.0])
