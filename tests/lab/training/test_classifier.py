"""The classifier that nli and classify share."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sentprobe.core.arguments import resolve_settings  # noqa: E402
from sentprobe.lab.training.objectives._classifier import build_head, features, head_settings  # noqa: E402


def test_features_of_a_pair_are_those_of_numpy():
    u, v = np.random.default_rng(0).standard_normal((2, 5, 7)).astype(np.float32)
    expected = np.concatenate((u, v, abs(u - v), u * v), 1)
    np.testing.assert_array_equal(features([torch.from_numpy(u), torch.from_numpy(v)]).numpy(), expected)
    swapped = features([torch.from_numpy(v), torch.from_numpy(u)]).numpy()
    np.testing.assert_array_equal(swapped, np.concatenate((v, u, abs(u - v), u * v), 1))
    np.testing.assert_array_equal(features([torch.from_numpy(u)]).numpy(), u)


@pytest.mark.parametrize(
    ("given", "layers"),
    [
        # NLINet of InferSent's models.py at commit ec6b065, without and with nonlinear_fc
        ({}, ["Linear 40 512", "Linear 512 512", "Linear 512 3"]),
        (
            {"nonlinear": True, "head_dropout": 0.2},
            ["Dropout", "Linear 40 512", "Tanh", "Dropout", "Linear 512 512", "Tanh", "Dropout", "Linear 512 3"],
        ),
        # ClassificationNet there
        ({"head_layers": 1}, ["Linear 40 512", "Linear 512 3"]),
        # an MLP with 100 hidden units (Conneau et al. 2018), 128 with dropout (XNLI)
        (
            {"head": 100, "head_layers": 1, "nonlinear": True},
            ["Dropout", "Linear 40 100", "Tanh", "Dropout", "Linear 100 3"],
        ),
        (
            {"head": 128, "head_layers": 1, "nonlinear": True, "head_dropout": 0.1},
            ["Dropout", "Linear 40 128", "Tanh", "Dropout", "Linear 128 3"],
        ),
        ({"head_layers": 0}, ["Linear 40 3"]),
    ],
)
def test_layers(given, layers):
    head = build_head(40, resolve_settings(head_settings(2), given, "a classifier"), 3)

    def describe(layer):
        sizes = [layer.in_features, layer.out_features] if isinstance(layer, torch.nn.Linear) else []
        return " ".join(map(str, [type(layer).__name__, *sizes]))

    assert [describe(layer) for layer in head] == layers
    assert {layer.p for layer in head if isinstance(layer, torch.nn.Dropout)} <= {given.get("head_dropout", 0.0)}


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_loss_at_the_start_is_log_of_the_classes(classes):
    torch.manual_seed(0)
    head = build_head(24, resolve_settings(head_settings(2), {}, "a classifier"), classes)
    loss = torch.nn.functional.cross_entropy(head(torch.randn(500, 24)), torch.randint(classes, (500,)))
    assert loss.item() == pytest.approx(math.log(classes), rel=0.02)
