"""Iterated projections: they take as many directions as a property has, and none where there is no property."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.errors import ShapeError
from sentprobe.probes import Features, fit, named
from sentprobe.probes.convex import Linear
from sentprobe.probes.erase import VectorMoments, erased, leace
from sentprobe.probes.nullspace import CHANCE_LEVEL, inlp, p_value
from sentprobe.probes.standardised_rows import StandardisedRows
from tests.probes.test_erase import draw

LINEAR = named("linear")


def class_means(classes, dimensions, rng):
    """Means (classes, d) that span so many dimensions, with a mean of 0 and deviations of 2 in each of them."""
    drawn = rng.normal(size=(classes, dimensions)) if dimensions > 1 else np.linspace(-1, 1, classes)[:, None]
    if not dimensions:
        return np.zeros((classes, 1))
    return 2 * np.sqrt(classes) * np.linalg.qr(drawn - drawn.mean(axis=0))[0]


def planted(classes, dimensions, *, seed=0, n=(640, 240), width=20, correlated=True, exact=False):
    """Rows whose classes differ in so many dimensions of the vectors, and in nothing else."""
    rng = np.random.default_rng([seed, classes, dimensions])
    y = rng.permutation(np.arange(sum(n)) % classes)
    means = class_means(classes, dimensions, rng)[y]
    x = rng.normal(size=(sum(n), width))
    x[:, : means.shape[1]] = means + (0 if exact else x[:, : means.shape[1]])
    if correlated:
        x = x @ rng.normal(size=(width, width)) + 5 * rng.normal(size=width)
    x = x.astype(np.float32)
    return (Features.of(x[: n[0]]), y[: n[0]], classes, Features.of(x[n[0] :]), y[n[0] :])


def projected(case, l2=1e-3):
    return inlp(*case, l2=l2)


# the number of directions


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("classes", "dimensions"), [(2, 1), (3, 1), (3, 2), (6, 1), (6, 2), (6, 5), (12, 1), (12, 2), (12, 5)]
)
def test_a_property_takes_as_many_directions_as_were_planted(classes, dimensions, exact, correlated):
    """One in a hundred may have more, at the level of the test."""
    cases = [planted(classes, dimensions, seed=seed, correlated=correlated, exact=exact) for seed in range(4)]
    ranks = sorted(projected(case).rank for case in cases)
    assert ranks[:3] == [dimensions] * 3


@pytest.mark.parametrize("spread", [1, 2, 5])
@pytest.mark.parametrize("l2", [1e-5, 1e-1])
def test_two_classes_take_one_direction_over_however_many_dimensions_they_are_spread(spread, l2):
    """A linear probe adds the dimensions up, and without their sum class means are equal (Belrose et al. 2023)."""
    rng = np.random.default_rng(spread)
    y = rng.permutation(np.arange(880) % 2)
    x = rng.normal(size=(880, 20)) * np.geomspace(0.3, 3, 20)
    x[:, :spread] += np.outer(2 * y - 1, 0.3 * np.arange(1, spread + 1))  # each of them tells the label
    x = (x @ rng.normal(size=(20, 20))).astype(np.float32)
    eraser = inlp(Features.of(x[:640]), y[:640], 2, Features.of(x[640:]), y[640:], l2=l2)
    assert eraser.rank == 1


@pytest.mark.parametrize("classes", [2, 6])
def test_random_labels_take_no_direction(classes):
    """With 40 draws, more than three false alarms at a level of 1 % would have a chance of 1 in 2,000."""
    ranks = [projected(planted(classes, 0, seed=seed), l2=l2).rank for seed in range(10) for l2 in (1e-5, 1e-3, 0.1, 1)]
    assert CHANCE_LEVEL == 0.01
    assert np.count_nonzero(ranks) <= 3


def test_many_directions_are_counted_without_trying_each_number():
    case = planted(24, 11, n=(2400, 800), width=30)
    assert projected(case).rank == 11


def test_a_rare_class_counts_though_no_probe_predicts_it():
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.1).astype(np.int64)
    x = rng.normal(size=(3000, 8)).astype(np.float32)
    x[:, 0] += 0.8 * y
    train, dev = Features.of(x[:2000]), Features.of(x[2000:])
    (probe,) = fit(LINEAR, train, y[:2000], dev, y[2000:], 2)
    assert probe.dev == (y[2000:] == 0).mean()
    assert inlp(train, y[:2000], 2, dev, y[2000:], l2=probe.chosen["l2"]).rank == 1


def test_more_dimensions_than_rows():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(400) % 2)
    x = rng.normal(size=(400, 300)).astype(np.float32)
    x[:, 0] += 3 * (2 * y - 1)
    assert inlp(Features.of(x[:200]), y[:200], 2, Features.of(x[200:]), y[200:], l2=0.1).rank == 1


# what is removed


def test_one_direction_in_noise_is_found_by_both():
    rng = np.random.default_rng(0)
    direction = np.linalg.qr(rng.normal(size=(9, 1)))[0][:, 0]
    x = rng.normal(size=(20_000, 9))
    y = (x @ direction + 0.3 * rng.normal(size=20_000) > 0).astype(np.int64)
    features = Features.of(x.astype(np.float32))
    for eraser in (inlp(features, y, 2, features, y, l2=1e-4), leace(features, y, 2)):
        assert eraser.rank == 1
        assert abs(eraser.proj_left[:, 0] @ direction) / np.linalg.norm(eraser.proj_left) > 0.999
        assert abs(eraser.proj_right[0] @ direction) / np.linalg.norm(eraser.proj_right) > 0.999


@pytest.mark.parametrize("classes", [2, 4])
def test_nothing_is_left_that_a_probe_finds(classes):
    x, y = draw(1600, 12, classes)
    train, dev, labels, dev_labels = Features.of(x[:1000]), Features.of(x[1000:]), y[:1000], y[1000:]
    eraser = inlp(train, labels, classes, dev, dev_labels, l2=1e-3)
    assert eraser.rank == classes - 1
    assert eraser.proj_right @ eraser.proj_left == pytest.approx(np.eye(eraser.rank), abs=1e-12)
    constant = (dev_labels == np.bincount(labels).argmax()).mean()
    (plain,) = fit(LINEAR, train, labels, dev, dev_labels, classes)
    assert plain.dev > constant + 0.1
    (left,) = fit(replace(LINEAR, l2=(1e-3,)), erased(train, eraser), labels, erased(dev, eraser), dev_labels, classes)
    assert left.dev == constant
    everything = leace(train, labels, classes)
    assert eraser.apply(x) == pytest.approx(everything.apply(x), abs=1e-4)


def test_nothing_to_erase_is_left_as_it_is():
    case = planted(2, 0, n=(2000, 1000))
    eraser = projected(case, l2=1.0)
    x = case[0].take(slice(None))
    assert eraser.rank == 0
    assert np.array_equal(eraser.apply(x), x)


def test_rows_that_were_read_before_change_nothing():
    case = planted(6, 2)
    train, labels, classes = case[:3]
    rows = StandardisedRows.of(train, labels, classes, VectorMoments.of(train))
    one, two = inlp(*case, l2=1e-3), inlp(*case, l2=1e-3, rows=rows)
    assert np.array_equal(one.proj_left, two.proj_left)
    assert np.array_equal(one.proj_right, two.proj_right)


# dev


def reader(weight):
    """A classifier that reads the first dimension."""
    return Linear(np.array([[-weight, 0.0], [weight, 0.0]]), np.zeros(2))


def test_the_p_value_is_that_of_a_permutation_test():
    """The oracle: how many of 20,000 permutations of the labels have as high a mean log-probability of the label."""
    rng = np.random.default_rng(3)
    y = rng.permutation(np.arange(300) % 2)
    x = np.column_stack([0.1 * (2 * y - 1) + rng.normal(size=300), np.zeros(300)]).astype(np.float32)
    model, dev = reader(0.7), Features.of(x)
    logs = model.scores(dev).astype(np.float64)
    permuted = np.array([logs[np.arange(300), rng.permutation(y)].mean() for _ in range(20_000)])
    oracle = (permuted >= logs[np.arange(300), y].mean()).mean()
    found = p_value(model, dev, y)
    assert 0.005 < oracle < 0.2
    assert found == pytest.approx(oracle, abs=0.01)
    # neither the scale of the logits nor their bias matters
    assert p_value(reader(70.0), dev, y) == pytest.approx(found, abs=0.05)
    assert p_value(Linear(np.zeros((2, 2)), np.array([0.0, 2.0])), dev, y) == 1.0


def test_p_values_without_a_property_are_uniform():
    """500 draws; the largest distance from a uniform distribution, by Kolmogorov and Smirnov."""
    from scipy.stats import kstest

    rng, found = np.random.default_rng(0), []
    for _ in range(500):
        x = np.column_stack([rng.normal(size=80), np.zeros(80)]).astype(np.float32)
        found.append(p_value(reader(1.0), Features.of(x), rng.integers(2, size=80)))
    assert kstest(found, "uniform").pvalue > 0.01


def test_dev_rows_of_one_target_form_are_not_taken_for_independent():
    rng = np.random.default_rng(0)
    forms = np.repeat(np.arange(12), 20)
    y, told = rng.integers(2, size=12)[forms], rng.normal(size=12)[forms]
    x = np.column_stack([told + 0.1 * rng.normal(size=240), np.zeros(240)]).astype(np.float32)
    model = reader(1.0 if told @ (2 * y - 1) > 0 else -1.0)
    apart, together = p_value(model, Features.of(x), y), p_value(model, Features.of(x), y, forms.tolist())
    assert apart < 0.3 * together


def test_dev_rows_whose_label_is_not_in_train_do_not_count():
    train, labels, classes, dev, dev_labels = planted(6, 2)
    unknown = np.where(np.arange(len(dev_labels)) % 3 == 0, -1, dev_labels)
    eraser = inlp(train, labels, classes, dev, unknown, l2=1e-3)
    known = np.flatnonzero(unknown >= 0)
    other = inlp(train, labels, classes, dev.select(known), unknown[known], l2=1e-3)
    assert eraser.rank == other.rank == 2


def test_rows_and_labels_that_do_not_belong_together():
    x, y = draw(50, 4, 2)
    with pytest.raises(ShapeError, match="50 dev rows and 49 labels"):
        inlp(Features.of(x), y, 2, Features.of(x), y[:49], l2=1e-3)
