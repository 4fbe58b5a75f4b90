"""Iterated projections: they end where nothing linear is left, and find the direction that there is."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.errors import ShapeError
from sentprobe.probes import Features, fit, named
from sentprobe.probes.erase import erased, leace
from sentprobe.probes.nullspace import inlp
from sentprobe.probes.warm_start import Rows
from tests.probes.test_erase import draw

LINEAR = named("linear")


@pytest.mark.parametrize("classes", [2, 4])
def test_iterated_projections_end_at_the_majority(classes):
    x, y = draw(1600, 12, classes)
    train, dev, labels, dev_labels = Features.of(x[:1000]), Features.of(x[1000:]), y[:1000], y[1000:]
    eraser = inlp(Rows.of(train, labels, classes), dev, dev_labels, l2=1e-3, tolerance=0.02)
    assert classes - 1 <= eraser.rank < 12
    assert eraser.right @ eraser.left == pytest.approx(np.eye(eraser.rank), abs=1e-12)
    constant = (dev_labels == np.bincount(labels).argmax()).mean()
    (left,) = fit(replace(LINEAR, l2=(1e-3,)), erased(train, eraser), labels, erased(dev, eraser), dev_labels, classes)
    assert left.dev <= constant + 0.02 + 2 / 600  # two searches may disagree about a row
    (plain,) = fit(LINEAR, train, labels, dev, dev_labels, classes)
    assert plain.dev > constant + 0.1
    short = inlp(Rows.of(train, labels, classes), dev, dev_labels, l2=1e-3, tolerance=0.02, rounds=1)
    assert short.rank == classes - 1
    assert eraser.left @ (eraser.right @ short.left) == pytest.approx(short.left, abs=1e-9)  # it goes on from there


def test_one_direction_in_noise_is_found_by_both():
    rng = np.random.default_rng(0)
    direction = np.linalg.qr(rng.normal(size=(9, 1)))[0][:, 0]
    x = rng.normal(size=(20_000, 9))
    y = (x @ direction + 0.3 * rng.normal(size=20_000) > 0).astype(np.int64)
    features = Features.of(x.astype(np.float32))
    iterated = inlp(Rows.of(features, y, 2), features, y, l2=1e-4, tolerance=0.01)
    for eraser in (iterated, leace(features, y, 2)):
        assert eraser.rank == 1
        assert abs(eraser.left[:, 0] @ direction) / np.linalg.norm(eraser.left) > 0.999
        assert abs(eraser.right[0] @ direction) / np.linalg.norm(eraser.right) > 0.999


def test_nothing_to_erase_is_left_as_it_is():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(3000, 4)).astype(np.float32), np.arange(3000) % 2
    eraser = inlp(Rows.of(Features.of(x[:2000]), y[:2000], 2), Features.of(x[2000:]), y[2000:], l2=1.0, tolerance=0.05)
    assert eraser.rank == 0
    assert np.array_equal(eraser.apply(x), x)


def test_classes_whose_directions_are_all_taken_end_the_rounds():
    """With as many rounds as it likes, it takes every direction once."""
    x, y = draw(400, 3, 2, noise=2.0)
    eraser = inlp(Rows.of(Features.of(x), y, 2), Features.of(x), y, l2=1e-4, tolerance=-1.0, rounds=50)
    assert eraser.rank == 3
    assert eraser.right @ eraser.left == pytest.approx(np.eye(3), abs=1e-12)


def test_rows_and_labels_that_do_not_belong_together():
    x, y = draw(50, 4, 2)
    with pytest.raises(ShapeError, match="50 dev rows and 49 labels"):
        inlp(Rows.of(Features.of(x), y, 2), Features.of(x), y[:49], l2=1e-3)
