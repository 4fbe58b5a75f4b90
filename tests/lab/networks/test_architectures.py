"""What holds for every architecture: a vector is that of its sentence alone, and every setting has its effect."""

import pytest

torch = pytest.importorskip("torch")

from sentprobe.core.arguments import resolve_settings  # noqa: E402
from sentprobe.errors import UsageError  # noqa: E402
from sentprobe.lab.networks import ARCHITECTURES  # noqa: E402
from sentprobe.lab.networks.sequences import max_over_time  # noqa: E402
from tests.lab.networks.tiny import VARIANTS, batch, build, label, make, small_settings  # noqa: E402

LENGTHS = [3, 1, 7, 2, 5, 7, 1]

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=label)


def test_exactly_these_architectures_are_built_in():
    assert list(ARCHITECTURES) == [
        "bow-mean", "bow-max", "bow-sum", "bow-weighted", "ngrams", "lstm", "gru", "lstm-reversed", "bigru-last",
        "bilstm-last", "bilstm-mean", "bilstm-max", "inner-attention", "self-attention-max", "self-attention-last",
        "hconvnet", "gated-convnet", "cnn-max", "cnn-mean", "transformer",
    ]  # fmt: skip


@every_variant
def test_a_sentence_alone_is_the_sentence_in_any_batch(variant):
    network = build(variant)
    with torch.no_grad():
        alone = [
            network(sentence[None, :length], torch.tensor([length]))
            for sentence, length in zip(batch(LENGTHS)[0], LENGTHS, strict=True)
        ]
        for time, filling in ((7, 0.0), (7, 1e3), (11, -1e3)):
            inputs, lengths = batch(LENGTHS, time, filling=filling)
            for order in (torch.arange(7), torch.tensor([5, 0, 3, 6, 2, 4, 1])):
                vectors, layers = network(inputs[order], lengths[order])
                for at, sentence in enumerate(order.tolist()):
                    torch.testing.assert_close(vectors[at], alone[sentence].vectors[0], atol=1e-6, rtol=1e-6)
                    for layer, own in zip(layers, alone[sentence].layers, strict=True):
                        found = layer[at, : LENGTHS[sentence]]
                        torch.testing.assert_close(found, own[0], atol=1e-6, rtol=1e-6)


@every_variant
def test_padding_has_no_gradient_and_words_have(variant):
    inputs, lengths = batch(LENGTHS, 9, filling=1e3)
    inputs.requires_grad_()
    network = build(variant)
    vectors = network(inputs, lengths).vectors
    (vectors * torch.randn_like(vectors)).sum().backward()
    for gradient, length in zip(inputs.grad, LENGTHS, strict=True):
        assert torch.equal(gradient[length:], torch.zeros_like(gradient[length:]))
        assert gradient[:length].abs().sum() > 0
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@every_variant
def test_sizes_and_shapes_are_as_announced(variant):
    network = build(variant)
    inputs, lengths = batch(LENGTHS, 9)
    vectors, layers = network(inputs, lengths)
    assert vectors.shape == (7, network.size)
    assert vectors.dtype == torch.float32
    assert layers
    assert all(layer.shape[:2] == (7, 9) for layer in layers)
    settings = small_settings(*variant)
    if "layers" in settings:
        assert len(layers) == settings["layers"] + (settings.get("over") == "states")
    else:
        assert len(layers) == 1
        assert layers[0] is inputs


@every_variant
def test_who_pools_by_the_maximum_says_so(variant):
    network = build(variant)
    inputs, lengths = batch(LENGTHS)
    vectors, layers = network(inputs, lengths)
    highest = max_over_time(layers[-1], lengths)
    assert network.pools_max == (highest.shape == vectors.shape and torch.equal(highest, vectors))


OTHER = {"hidden": "12", "layers": "3", "heads": "2", "dropout": "0.5", "kernels": "3-4", "kernel": "5"}
"""A value as users type it, other than the small ones."""


def behaviour(name, settings):
    """Sizes, and what comes out in training."""
    torch.manual_seed(0)
    network = make(name, settings)
    torch.manual_seed(1)
    shapes = {key: tuple(value.shape) for key, value in network.state_dict().items()}
    return shapes, network(*batch(LENGTHS)).vectors.tolist()


@pytest.mark.parametrize(
    ("name", "setting"), [(name, setting) for name in ARCHITECTURES for setting in ARCHITECTURES[name].settings]
)
def test_every_setting_has_an_effect(name, setting):
    small = small_settings(name)
    known = ARCHITECTURES[name].settings[setting]
    if isinstance(known.default, bool):
        others = ["no" if small[setting] else "yes"]
    elif known.choices:
        others = [choice for choice in known.choices if choice != small[setting]]
    else:
        others = [OTHER.get(setting, "8")]
    for value in others:
        changed = resolve_settings(ARCHITECTURES[name].settings, {**small, setting: value}, name)
        assert changed != small
        assert behaviour(name, changed) != behaviour(name, small)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_dropout_is_for_training_only(name):
    network = build((name, {"dropout": 0.5}))
    inputs, lengths = batch(LENGTHS)
    assert not torch.equal(network(inputs, lengths).vectors, network(inputs, lengths).vectors)
    network.eval()
    plain = build((name, {}))
    plain.load_state_dict(network.state_dict())
    assert torch.equal(network(inputs, lengths).vectors, plain(inputs, lengths).vectors)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_same_seed_gives_the_same_weights(name):
    first, second, other = (dict(build((name, {}), seed).named_parameters()) for seed in (7, 7, 8))
    assert all(torch.equal(value, second[key]) for key, value in first.items())
    assert not first or any(not torch.equal(value, other[key]) for key, value in first.items())


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_inference_does_not_change_what_comes_out(name):
    network = build((name, {}))
    trained = network(*batch(LENGTHS)).vectors
    with torch.inference_mode():
        torch.testing.assert_close(network.eval()(*batch(LENGTHS)).vectors, trained, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_gradients_are_those_of_finite_differences(name):
    network = build((name, {}), width=3).double()
    inputs, lengths = batch([2, 3], width=3, seed=3)
    names, values = zip(*network.named_parameters(), strict=True) if list(network.parameters()) else ((), ())

    def vectors(inputs, *values):
        return torch.func.functional_call(network, dict(zip(names, values, strict=True)), (inputs, lengths)).vectors

    given = (inputs.double().requires_grad_(), *(value.detach().requires_grad_() for value in values))
    assert torch.autograd.gradcheck(vectors, given, fast_mode=True)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("transformer", {"hidden": 10, "heads": 3}, "hidden=10 and heads=3: expected hidden to be a multiple of heads"),
        ("cnn-max", {"kernels": "3,4"}, "kernels=3,4: expected widths from 1 to 99, joined by hyphens, such as 3-4-5"),
        ("cnn-mean", {"kernels": "0"}, "kernels=0: expected widths"),
        ("inner-attention", {"views": 0}, "views=0: expected an integer, 1 or more"),
        ("bilstm-max", {"hiden": 4}, "no setting 'hiden'.*hidden"),
    ],
)
def test_impossible_settings_are_refused(name, settings, message):
    with pytest.raises(UsageError, match=message):
        build((name, settings))
