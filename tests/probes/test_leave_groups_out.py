"""Probes trained again without groups of rows: each is the one that a fit on the other rows gives."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sentprobe.probes import Features, fit, parse
from sentprobe.probes.fitting import leave_groups_out


def rows(n=240, d=6, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    middles = rng.standard_normal((classes, d))
    vectors = (rng.standard_normal((n, d)) + middles[labels]).astype(np.float32)
    return Features.of(vectors), labels, rng


@pytest.mark.parametrize(("probe", "classes"), [("linear", 2), ("linear", 4), ("linear?standardise=false", 3)])
def test_linear_probes_are_the_optima_of_scikit_learn(probe, classes):
    train, labels, rng = rows(classes=classes)
    dev, dev_labels, _ = rows(n=60, classes=classes, seed=1)
    _, spec = parse(probe)
    (found,) = fit(spec, train, labels, dev, dev_labels, classes)
    groups = np.array([rng.permutation(len(labels)) % 5 for _ in range(2)])
    models = list(leave_groups_out(spec, found, train, labels, dev, dev_labels, classes, groups))
    assert len(models) == 10
    x = train.take(slice(None)).astype(np.float64)
    mean, scale = (x.mean(axis=0), x.std(axis=0)) if spec.standardise else (0.0, 1.0)
    for model, (assigned, group) in zip(models, [(assigned, g) for assigned in groups for g in range(5)], strict=True):
        some = assigned != group
        # scikit-learn 1.x: C is one over rows times penalty; means and deviations are those of all rows
        oracle = LogisticRegression(C=1 / (some.sum() * found.chosen["l2"]), tol=1e-9, max_iter=5000)
        oracle.fit((x[some] - mean) / scale, labels[some])
        expected = oracle.predict_log_proba((dev.take(slice(None)) - mean) / scale)
        assert np.abs(np.exp(model.scores(dev)) - np.exp(expected)).max() < 2e-3


def test_networks_are_those_of_a_fit_on_the_other_rows():
    train, labels, rng = rows()
    dev, dev_labels, _ = rows(n=60, seed=1)
    _, spec = parse("senteval?hidden=4&passes=8")
    (found,) = fit(spec, train, labels, dev, dev_labels, 2, seeds=[7])
    groups = (rng.permutation(len(labels)) % 3)[None]
    models = list(leave_groups_out(spec, found, train, labels, dev, dev_labels, 2, groups))
    _, once = parse(f"senteval?hidden=4&passes=8&l2={found.chosen['l2']}")
    some = np.flatnonzero(groups[0] != 2)
    (alone,) = fit(once, train.select(some), labels[some], dev, dev_labels, 2, seeds=[7])
    assert len(models) == 3
    assert np.array_equal(models[2].scores(dev), alone.model.scores(dev))


def test_rows_that_are_too_many_to_keep_are_read_again(monkeypatch):
    train, labels, rng = rows()
    dev, dev_labels, _ = rows(n=60, seed=1)
    _, spec = parse("linear")
    (found,) = fit(spec, train, labels, dev, dev_labels, 2)
    groups = (rng.permutation(len(labels)) % 5)[None]
    kept = list(leave_groups_out(spec, found, train, labels, dev, dev_labels, 2, groups))
    monkeypatch.setattr("sentprobe.probes.convex.leave_groups_out.MAX_CACHED_BYTES", 0)
    read = list(leave_groups_out(spec, found, train, labels, dev, dev_labels, 2, groups))
    for one, two in zip(kept, read, strict=True):
        assert np.array_equal(one.scores(dev), two.scores(dev))


def test_classes_that_are_separated_are_searched_as_far():
    """The loss is small from the start, but the best direction is another without some of the rows."""
    rng = np.random.default_rng(3)
    labels = np.arange(300) % 2
    x = rng.standard_normal((300, 30)).astype(np.float32)
    x[:, 0] += 8.0 * labels
    train, (_, spec) = Features.of(x), parse("linear?l2=1e-5")
    (found,) = fit(spec, train, labels, train, labels, 2)
    assert found.dev == 1.0
    assigned = rng.permutation(300) % 10
    mean, scale = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64)

    def direction(model):
        weights = (model.weights[1] - model.weights[0]) * scale
        return weights / np.linalg.norm(weights)

    moved = []
    for group, model in enumerate(leave_groups_out(spec, found, train, labels, train, labels, 2, assigned[None])):
        some = assigned != group
        oracle = LogisticRegression(C=1 / (some.sum() * 1e-5), tol=1e-10, max_iter=20_000)
        (weights,) = oracle.fit((x[some] - mean) / scale, labels[some]).coef_
        expected = weights / np.linalg.norm(weights)
        assert np.linalg.norm(direction(model) - expected) < 0.002
        moved.append(np.linalg.norm(direction(found.model) - expected))
    assert max(moved) > 0.03
