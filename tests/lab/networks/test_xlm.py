"""The Transformer of XLM: padding, positions, chosen places, and decoding step by step."""

import pytest

torch = pytest.importorskip("torch")

from sentprobe.lab.networks.xlm import XLM, Cache, EncoderMemory, Sizes  # noqa: E402

SIZES = Sizes(tokens=40, languages=2, hidden=16, layers=2, heads=4, positions=32, dropout=0.1, pad=2)


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return XLM(SIZES).eval()


@pytest.fixture(scope="module")
def ids():
    return torch.randint(5, 40, (3, 9), generator=torch.Generator().manual_seed(1))


def test_padding_does_not_change_a_sentence(model, ids):
    alone = model(ids[:1, :6], torch.zeros(1, 1, dtype=torch.long))
    padded = ids.clone()
    padded[0, 6:] = 2
    together = model(padded, torch.zeros(3, 1, dtype=torch.long), None, torch.tensor([6, 9, 9]))
    torch.testing.assert_close(together[:1, :6], alone, atol=1e-6, rtol=1e-5)


def test_languages_and_positions_matter_and_may_restart(model, ids):
    plain = model(ids, torch.zeros_like(ids))
    assert not torch.allclose(plain, model(ids, torch.ones_like(ids)))
    assert not torch.allclose(plain, model(ids))
    positions = torch.arange(9).expand(3, 9)
    torch.testing.assert_close(model(ids, torch.zeros_like(ids), positions), plain)
    restarted = torch.cat((torch.arange(4), torch.arange(5))).expand(3, 9)
    assert not torch.allclose(plain, model(ids, torch.zeros_like(ids), restarted))


def test_the_states_of_chosen_places_are_those_of_all(model, ids):
    lengths = torch.tensor([9, 4, 9])
    for causal in (False, True):
        for places in ([1, 8, 9, 20], [0, 9, 18], [26], []):
            wanted = torch.tensor(places, dtype=torch.long)
            expected = model(ids, lengths=lengths, causal=causal).flatten(0, 1)[wanted]
            torch.testing.assert_close(model(ids, lengths=lengths, causal=causal, token_indices=wanted), expected)


def test_a_causal_model_does_not_see_what_comes(model, ids):
    changed = ids.clone()
    changed[:, 6:] = 7
    one, two = model(ids, causal=True), model(changed, causal=True)
    torch.testing.assert_close(one[:, :6], two[:, :6])
    assert not torch.allclose(one[:, 6:], two[:, 6:])


def test_a_decoder_with_a_cache_gives_what_it_gives_without(ids):
    torch.manual_seed(2)
    decoder = XLM(SIZES, decoder=True).eval()
    assert {name.split(".")[0] for name in decoder.state_dict()} >= {"encoder_attn", "layer_norm15"}
    memory = EncoderMemory(torch.randn(3, 4, 16), torch.tensor([4, 2, 3]))
    whole = decoder(ids, causal=True, memory=memory)
    cache = Cache()
    steps = [decoder(ids[:, at : at + 1], causal=True, memory=memory, cache=cache) for at in range(9)]
    torch.testing.assert_close(torch.cat(steps, 1), whole, atol=1e-5, rtol=1e-4)
    changed = memory._replace(states=memory.states.index_fill(1, torch.tensor([3]), 5.0))
    other = decoder(ids, causal=True, memory=changed)
    torch.testing.assert_close(other[1:], whole[1:])  # the fourth word of these is padding
    assert not torch.allclose(other[0], whole[0])


def test_a_cache_keeps_the_chosen_sentences(ids):
    torch.manual_seed(2)
    decoder = XLM(SIZES, decoder=True).eval()
    memory = EncoderMemory(torch.randn(3, 4, 16), None)
    cache = Cache()
    decoder(ids[:, :3], causal=True, memory=memory, cache=cache)
    rows = torch.tensor([2, 0])
    cache.choose(rows)
    found = decoder(ids[rows, 3:4], causal=True, memory=EncoderMemory(memory.states[rows], None), cache=cache)
    expected = decoder(ids[:, :4], causal=True, memory=memory)[rows, 3:]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_with_dropout_training_is_random_and_has_gradients_everywhere(ids):
    torch.manual_seed(3)
    model = XLM(SIZES).train()
    languages = torch.tensor([[0], [1], [0]])
    one, two = model(ids, languages), model(ids, languages)
    assert not torch.allclose(one, two)
    one.square().sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())
