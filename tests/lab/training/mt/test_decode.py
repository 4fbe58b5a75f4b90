"""Decoding with kept keys and values, greedily and with a beam."""

import pytest
import torch
from torch.nn import functional

from sentprobe.lab.networks.xlm import Sizes
from sentprobe.lab.training.lm.tokens import END, PAD
from sentprobe.lab.training.mt.model import (
    ENDS,
    NEVER,
    TransformerSteps,
    TranslationBatch,
    TranslationModel,
    pad,
    translate,
)
from sentprobe.lab.training.search import beam_search, greedy

SIZES = Sizes(tokens=30, languages=2, hidden=16, layers=2, heads=2, positions=24, dropout=0.1, pad=PAD)
SOURCES = [[7, 8, 9], [10, 11, 12, 13, 14, 15, 16], [20], [21, 22, 7, 7], [9, 8]]


@pytest.fixture(scope="module")
def model():
    """Weights that are large, so that outputs differ and end at different places."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(13)
        found = TranslationModel(SIZES).eval()
        with torch.no_grad():
            for part in (found.transformer, found.decoder):
                for weight in part.parameters():
                    weight.mul_(2)
            found.bias[END] = 3
    return found


@pytest.fixture(autouse=True)
def without_gradient():
    with torch.no_grad():
        yield


def _without_cache(model, source, longest):
    """Read all tokens again at every step."""
    memory = model.read(*pad([source]), 0)
    tokens, total = [END], 0.0
    while len(tokens) <= longest and (len(tokens) == 1 or tokens[-1] != END):
        states = model.decoder(torch.tensor([tokens]), torch.tensor([[1]]), causal=True, memory=memory)
        scores = functional.linear(states[0, -1], model.decoder.embeddings.weight, model.bias)
        scores[NEVER] = -torch.inf
        best, token = torch.log_softmax(scores, 0).max(0)
        tokens.append(int(token))
        total += float(best)
    return tokens[1:], total / len(tokens[1:])


def test_with_a_cache_and_in_batches_outputs_are_the_same_as_one_by_one(model):
    found = translate(model, *pad(SOURCES), 0, 1)
    for source, output in zip(SOURCES, found, strict=True):
        longest = min(int((len(source) + 2) * 1.5 + 10), SIZES.positions - 2)
        tokens, score = _without_cache(model, source, longest)
        assert output.tokens == tokens
        assert output.score == pytest.approx(score, abs=1e-4)
    assert len({len(output.tokens) for output in found}) > 2
    assert not {token for output in found for token in output.tokens} & set(NEVER)


def test_a_beam_of_one_is_greedy_and_a_wider_one_is_never_worse(model):
    ids, lengths = pad(SOURCES)
    memory, longest = model.read(ids, lengths, 0), torch.tensor([9, 9, 4, 9, 9])
    plain = list(greedy(TransformerSteps(model, memory, 1), longest, ENDS))
    one = list(beam_search(TransformerSteps(model, memory, 1), longest, ENDS, 1))
    assert [output.tokens for output in one] == [output.tokens for output in plain]
    assert all(len(output.tokens) <= most for output, most in zip(plain, longest.tolist(), strict=True))
    better = 0
    for narrow, wide in zip(translate(model, ids, lengths, 0, 1), translate(model, ids, lengths, 0, 1, 4), strict=True):
        assert wide.score >= narrow.score
        better += wide.score > narrow.score + 1e-4
    assert better


def test_the_score_of_an_output_is_its_mean_log_probability(model):
    for source, output in zip(SOURCES, translate(model, *pad(SOURCES), 0, 1, 3), strict=True):
        if output.tokens[-1] != END:
            continue
        loss = model(TranslationBatch("pairs", *pad([source]), *pad([output.tokens[:-1]]), 1, 0))
        # special tokens have probabilities, too, when a loss is computed
        assert output.score >= -loss.total.item() / loss.units - 1e-5
        assert loss.units == len(output.tokens)


def test_the_language_changes_the_output(model):
    assert translate(model, *pad(SOURCES), 0, 1) != translate(model, *pad(SOURCES), 0, 0)
    assert translate(model, *pad(SOURCES), 0, 1) != translate(model, *pad(SOURCES), 1, 1)


def test_a_step_of_back_translation_learns_from_what_the_model_writes(model):
    """Without gradient, and without dropout, whatever the mode of the model."""
    target, lengths = pad(SOURCES)
    model.train()
    try:
        before = int(model.steps)
        torch.manual_seed(0)
        back = model(TranslationBatch("back", None, None, target, lengths, 1, 0))
        assert model.training
        assert int(model.steps) == before + 1
    finally:
        model.eval()
    made = [row.tokens[:-1] if row.tokens[-1] == END else row.tokens for row in translate(model, target, lengths, 1, 0)]
    model.train()
    try:
        torch.manual_seed(0)
        same = model(TranslationBatch("pairs", *pad(made), target, lengths, 1, 0))
    finally:
        model.eval()
    assert back.total.item() == same.total.item()
    assert back[1:] == same[1:]


def test_when_denoising_has_ended_its_steps_are_whole_steps_of_back_translation(model):
    target, lengths = pad(SOURCES)
    noisy = TranslationBatch("denoise", *pad([row[::-1] for row in SOURCES]), target, lengths, 1, 0)
    full = model(noisy)
    back = model(TranslationBatch("back", None, None, target, lengths, 1, 0))
    model.schedule = ((0, 1.0), (4, 0.0))
    found = []
    for step in (0, 1, 4, 9):
        model.steps.fill_(step)
        found.append(model(noisy).total.item())
    expected = [full.total.item(), 0.75 * full.total.item(), back.total.item(), back.total.item()]
    assert found == pytest.approx(expected, rel=1e-5)
    assert full.total.item() != pytest.approx(back.total.item(), rel=1e-3)
    model.schedule = ((0, 1.0),)
    model.steps.zero_()
