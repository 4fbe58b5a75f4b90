"""Pooling, reversal and attention over padded sentences, against loops over the sentences."""

import math

import pytest

torch = pytest.importorskip("torch")

from sentprobe.lab.networks.sequences import (  # noqa: E402
    last_state,
    max_over_time,
    mean_over_time,
    padding_mask,
    reverse,
    selected_shares,
    softmax_over_time,
    zero_padding,
)
from tests.lab.networks.tiny import batch  # noqa: E402

LENGTHS = [4, 1, 6, 2]


@pytest.fixture(params=[0.0, 1e3, -1e3])
def padded(request):
    return batch(LENGTHS, 8, filling=request.param)


def sentences(inputs):
    """Each sentence as a list of words, each a list of numbers."""
    return [sentence[:length].tolist() for sentence, length in zip(inputs, LENGTHS, strict=True)]


def test_the_maximum_and_mean_are_those_of_a_loop(padded):
    for pooled, maximum, mean in zip(
        sentences(padded[0]), max_over_time(*padded).tolist(), mean_over_time(*padded).tolist(), strict=True
    ):
        columns = list(zip(*pooled, strict=True))
        assert maximum == [max(column) for column in columns]
        assert mean == pytest.approx([math.fsum(column) / len(column) for column in columns], abs=1e-6)


def test_the_order_of_lengths_does_not_matter_for_the_mean():
    # InferSent's code divides sums in the order of the batch by lengths that are sorted
    inputs, lengths = batch(LENGTHS, 8)
    order = torch.tensor([2, 0, 3, 1])
    assert torch.equal(mean_over_time(inputs[order], lengths[order]), mean_over_time(inputs, lengths)[order])


def test_zeros_of_padding_are_no_maximum():
    # in InferSent's code they were, so that a vector depended on the longest sentence of its batch
    inputs, lengths = batch([2, 5])
    assert (max_over_time(-inputs.abs() - 1, lengths) <= -1).all()


def test_the_last_state_and_the_reversal_are_those_of_a_loop(padded):
    inputs, lengths = padded
    assert last_state(inputs, lengths).tolist() == [words[-1] for words in sentences(inputs)]
    turned = reverse(inputs, lengths)
    assert sentences(turned) == [words[::-1] for words in sentences(inputs)]
    assert torch.equal(reverse(turned, lengths), inputs)
    mask = padding_mask(lengths, 8)
    assert torch.equal(turned[mask], inputs[mask])


def test_masks_are_true_after_the_end(padded):
    inputs, lengths = padded
    assert padding_mask(lengths, 8).tolist() == [[at >= length for at in range(8)] for length in LENGTHS]
    zeroed = zero_padding(inputs, lengths)
    assert sentences(zeroed) == sentences(inputs)
    assert not zeroed[padding_mask(lengths, 8)].any()


def test_attention_weights_are_those_of_a_loop(padded):
    weights = softmax_over_time(*padded)
    for words, found, length in zip(sentences(padded[0]), weights, LENGTHS, strict=True):
        for head, column in enumerate(zip(*words, strict=True)):
            total = math.fsum(math.exp(score) for score in column)
            assert found[:length, head].tolist() == pytest.approx([math.exp(s) / total for s in column], abs=1e-6)
        assert not found[length:].any()


def test_shares_of_selected_dimensions_are_those_of_a_loop(padded):
    shares = selected_shares(*padded)
    for words, found in zip(sentences(padded[0]), shares.tolist(), strict=True):
        wins = [column.index(max(column)) for column in map(list, zip(*words, strict=True))]
        assert found == pytest.approx([wins.count(at) / len(wins) for at in range(8)])
    assert shares.sum(1).tolist() == pytest.approx([1] * 4)
