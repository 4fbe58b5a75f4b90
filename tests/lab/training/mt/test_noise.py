"""Noise against its rules: words move three places at most, a tenth is dropped, a tenth is blanked."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from sentprobe.errors import UsageError
from sentprobe.lab.training.lm.tokens import MASK, WordMarks
from sentprobe.lab.training.mt.corpora import Noise, add_noise
from sentprobe.lab.training.mt.model import denoising_weight
from sentprobe.lab.training.mt.preparation import denoising_schedule

TOKENS = 3000
STARTS = WordMarks(np.arange(TOKENS) % 2 == 1)
"""Tokens with odd numbers end words here."""


def _sentences(count=200, words=20):
    """Words of two tokens each, all different within a sentence: 100 101, 102 103, …"""
    return [np.arange(100, 100 + 2 * words, dtype=np.int32) for _ in range(count)]


def _within(count, n, share):
    """Whether a count is within five standard deviations of a binomial one."""
    return abs(count - n * share) <= 5 * math.sqrt(n * share * (1 - share)) + 1


@pytest.mark.parametrize("moves", [0, 1, 3])
def test_words_move_a_few_places_at_most_and_stay_whole(moves):
    torch.manual_seed(0)
    seen = set()
    for sentence in _sentences():
        found = add_noise(sentence, STARTS, Noise(moves, 0.0, 0.0))
        assert sorted(found) == sentence.tolist()
        words = found.reshape(-1, 2)
        assert (words[:, 1] - words[:, 0] == 1).all()
        seen |= set(((words[:, 0] - 100) // 2 - np.arange(len(words))).tolist())
    assert seen == set(range(-moves, moves + 1))


def test_shares_of_words_are_dropped_and_blanked():
    torch.manual_seed(1)
    every = [add_noise(sentence, STARTS, Noise(0, 0.1, 0.0)) for sentence in _sentences()]
    left = sum(map(len, every))
    assert left % 2 == 0
    assert _within(4000 - left // 2, 4000, 0.1)
    assert all((b > a for a, b in pairwise(one)) for one in every)
    blanked = np.concatenate([add_noise(sentence, STARTS, Noise(0, 0.0, 0.1)) for sentence in _sentences()])
    assert len(blanked) == 8000
    masks = (blanked == MASK).reshape(-1, 2)
    assert (masks[:, 0] == masks[:, 1]).all()
    assert _within(masks[:, 0].sum(), 4000, 0.1)


def test_all_noise_together_and_the_same_seed():
    found = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        found.append(np.concatenate([add_noise(sentence, STARTS, Noise()) for sentence in _sentences()]))
    assert found[0].tolist() == found[1].tolist() != found[2].tolist()
    words = 4000 * 0.9
    assert abs((found[0] == MASK).sum() / 2 - words * 0.1) <= 5 * math.sqrt(4000 * 0.09 * 0.91)


def test_one_word_is_always_left():
    torch.manual_seed(2)
    for sentence in _sentences(50, 3):
        found = add_noise(sentence, STARTS, Noise(3, 1.0, 0.0))
        assert len(found) == 2
        assert set(found) <= set(sentence)
    assert add_noise(np.zeros(0, np.int32), STARTS, Noise()).tolist() == []
    # a text may begin within a word, as the vocabulary has it
    assert sorted(add_noise(np.array([101, 103, 104], np.int32), STARTS, Noise(3, 0.0, 0.0))) == [101, 103, 104]


def test_the_weight_of_denoising_falls_along_its_schedule():
    schedule = denoising_schedule("0:1,100:0.1,300:0")
    found = [denoising_weight(schedule, step) for step in (0, 50, 100, 200, 300, 1000)]
    assert found == pytest.approx([1, 0.55, 0.1, 0.05, 0, 0])
    assert denoising_weight(denoising_schedule("0:0.5"), 7) == 0.5
    for bad in ("1", "0:1,0:2", "5:1,3:0", "0:-1", "a:b", "0:nan"):
        with pytest.raises(UsageError, match="expected rising steps and their weights"):
            denoising_schedule(bad)
