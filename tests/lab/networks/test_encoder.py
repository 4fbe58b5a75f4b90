import pytest

torch = pytest.importorskip("torch")

from sentprobe.core.arguments import resolve_settings  # noqa: E402
from sentprobe.lab.networks import ARCHITECTURES  # noqa: E402
from sentprobe.lab.networks.architecture import NetworkConfig  # noqa: E402
from sentprobe.lab.networks.encoder import build_encoder  # noqa: E402


def untrained(name, **settings):
    """An encoder with learned word vectors, before training."""
    resolved = resolve_settings(ARCHITECTURES.get(name).settings, settings, name)
    config = NetworkConfig(name, resolved, words=500, width=64, frozen=False, unknown="keep")
    return build_encoder(config, None, 1).eval()


@pytest.mark.parametrize(
    ("name", "settings"), [("transformer", {"hidden": 64, "layers": 2, "heads": 4}), ("gated-convnet", {"hidden": 64})]
)
def test_untrained_networks_with_positions_and_learned_words_see_order(name, settings):
    # with words of variance 1, a sentence and its reversal were nearly the same to a Transformer: 0.01
    encoder = untrained(name, **settings)
    ids = torch.randint(1, 500, (40, 12), generator=torch.Generator().manual_seed(2))
    lengths = torch.full((40,), 12)
    with torch.no_grad():
        vectors, reversals = (encoder(i, lengths).vectors for i in (ids, ids.flip(1)))
    to_reversal = (vectors - reversals).norm(dim=1).mean()
    to_others = (vectors - vectors.roll(1, 0)).norm(dim=1).mean()
    assert to_reversal > 0.1 * to_others


def test_the_unknown_word_is_zero_before_training():
    assert not untrained("bilstm-max", hidden=8).inputs.learned.weight[0].any()
