"""Decoders: the loss, what it does not depend on, attention, and decoding."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.encoder import build_encoder
from sentprobe.lab.networks.kernels import CHUNK, output_loss
from sentprobe.lab.training.decoder import (
    ENDS,
    DecoderBatch,
    EncoderDecoder,
    LstmSteps,
    SentenceMemory,
    build_model,
    decode,
)
from sentprobe.lab.training.search import beam_search, greedy
from sentprobe.lab.training.targets import BEGIN, END

VOCABULARY, WORDS = 40, 20
SMALL = {"decoder": 12, "decoder_layers": 2, "decoder_dropout": 0.0, "target_width": 6, "attention": False}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices are small: several threads wait for each other
    yield
    torch.set_num_threads(threads)


def _model(attention: bool = False, seed: int = 1, **settings: float) -> EncoderDecoder:
    config = NetworkConfig("bilstm-max", {"hidden": 5, "layers": 1, "dropout": 0.0}, WORDS, 7, frozen=False)
    return build_model(build_encoder(config, None, 1), VOCABULARY, {**SMALL, "attention": attention, **settings}, seed)


def _decisive(attention: bool) -> EncoderDecoder:
    """A model with large weights, so that outputs differ between sentences and end at different times."""
    model = _model(attention, seed=10).eval()
    with torch.no_grad():
        for weight in model.decoder.lstm.parameters():
            weight *= 8
        model.decoder.output.weight *= 8
        model.decoder.output.bias[END] += 1
    return model


def _pad(rows: list[list[int]], width: int = 0) -> tuple[Tensor, Tensor]:
    time = max(width, *map(len, rows))
    return torch.tensor([row + [0] * (time - len(row)) for row in rows]), torch.tensor([len(row) for row in rows])


def _batch(count: int = 9, seed: int = 0) -> tuple[list[list[int]], list[list[int]]]:
    random = torch.Generator().manual_seed(seed)
    draw = lambda high, n: torch.randint(3, high, (n,), generator=random).tolist()  # noqa: E731
    return [draw(WORDS, 1 + i % 6) for i in range(count)], [[*draw(VOCABULARY, (5 * i) % 7), END] for i in range(count)]


@pytest.mark.parametrize("count", [1, CHUNK, 2 * CHUNK + 7])
def test_the_loss_and_its_gradients_are_those_of_cross_entropy(count: int) -> None:
    torch.manual_seed(0)
    output = nn.Linear(8, 30)
    features, targets = torch.randn(count, 8, requires_grad=True), torch.randint(30, (count,))

    def gradients(loss: Tensor) -> list[Tensor]:
        return list(torch.autograd.grad(loss * 0.7, [features, output.weight, output.bias]))

    loss = nn.functional.cross_entropy(output(features), targets, reduction="sum")
    found = output_loss(features, targets, output.weight, output.bias)
    assert found.item() == pytest.approx(loss.item(), rel=1e-5)
    for a, b in zip(gradients(found), gradients(loss), strict=True):
        torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    with torch.no_grad():
        assert output_loss(features, targets, output.weight, output.bias).item() == found.item()
    with torch.autocast("cpu", torch.bfloat16):
        assert output_loss(features, targets, output.weight, output.bias).item() == pytest.approx(loss.item(), rel=1e-2)


def test_the_gradient_of_the_whole_model_agrees_with_finite_differences() -> None:
    model = _model(attention=True).double()
    sources, targets = _batch(3)
    batch = DecoderBatch(*_pad(sources), *_pad(targets))
    model(batch).total.backward()
    for weight in (
        model.decoder.embedding.weight,
        model.decoder.attention.query.weight,
        model.encoder.inputs.learned.weight,
    ):
        assert weight.grad is not None
        place = int(weight.grad.abs().argmax())
        step = 1e-5
        with torch.no_grad():
            flat = weight.view(-1)
            flat[place] += step
            above = model(batch).total.item()
            flat[place] -= 2 * step
            below = model(batch).total.item()
            flat[place] += step
        assert weight.grad.view(-1)[place].item() == pytest.approx((above - below) / (2 * step), rel=1e-4)


@pytest.mark.parametrize("attention", [False, True])
def test_at_the_start_all_tokens_are_equally_probable(attention: bool) -> None:
    sources, targets = _batch(30)
    loss = _model(attention, decoder=64)(DecoderBatch(*_pad(sources), *_pad(targets)))
    assert loss.units == sum(map(len, targets))
    assert loss.words == sum(map(len, sources + targets))
    assert loss.total.item() / loss.units == pytest.approx(math.log(VOCABULARY), abs=0.1)


@pytest.mark.parametrize("attention", [False, True])
def test_padding_does_not_change_the_loss(attention: bool) -> None:
    model = _model(attention).eval()
    sources, targets = _batch()
    together = model(DecoderBatch(*_pad(sources, 15), *_pad(targets, 12))).total.item()
    alone = sum(model(DecoderBatch(*_pad([s]), *_pad([t]))).total.item() for s, t in zip(sources, targets, strict=True))
    assert together == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("attention", [False, True])
def test_steps_give_what_training_computes_at_once(attention: bool) -> None:
    model = _model(attention).eval()
    sources, targets = _batch()
    with torch.no_grad():
        for source, target in zip(sources, targets, strict=True):
            memory = model.read(*_pad([source]))
            total, state, before = 0.0, None, BEGIN
            for token in target:
                found, state = model.decoder.step(torch.tensor([before]), memory, state)
                total -= found[0, token].item()
                before = token
            assert total == pytest.approx(model(DecoderBatch(*_pad([source]), *_pad([target]))).total.item(), rel=1e-5)


def test_the_vector_is_fed_at_every_step() -> None:
    model = _model().eval()
    tokens = torch.tensor([[BEGIN, 5, 6, 7]])
    vectors = torch.randn(1, model.encoder.size)
    first, _ = model.decoder(tokens, SentenceMemory(vectors))
    _, state = model.decoder(tokens[:, :3], SentenceMemory(vectors))
    other, _ = model.decoder(tokens[:, 3:], SentenceMemory(vectors + 1), state)
    assert not torch.allclose(first[:, 3:], other)


def test_attention_is_a_distribution_over_the_words_of_the_source() -> None:
    model = _model(attention=True).eval()
    sources, _ = _batch()
    with torch.no_grad():
        memory = model.read(*_pad(sources, 12))
        weights = model.decoder.attention.weights(torch.randn(len(sources), 4, 12), memory)
    for row, source in zip(weights, sources, strict=True):
        torch.testing.assert_close(row.sum(1), torch.ones(4))
        assert (row[:, len(source) :] == 0).all()
        assert (row[:, : len(source)] > 0).all()


@pytest.mark.parametrize("attention", [False, True])
def test_greedy_decoding_is_the_most_probable_token_at_each_step(attention: bool) -> None:
    model = _decisive(attention)
    with torch.no_grad():
        sources, _ = _batch(20)
        found = decode(model, *_pad(sources), longest=9)
        for source, output in zip(sources, found, strict=True):
            memory, state, tokens, total = model.read(*_pad([source])), None, [BEGIN], 0.0
            while tokens[-1] != END and len(tokens) < 10:
                scores, state = model.decoder.step(torch.tensor(tokens[-1:]), memory, state)
                total += scores.max().item()
                tokens.append(int(scores.argmax()))
            assert output.tokens == tokens[1:]
            assert output.score == pytest.approx(total / len(tokens[1:]), abs=1e-5)
    assert len({len(output.tokens) for output in found}) > 3


@pytest.mark.parametrize("attention", [False, True])
def test_a_beam_is_never_worse_than_greedy(attention: bool) -> None:
    model = _decisive(attention)
    with torch.no_grad():
        batch = _pad(_batch(20)[0])
        memory, longest = model.read(*batch), torch.full((20,), 8)
        plain = list(greedy(LstmSteps(model.decoder, memory), longest, ENDS))
        one = list(beam_search(LstmSteps(model.decoder, memory), longest, ENDS, 1))
        assert [output.tokens for output in one] == [output.tokens for output in plain]
        better = 0
        for beam in (2, 5):
            for wide, narrow in zip(decode(model, *batch, 8, beam), plain, strict=True):
                assert wide.score >= narrow.score
                better += wide.score > narrow.score + 1e-4
        assert better


def test_the_score_of_a_beam_is_the_mean_log_probability_of_its_output() -> None:
    model = _decisive(attention=False)
    sources, _ = _batch(6)
    with torch.no_grad():
        reading, longest = LstmSteps(model.decoder, model.read(*_pad(sources))), torch.full((len(sources),), 8)
        for source, output in zip(sources, beam_search(reading, longest, ENDS, 3), strict=True):
            loss = model(DecoderBatch(*_pad([source]), *_pad([output.tokens])))
            assert output.score == pytest.approx(-loss.total.item() / loss.units, abs=1e-5)


def test_a_wide_beam_finds_the_best_output_of_all() -> None:
    """With two tokens at most and a beam as wide as the vocabulary, nothing is left out."""
    model = _decisive(attention=False)
    with torch.no_grad():
        memory = model.read(*_pad([[4, 5]]))
        [found] = beam_search(LstmSteps(model.decoder, memory), torch.tensor([2]), ENDS, VOCABULARY)
        first, state = model.decoder.step(torch.tensor([BEGIN]), memory, None)
        scores = {(END,): first[0, END].item()}
        for a in set(range(VOCABULARY)) - {END}:
            second, _ = model.decoder.step(torch.tensor([a]), memory, state)
            scores |= {(a, b): (first[0, a] + second[0, b]).item() / 2 for b in range(VOCABULARY)}
    assert len(scores) == 1 + 39 * 40
    best = max(scores, key=lambda tokens: scores[tokens])
    assert found.tokens == list(best)
    assert found.score == pytest.approx(scores[best], abs=1e-5)
