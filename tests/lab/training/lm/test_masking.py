"""What is masked, against the rules of XLM: exact numbers and places, shares within binomial bounds."""

import math

import numpy as np
import pytest
import torch

from sentprobe.lab.training.lm.batches import choice_weights, mask_tokens
from sentprobe.lab.training.lm.tokens import END, MASK, PAD, SPECIAL

TOKENS = 500


def _batch(sentences=40, time=50, seed=0):
    ids = torch.randint(len(SPECIAL), TOKENS, (sentences, time), generator=torch.Generator().manual_seed(seed))
    ids[:, 10] = END
    return ids


def _within(count, n, share):
    """Whether a count is within five standard deviations of a binomial one."""
    return abs(count - n * share) <= 5 * math.sqrt(n * share * (1 - share)) + 1


def test_the_number_is_fixed_and_first_tokens_padding_and_special_tokens_are_never_chosen():
    ids = _batch()
    lengths = torch.randint(20, 51, (40,), generator=torch.Generator().manual_seed(1))
    ids[torch.arange(50) >= lengths[:, None]] = PAD
    weights = choice_weights(np.full(TOKENS, 7), 0.5)
    for seed in range(20):
        torch.manual_seed(seed)
        found = mask_tokens(ids, lengths, weights, 0.15)
        rows, times = found.token_indices // 50, found.token_indices % 50
        assert len(found.token_indices) == math.ceil(0.15 * int(lengths.sum())) == len(found.token_indices.unique())
        assert (times > 0).all()
        assert (times < lengths[rows]).all()
        assert (found.targets >= len(SPECIAL)).all()
        assert torch.equal(found.targets, ids.flatten()[found.token_indices])
        unchanged = torch.ones(ids.numel(), dtype=torch.bool)
        unchanged[found.token_indices] = False
        assert torch.equal(found.ids.flatten()[unchanged], ids.flatten()[unchanged])


def test_eighty_ten_ten():
    ids = _batch(200)
    torch.manual_seed(0)
    found = mask_tokens(ids, None, choice_weights(np.full(TOKENS, 7), 0.5), 0.15)
    shown, n = found.ids.flatten()[found.token_indices], len(found.token_indices)
    assert _within(int((shown == MASK).sum()), n, 0.8)
    same = 1 / (TOKENS - len(SPECIAL))  # a random token may be the token itself
    assert _within(int((shown == found.targets).sum()), n, 0.1 + 0.1 * same)
    others = (shown != MASK) & (shown != found.targets)
    assert _within(int(others.sum()), n, 0.1 * (1 - same))
    assert int(shown[others].min()) >= len(SPECIAL)


def test_rare_tokens_are_chosen_more_often_by_the_root_of_their_frequency():
    counts = np.full(TOKENS, 100)
    counts[len(SPECIAL) : 250] = 1600
    weights = choice_weights(counts, 0.5)
    assert weights[: len(SPECIAL)].eq(0).all()
    assert float(weights[400] / weights[100]) == pytest.approx(4.0)
    ids = torch.full((100, 101), 100)
    ids[:, 1::2] = 400  # half of what may be chosen is rare
    rare = total = 0
    for seed in range(20):
        torch.manual_seed(seed)
        found = mask_tokens(ids, None, weights, 0.01)
        rare, total = rare + int((found.targets == 400).sum()), total + len(found.targets)
    assert _within(rare, total, 4 / 5)


def test_all_alike_with_exponent_0_and_few_tokens_are_enough():
    assert choice_weights(np.arange(TOKENS), 0.0)[len(SPECIAL) :].eq(1).all()
    weights = choice_weights(np.full(TOKENS, 1), 0.5)
    only = mask_tokens(torch.tensor([[END, 9, END]]), None, weights, 0.9)
    assert only.token_indices.tolist() == [1]
    none = mask_tokens(torch.tensor([[END, END]]), None, weights, 0.9)
    assert not len(none.token_indices)


def test_all_that_is_chosen_may_become_masks():
    ids = _batch()
    found = mask_tokens(ids, None, choice_weights(np.full(TOKENS, 7), 0.0), 0.15, always=True)
    assert (found.ids.flatten()[found.token_indices] == MASK).all()
    assert int((found.ids != ids).sum()) == len(found.token_indices) == math.ceil(0.15 * ids.numel())
    assert torch.equal(found.targets, ids.flatten()[found.token_indices])
