"""A probe as arrays and back: its scores are what they were, up to rounding."""

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.errors import DataError
from sentprobe.probes import Features, Probe, fit
from sentprobe.probes.convex import Linear
from sentprobe.probes.fitting import from_arrays, to_arrays
from sentprobe.probes.network import Network

NETWORKS = {
    "flat": Probe(l2=(1e-4,), passes=4),
    "hidden": Probe(hidden=(5,), l2=(1e-4,), passes=4),
    "relu": Probe(hidden=(5,), l2=(1e-4,), passes=4, activation="relu", drop="after", dropout=(0.3,)),
    "standardised": Probe(hidden=(5,), l2=(1e-4,), passes=4, standardise=True),
}
LINEAR = {
    "linear": Probe(kind="convex", l2=(1e-3,)),
    "linear standardised": Probe(kind="convex", l2=(1e-3,), standardise=True),
}


def trained(probe, classes=3, missing=0, shift=0.0, seed=0):
    """A classifier, the vectors it was trained on (90, 6), and as many others."""
    rng = np.random.default_rng(seed)
    labels = np.arange(90) % classes
    vectors = (rng.normal(size=(180, 6)) + shift).astype(np.float32)
    vectors[:90, :classes] += np.eye(classes, dtype=np.float32)[labels]
    train, test = Features.of(vectors[:90]), Features.of(vectors[90:])
    return fit(probe, train, labels, train, labels, classes + missing)[0].model, train, test


def through_a_file(arrays):
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    buffer.seek(0)
    with np.load(buffer, allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_exactly_what_it_was(name):
    model, _, test = trained(NETWORKS[name], missing=1)
    again = from_arrays(through_a_file(to_arrays(model)))
    assert isinstance(again, Network)
    assert (again.scale is None) == (name != "standardised")
    assert np.array_equal(again.scores(test), model.scores(test))
    assert again.shape == (4, 6)


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0, 2])
def test_a_linear_probe_is_what_it_was_up_to_rounding(name, classes, missing):
    model, train, test = trained(LINEAR[name], classes, missing)
    arrays = through_a_file(to_arrays(model, train.take(slice(None)).mean(axis=0)))
    assert arrays["weights"].dtype == np.float32
    again = from_arrays(arrays)
    assert isinstance(again, Linear)
    assert again.scores(test) == pytest.approx(model.scores(test), abs=1e-6)
    assert again.shape == (classes + missing, 6)


def test_vectors_far_from_zero_cost_no_precision():
    model, train, test = trained(LINEAR["linear standardised"], shift=1e5)
    centre = train.take(slice(0, 30)).mean(axis=0)
    exact = model.scores(test)
    assert from_arrays(to_arrays(model, centre)).scores(test) == pytest.approx(exact, abs=1e-5)
    # what it would be without: float32 has 24 bits, and the vectors' means are 2^17 deviations
    assert np.abs(from_arrays(to_arrays(model)).scores(test) - exact).max() > 1e-4


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**20), classes=st.integers(2, 5), size=st.sampled_from([1e-6, 1.0, 1e6]))
def test_any_linear_probe(seed, classes, size):
    rng = np.random.default_rng(seed)
    model = Linear(rng.normal(size=(classes, 4)) / size, rng.normal(size=classes))
    rows = (size * rng.normal(size=(20, 4))).astype(np.float32)
    again = from_arrays(to_arrays(model)).scores(Features.of(rows))
    assert again == pytest.approx(model.scores(Features.of(rows)), abs=5e-6)


def test_weights_beyond_float32_stay_as_they_are():
    model = Linear(np.array([[1e50, 0.0], [0.0, 1.0]]), np.zeros(2))
    assert to_arrays(model)["weights"].dtype == np.float64
    assert np.array_equal(from_arrays(to_arrays(model)).weights, model.weights)


SOUND = {"layer0": np.zeros((3, 4)), "layer1": np.zeros(3), "activation": np.array("relu")}


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"weights": np.zeros((2, 3))},
        {"weights": np.zeros((2, 3)), "bias": np.zeros(3)},
        {"weights": np.zeros(6), "bias": np.zeros(6)},
        {**SOUND, "activation": np.array("softmax")},
        {**SOUND, "layer1": np.zeros(4)},
        {**SOUND, "layer2": np.zeros((2, 5)), "layer3": np.zeros(2)},
        {**SOUND, "layer2": np.zeros((2, 3))},
        {**SOUND, "layer7": np.zeros((2, 3)), "layer8": np.zeros(2)},
        {**SOUND, "mean": np.zeros(4)},
        {**SOUND, "mean": np.zeros(3), "factor": np.zeros(3)},
    ],
)
def test_what_is_not_a_probe_is_refused(arrays):
    with pytest.raises(DataError, match="not the arrays of a probe"):
        from_arrays(arrays)


def test_an_unknown_model_is_refused():
    with pytest.raises(TypeError, match="got dict"):
        to_arrays({})
