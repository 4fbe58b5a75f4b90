"""Attention and dropout against torch's, with the same random numbers."""

import math

import pytest

torch = pytest.importorskip("torch")

from sentprobe.lab.networks import kernels  # noqa: E402
from sentprobe.lab.networks.kernels import attend, drop  # noqa: E402

RATE = 77 / 256


def _parts(queries=5, keys=5):
    torch.manual_seed(0)
    shapes = ((3, 2, queries, 4), (3, 2, keys, 4), (3, 2, keys, 4))
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


def _plain(query, key, value, mask, drawn):
    """Attention as it is written in papers."""
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[3])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return (scores.softmax(3) * (drawn >= 77).float() / (1 - RATE)) @ value


MASK = torch.ones(3, 1, 1, 5, dtype=torch.bool)
MASK[1, ..., 3:] = False
CAUSAL = torch.ones(5, 5, dtype=torch.bool).tril()


@pytest.mark.parametrize(
    ("mask", "causal", "whole"),
    [(None, False, None), (MASK, False, MASK), (None, True, CAUSAL), (MASK, True, MASK & CAUSAL)],
)
def test_values_and_gradients_are_those_of_plain_attention(mask, causal, whole):
    parts = _parts()
    torch.manual_seed(1)
    found = attend(*parts, mask, causal, RATE)
    torch.manual_seed(1)
    expected = _plain(*parts, whole, kernels._random_bytes(torch.Size((3, 2, 5, 5))))
    torch.testing.assert_close(found, expected)
    other = torch.randn_like(found)
    pairs = zip(torch.autograd.grad(found, parts, other), torch.autograd.grad(expected, parts, other), strict=True)
    for one, two in pairs:
        torch.testing.assert_close(one, two)


def test_a_decoder_may_have_fewer_queries_than_keys():
    parts = _parts(2, 5)
    torch.manual_seed(1)
    found = attend(*parts, MASK, False, RATE)
    torch.manual_seed(1)
    torch.testing.assert_close(found, _plain(*parts, MASK, kernels._random_bytes(torch.Size((3, 2, 2, 5)))))


@pytest.mark.parametrize("mask", [None, MASK])
def test_without_dropout_it_is_torchs_own(mask):
    parts = _parts()
    whole = CAUSAL if mask is None else mask & CAUSAL
    torch.testing.assert_close(
        attend(*parts, mask, True, 0.0), _plain(*parts, whole, torch.full((1,), 255)) * (1 - RATE)
    )


def test_dropout_drops_the_share_and_keeps_the_mean():
    torch.manual_seed(0)
    states = torch.ones(1000, 100, requires_grad=True)
    found = drop(states, 0.1)
    dropped = float((found == 0).float().mean())
    # 26/256, within five standard deviations of a binomial count of 100,000
    assert dropped == pytest.approx(26 / 256, abs=5 * math.sqrt(0.1 * 0.9 / 1e5))
    assert float(found.detach().max()) == pytest.approx(256 / 230)
    found.sum().backward()
    torch.testing.assert_close(states.grad, found.detach())
    assert drop(states, 0.0) is states


def test_every_byte_is_as_likely_as_another():
    torch.manual_seed(0)
    counts = torch.bincount(kernels._random_bytes(torch.Size((1000, 256))).flatten().int(), minlength=256).double()
    # chi-square with 255 degrees of freedom: mean 255, standard deviation 22.6
    assert 150 < float(((counts - 1000) ** 2 / 1000).sum()) < 370


def test_other_precisions_are_left_to_torch():
    parts = [part.detach().double() for part in _parts()]
    assert attend(*parts, None, False, 0.5).dtype == torch.float64
    assert drop(parts[0], 0.5).dtype == torch.float64
