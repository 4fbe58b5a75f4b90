"""Temperatures: one that is known is found, scipy's is the same, and predictions stay."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from sentprobe.errors import DataError, TooFewError
from sentprobe.probes.calibration import MAX_TEMPERATURE, fit_temperature, scaled


def draw(n, classes, seed=0, temperature=1.0):
    """Log-probabilities (n, classes), and labels drawn by them at a temperature."""
    rng = np.random.default_rng(seed)
    logs = log_softmax(2 * rng.normal(size=(n, classes)), axis=1)
    return logs, (logs / temperature + rng.gumbel(size=logs.shape)).argmax(axis=1)


def loss(logs, labels, t):
    """On the rows, and on one that has each label as often."""
    found = -log_softmax(logs / t, axis=1)
    return (found[np.arange(len(labels)), labels].sum() + found.mean()) / (len(labels) + 1)


@pytest.mark.parametrize("classes", [2, 7])
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_a_known_temperature_is_found(classes, temperature):
    logs, labels = draw(20_000, classes, temperature=temperature)
    assert fit_temperature(logs.astype(np.float32), labels) == pytest.approx(temperature, rel=0.06)


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(0, 10**6), st.floats(0.2, 5.0))
def test_it_is_that_of_scipy(classes, seed, temperature):
    logs, labels = draw(60, classes, seed, temperature)
    found = fit_temperature(logs, labels)
    oracle = minimize_scalar(
        lambda power: loss(logs, labels, math.exp(-power)), bounds=(-math.log(MAX_TEMPERATURE),
        math.log(MAX_TEMPERATURE)),
        method="bounded", options={"xatol": 1e-6},
    )  # fmt: skip
    assert loss(logs, labels, found) <= oracle.fun + 1e-6


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 5), st.integers(0, 10**6), st.floats(0.05, 50.0))
def test_scaling_keeps_the_order_and_gives_probabilities(classes, seed, t):
    logs = draw(20, classes, seed)[0].astype(np.float32)
    found = scaled(logs, t)
    assert found.dtype == np.float32
    assert np.exp(found).sum(axis=1) == pytest.approx(np.ones(20), abs=1e-5)
    assert found == pytest.approx(log_softmax(logs.astype(np.float64) / t, axis=1), abs=1e-4, rel=1e-5)
    top = np.sort(logs, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-3
    assert (found.argmax(axis=1) == logs.argmax(axis=1))[clear].all()


def test_what_is_scaled_well_needs_no_more():
    logs, labels = draw(5000, 3, temperature=2.5)
    well = scaled(logs, fit_temperature(logs, labels))
    assert fit_temperature(well, labels) == pytest.approx(1.0, abs=1e-3)
    assert scaled(logs, 1.0) == pytest.approx(logs, abs=1e-5)


def test_labels_that_were_never_met_do_not_count():
    logs, labels = draw(400, 3, temperature=2.0)
    odd = np.where(np.arange(400) % 4 == 0, -1, labels)
    assert fit_temperature(logs, odd) == fit_temperature(logs[odd >= 0], labels[odd >= 0])


def test_names_of_classes_do_not_matter():
    logs, labels = draw(400, 4, temperature=2.0)
    other = np.array([2, 0, 3, 1])
    assert fit_temperature(logs[:, np.argsort(other)], other[labels]) == pytest.approx(fit_temperature(logs, labels))


def test_where_no_temperature_is_best_the_nearest_is_taken():
    logs = log_softmax(np.array([[1.0, 0.0], [0.0, 1.0]] * 5), axis=1)
    right = np.array([0, 1] * 5)
    # of ten rows that are right and one that is so by half, 21 halves of 22 are: its odds are 21
    assert fit_temperature(logs, right) == pytest.approx(1 / math.log(21), rel=1e-3)
    assert fit_temperature(logs, 1 - right) == pytest.approx(MAX_TEMPERATURE)
    assert fit_temperature(np.full((4, 2), -math.log(2)), right[:4]) == 1.0


@pytest.mark.parametrize(
    ("logs", "labels", "error", "message"),
    [
        (np.zeros((3, 2)), [0, 1], DataError, r"of 2 rows, got \(3, 2\)"),
        (np.zeros(2), [0, 1], DataError, r"got \(2,\)"),
        (np.full((2, 2), -np.inf), [0, 1], DataError, "finite"),
        (np.zeros((2, 2)), [-1, -1], TooFewError, "one of 2 classes, got 0"),
        (np.zeros((2, 2)), [0, 2], TooFewError, "one of 2 classes"),
    ],
)
def test_what_has_no_temperature_is_refused(logs, labels, error, message):
    with pytest.raises(error, match=message):
        fit_temperature(logs, np.array(labels))
