"""The check of architectures: all built-in ones pass, and each rule finds the fault that it is for."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("accelerate")

from sentprobe.core.arguments import Setting  # noqa: E402
from sentprobe.errors import SentProbeError  # noqa: E402
from sentprobe.lab.networks import ARCHITECTURES  # noqa: E402
from sentprobe.lab.networks.architecture import Architecture, Encoded  # noqa: E402
from sentprobe.lab.networks.sequences import max_over_time  # noqa: E402
from sentprobe.lab.testing import check_architecture, examine_architecture  # noqa: E402

SMALL = {"hidden": 8}


class Linear(torch.nn.Module):
    """The maximum over time of projected word vectors, with one fault or none."""

    pools_max = True

    def __init__(self, width, settings, fault):
        super().__init__()
        self.size, self.fault = int(settings["hidden"]), fault
        self.weights = torch.nn.Linear(width, self.size)
        if fault == "unused":
            self.more = torch.nn.Linear(width, self.size)

    def forward(self, inputs, lengths):
        states = self.weights(inputs)
        if self.fault == "padding":  # as InferSent's: zeros of the padding take part
            return Encoded(states.amax(1), (states,))
        vectors = max_over_time(states, lengths)
        if self.fault == "batch":
            vectors = vectors - vectors.mean(0)
        if self.fault == "order":
            vectors = vectors + torch.arange(len(vectors))[:, None] * (len(vectors) > 1)
        if self.fault == "size":
            vectors = vectors[:, 1:]
        if self.fault == "infinite":
            vectors = vectors / 0
        if self.fault == "constant":
            vectors = vectors * 0
        if self.fault == "crash":
            raise RuntimeError("out of order")
        return Encoded(vectors, (states[:, 0],) if self.fault == "layers" else (states,))


def architecture(fault):
    return Architecture(
        "own", "own", lambda width, settings: Linear(width, settings, fault), {"hidden": Setting(8, "units")}
    )


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_built_in_architectures_pass(name):
    part = ARCHITECTURES[name]
    check_architecture(part, {key: value for key, value in SMALL.items() if key in part.settings})


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("size", "one vector of finite numbers per sentence"),
        ("infinite", "one vector of finite numbers per sentence"),
        ("crash", "RuntimeError: out of order"),
        ("batch", "does not depend on the other sentences of the batch"),
        ("order", "does not depend on"),
        ("padding", "does not depend on"),
        ("layers", "a state for each word"),
        ("constant", "different sentences have different vectors"),
        ("unused", "no gradient reaches more.weight"),
    ],
)
def test_each_fault_is_found(fault, rule):
    with pytest.raises(SentProbeError, match=rule):
        check_architecture(architecture(fault))


def test_without_a_fault_there_is_none():
    assert all(verdict.passed for verdict in examine_architecture(architecture("")))
    with pytest.raises(SentProbeError, match="Did you mean hidden"):
        check_architecture(architecture(""), {"hiden": 3})
