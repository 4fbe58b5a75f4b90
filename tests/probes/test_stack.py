"""Weights of classifiers: those of scipy's optimiser, and the influence of each row is what leaving it out does."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from sentprobe.errors import ShapeError, TooFewError
from sentprobe.probes.calibration import PRIOR_ROWS, centred, fit_stack, fit_temperature
from sentprobe.stats.means import mean


def drawn(n=300, classes=3, count=2, seed=0):
    """Centred logits of classifiers that know something, and labels drawn by their sum."""
    rng = np.random.default_rng(seed)
    logits = [centred(rng.normal(size=(n, classes))) for _ in range(count)]
    told = 1.5 * logits[0] + 0.5 * sum(logits[1:], np.zeros((n, classes)))
    return logits, (told + rng.gumbel(size=told.shape)).argmax(axis=1)


def losses(weights, logits, labels):
    logs = log_softmax(sum(w * each for w, each in zip(weights, logits, strict=True)), axis=1)
    return -logs[np.arange(len(labels)), labels]


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("classes", [2, 5])
def test_the_weights_are_those_of_scipy(classes, count):
    logits, labels = drawn(classes=classes, count=count)
    n = len(labels)

    def objective(weights):
        total = sum(w * each for w, each in zip(weights, logits, strict=True))
        # one more row, of any label, as in temperature scaling
        told = sum(w * each[np.arange(n), labels].sum() for w, each in zip(weights, logits, strict=True)) / (n + 1)
        normaliser = np.log(np.exp(total).sum(axis=1)).mean()
        return normaliser - told + PRIOR_ROWS / 2 * np.square(weights[1:]).sum() / n

    oracle = minimize(objective, np.ones(count), method="BFGS", options={"gtol": 1e-9}).x
    found = fit_stack(logits, labels)
    assert found.weights == pytest.approx(oracle, abs=1e-4)
    assert found.loss == pytest.approx(losses(found.weights, logits, labels).mean())
    logs = found.log_probabilities(logits)
    assert np.exp(logs).sum(axis=1) == pytest.approx(1)
    assert -logs[np.arange(n), labels].mean() == pytest.approx(found.loss)


def test_one_classifier_has_the_temperature_of_calibration():
    logits, labels = drawn(count=1)
    logs = log_softmax(logits[0], axis=1)
    assert 1 / fit_stack(logits, labels).weights[0] == pytest.approx(fit_temperature(logs, labels), rel=1e-3)


def test_rows_that_are_all_right_have_finite_weights():
    labels = np.arange(40) % 2
    logits = centred(np.eye(2)[labels])
    found = fit_stack([logits, logits], labels)
    assert np.isfinite(found.weights).all()
    assert found.loss < 0.1


def test_rounding_errors_get_no_weight():
    logits, labels = drawn(count=1)
    tiny = centred(1e-6 * np.random.default_rng(1).normal(size=logits[0].shape))
    found = fit_stack([*logits, tiny, np.zeros_like(tiny)], labels)
    assert np.abs(found.weights[1:] * 1e-6).max() < 1e-4
    assert found.loss == pytest.approx(fit_stack(logits, labels).loss, abs=1e-6)


def test_the_influence_of_a_row_is_what_leaving_it_out_changes():
    logits, labels = drawn(n=120, count=2)
    found, rows = fit_stack(logits, labels), np.arange(120)
    for row in (3, 50, 117):
        left = rows[rows != row]
        without = fit_stack([each[left] for each in logits], labels[left])
        assert without.weights - found.weights == pytest.approx(-found.influence[row] / 119, abs=2e-3)
    # but for the additional row and the prior, they add up to 0
    assert found.influence.mean(axis=0) == pytest.approx([0, 0], abs=0.05)


def test_the_influence_gives_the_variance_over_samples():
    """400 samples: the standard deviation of a weight has an error of 3.5 %; three of these are allowed."""
    fits = [fit_stack(*drawn(n=200, seed=seed)) for seed in range(400)]
    observed = np.std([each.weights for each in fits], axis=0)
    for which in range(2):
        predicted = np.sqrt(np.mean([mean(each.influence[:, which]).variance for each in fits]))
        assert predicted == pytest.approx(observed[which], rel=0.12)


def test_the_slope_is_that_of_other_rows():
    logits, labels = drawn()
    found, (other, truth) = fit_stack(logits, labels), drawn(seed=1)
    step = 1e-5
    for which, slope in enumerate(found.slope(other, truth)):
        moved = [found.weights + sign * step * np.eye(2)[which] for sign in (1, -1)]
        high, low = (losses(weights, other, truth).mean() for weights in moved)
        assert slope == pytest.approx((high - low) / (2 * step), abs=1e-6)


def test_what_does_not_belong_together_is_refused():
    logits, labels = drawn()
    with pytest.raises(ShapeError, match="300 rows from each classifier"):
        fit_stack([logits[0], logits[1][:-1]], labels)
    with pytest.raises(TooFewError, match="labels are in train"):
        fit_stack(logits, np.full(300, -1))
