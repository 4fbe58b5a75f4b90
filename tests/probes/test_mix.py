"""A mix of layers: its gradient, the layer that was planted, and what it is when there is one layer only."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from sentprobe.errors import DataError, ShapeError, UsageError
from sentprobe.probes import Features, fit, mix, named

CLOSE = 1e-3
"""How far apart two probabilities of the same optimum may be: what ``convex.TOLERANCE`` is set for."""


def draw(layers, n, d, classes, planted, seed=0, kept=0.7):
    """Vectors (layers, n, d), each layer like the one before but for noise, of growing size; and labels by one."""
    rng = np.random.default_rng(seed)
    turn, weights = rng.normal(size=(d, d)) / np.sqrt(d), rng.normal(size=(d, classes))
    hidden = [rng.normal(size=(n, d))]
    for _ in range(layers - 1):
        hidden.append(kept * hidden[-1] + np.sqrt(1 - kept**2) * rng.normal(size=(n, d)))
    y = (hidden[planted] @ weights + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return [Features.of((3.0**i * each @ turn + i).astype(np.float32)) for i, each in enumerate(hidden)], y


@pytest.mark.parametrize("classes", [2, 4])
def test_the_layer_that_was_planted_is_found(classes):
    for planted in (0, 3):
        layers, y = draw(5, 1500, 8, classes, planted)
        train, test = ([each.select(part) for each in layers] for part in (slice(1000), slice(1000, None)))
        found = mix.fit(train, y[:1000], classes, l2=1e-3)
        assert found.converged
        assert found.weights.sum() == pytest.approx(1)
        assert found.weights.argmax() == planted
        assert found.weights[planted] > 0.8
        assert found.centre == pytest.approx(np.arange(5) @ found.weights)
        assert abs(found.centre - planted) < 0.4
        right = (found.scores(test).argmax(axis=1) == y[1000:]).mean()
        (best,) = fit(replace(named("linear"), l2=(1e-3,)), train[planted], y[:1000], test[planted], y[1000:], classes)
        assert right > best.dev - 0.03


def test_rows_are_standardised_by_all_of_them_however_few_are_read_at_a_time(monkeypatch):
    monkeypatch.setattr(mix, "CELLS", 1)  # 64 rows at a time for the moments, 16 otherwise
    rows = np.random.default_rng(3).normal(size=(300, 4)) + np.arange(300)[:, None] / 10  # later ones are larger
    rows = (1000 + rows * [1, 2, 3, 0]).astype(np.float32)
    stack = mix._Stack.of([Features.of(rows), Features.of(rows[::-1])])
    mean, deviation = stack.mean[0], stack.scale[0]
    assert mean == pytest.approx(rows.mean(axis=0, dtype=np.float64))
    assert deviation == pytest.approx([*rows.std(axis=0, dtype=np.float64)[:3], 1.0])


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_one_layer_is_the_linear_probe(classes):
    (layer,), y = draw(1, 700, 6, classes, 0)
    y = 2 * y  # there are classes without rows
    found = mix.fit([layer], y, 2 * classes, l2=1e-2)
    assert found.weights.tolist() == [1]
    assert found.gamma == pytest.approx(1, abs=1e-6)
    assert found.centre == 0
    (plain,) = fit(replace(named("linear"), l2=(1e-2,)), layer, y, layer, y, 2 * classes)
    logs = found.scores([layer])
    assert logs.dtype == np.float32
    assert np.exp(logs) == pytest.approx(np.exp(plain.model.scores(layer)), abs=CLOSE)


@settings(deadline=None, max_examples=15)
@given(classes=st.integers(2, 4), count=st.integers(2, 4), seed=st.integers(0, 99))
def test_the_gradient_is_that_of_finite_differences(classes, count, seed):
    layers, y = draw(count, 120, 4, classes, 0, seed)
    stack, rng = mix._Stack.of(layers), np.random.default_rng(seed)
    point = rng.normal(size=(1 if classes == 2 else classes, 5))
    numbers = np.unique(y, return_inverse=True)[1]
    point = point[: 1 if numbers.max() == 1 else numbers.max() + 1]
    logits, step = rng.normal(size=count), 1e-3  # products are float32
    slope = mix.objective(stack, numbers, 0.1, logits, point)[1]
    for i, along in enumerate(np.eye(count)):
        ends = [mix.objective(stack, numbers, 0.1, logits + side * step * along, point)[0] for side in (-1, 1)]
        assert slope[i] == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=2e-3 * max(1, np.abs(slope).max()))
    assert slope.sum() == pytest.approx(0, abs=1e-9)  # what all logits share changes nothing


def test_the_gradient_at_the_best_probe_is_that_of_the_minimum():
    layers, y = draw(3, 400, 5, 3, 1)
    stack, shares = mix._Stack.of(layers), np.bincount(y) / 400
    logits, step = np.array([0.3, -0.2, 0.1]), 0.05

    def least(at):
        point = mix._fit_probe(stack, y, shares, softmax(at), 1e-2, np.zeros((3, 6)))
        return mix.objective(stack, y, 1e-2, at, point)

    slope = least(logits)[1]
    for i, along in enumerate(np.eye(3)):
        ends = [least(logits + side * step * along)[0] for side in (-1, 1)]
        assert slope[i] == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-3)


def test_gamma_gives_variance_1():
    layers, y = draw(4, 900, 6, 2, 2)
    found = mix.fit(layers, y, 2, l2=1e-2)
    rows = [each.take(slice(None)).astype(np.float64) for each in layers]
    mixed = sum(w * (r - r.mean(axis=0)) / r.std(axis=0) for w, r in zip(found.weights, rows, strict=True))
    assert (found.gamma**2 * mixed.var(axis=0)).mean() == pytest.approx(1, abs=1e-5)


def test_the_size_of_a_layer_does_not_matter():
    layers, y = draw(3, 600, 6, 2, 1)
    large = [Features.of(each.take(slice(None)) * np.float32(2.0 ** (9 * i))) for i, each in enumerate(layers)]
    one, two = mix.fit(layers, y, 2, l2=1e-2), mix.fit(large, y, 2, l2=1e-2)
    assert one.weights == pytest.approx(two.weights, abs=1e-3)


def test_the_order_of_the_layers_goes_with_the_weights():
    layers, y = draw(4, 800, 6, 3, 1)
    order = [2, 0, 3, 1]
    one, two = mix.fit(layers, y, 3, l2=1e-2), mix.fit([layers[i] for i in order], y, 3, l2=1e-2)
    assert one.weights[order] == pytest.approx(two.weights, abs=0.02)


def test_layers_that_are_the_same_share_their_weight():
    layers, y = draw(2, 500, 5, 2, 0)
    found = mix.fit([layers[0], layers[0], layers[0]], y, 2, l2=1e-2)
    assert found.weights == pytest.approx(np.full(3, 1 / 3), abs=1e-6)
    assert found.gamma == pytest.approx(1, abs=1e-6)
    assert found.centre == pytest.approx(1, abs=1e-5)


def test_threads_and_what_is_kept_do_not_matter(monkeypatch):
    layers, y = draw(3, 700, 20, 3, 1)
    found = []
    for threads, kept in ((1, 2**28), (2, 2**28), (1, 0)):
        monkeypatch.setattr("sentprobe.probes.standardised_rows.MAX_CACHED_BYTES", kept)
        with threadpool_limits(limits=threads):
            found.append(mix.fit(layers, y, 3, l2=1e-2))
            assert np.array_equal(found[0].weights, found[-1].weights)
            assert np.array_equal(found[0].scores(layers), found[-1].scores(layers))


def test_what_cannot_be_mixed_is_refused():
    layers, y = draw(2, 50, 4, 2, 0)
    with pytest.raises(ShapeError, match="49 rows"):
        mix.fit(layers, y[:49], 2, l2=1e-2)
    with pytest.raises(ShapeError, match="0 layers"):
        mix.fit([], y, 2, l2=1e-2)
    with pytest.raises(ShapeError, match="the same dimension"):
        mix.fit([layers[0], Features.of(np.ones((50, 3)))], y, 2, l2=1e-2)
    with pytest.raises(ShapeError, match="2 layers"):
        mix.fit(layers, y, 2, l2=1e-2).scores(layers[:1])
    with pytest.raises(DataError, match="expected 0 … 0"):
        mix.fit(layers, y, 1, l2=1e-2)
    with pytest.raises(DataError, match="varies"):
        mix.fit([Features.of(np.ones((50, 3)))] * 2, y, 2, l2=1e-2)
    with pytest.raises(DataError, match="finite"):
        mix.fit([Features.of(np.full((50, 3), np.nan))] * 2, y, 2, l2=1e-2)


# the layer at which a property is found


def test_the_expected_layer_is_where_the_gains_are():
    assert mix.expected_layer([0.5, 0.5, 0.9, 0.9]) == pytest.approx(2)
    assert mix.expected_layer([0.5, 0.6, 0.7, 0.8]) == pytest.approx(2)
    assert mix.expected_layer([0.0, 1.0]) == pytest.approx(1)


def test_losses_count_as_they_are():
    # by hand: gains 0.3, -0.1, 0.2 at layers 1, 2, 3, so (0.3 - 0.2 + 0.6) / 0.4
    assert mix.expected_layer([0.5, 0.8, 0.7, 0.9]) == pytest.approx(1.75)
    # gains 0.4, -0.3: (0.4 - 0.6) / 0.1, which is below the first layer
    assert mix.expected_layer([0.5, 0.9, 0.6]) == pytest.approx(-2)


def test_without_gain_there_is_no_layer():
    assert np.isnan(mix.expected_layer([0.5, 0.9, 0.5]))
    assert np.isnan(mix.expected_layer([0.5, 0.4]))
    with pytest.raises(UsageError, match="two mixes"):
        mix.expected_layer([0.5])
