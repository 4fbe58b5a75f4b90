"""Windows of texts and pairs of sentences: exact tokens, positions and languages."""

import numpy as np
import torch

from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.batches import MaskedTokens, TranslationPairs, Windows
from sentprobe.lab.training.lm.tokens import END, PAD

TEXT = np.array([END, 10, 11, 12, END, 13, 14, END, 15, 16, 17, END], np.int32)


def _nothing(ids, lengths):
    return MaskedTokens(ids, torch.tensor([1]), ids.flatten()[[1]])


def test_windows_are_cut_without_regard_to_sentences():
    windows = Windows(TEXT, 1, 4)
    assert windows.lengths.tolist() == [4, 4, 4]
    batch = windows.masked(np.array([0, 1, 2]), _nothing)
    assert batch.ids.tolist() == [[END, 10, 11, 12], [END, 13, 14, END], [END, 15, 16, 17]]
    assert batch.languages.tolist() == [[1], [1], [1]]
    assert batch.positions is None
    assert batch.lengths is None


def test_the_last_window_begins_within_the_one_before():
    windows = Windows(TEXT[:-2], 0, 4)
    assert windows.lengths.tolist() == [4, 4, 4]
    batch = windows.masked(np.array([1, 2]), _nothing)
    assert batch.ids.tolist() == [[END, 13, 14, END], [13, 14, END, 15]]


def test_a_causal_model_predicts_every_token_but_the_first_once():
    windows = Windows(TEXT, 0, 4)
    targets = []
    for starts, length in windows.all(2):
        batch = windows.causal_at(starts, length)
        assert batch.causal
        assert batch.ids.shape == (len(starts), length)
        targets += batch.targets.tolist()
    assert targets == TEXT[1:].tolist()
    batch = windows.causal(np.array([1]))
    assert (batch.ids.tolist(), batch.targets.tolist()) == ([[END, 13, 14, END]], [13, 14, END, 15])


def test_a_short_text_is_one_window():
    windows = Windows(TEXT[:4], 0, 100)
    assert windows.lengths.tolist() == [3]
    assert windows.masked(np.array([0]), _nothing).ids.tolist() == [[END, 10, 11]]
    assert [(starts.tolist(), length) for starts, length in windows.all(8)] == [([0], 3)]


def _sequences(rows):
    return Sequences(np.concatenate([np.array(row, np.int32) for row in rows]), np.cumsum([len(row) for row in rows]))


def test_pairs_restart_positions_and_have_both_languages():
    pairs = TranslationPairs(_sequences([[20, 21], [22]]), _sequences([[30], [31, 32, 33]]), (2, 5))
    assert pairs.lengths.tolist() == [7, 8]
    batch = pairs.masked(np.array([0, 1]), _nothing)
    assert batch.ids.tolist() == [
        [END, 20, 21, END, END, 30, END, PAD],
        [END, 22, END, END, 31, 32, 33, END],
    ]
    assert batch.positions.tolist() == [[0, 1, 2, 3, 0, 1, 2, 0], [0, 1, 2, 0, 1, 2, 3, 4]]
    assert batch.languages.tolist() == [[2, 2, 2, 2, 5, 5, 5, 2], [2, 2, 2, 5, 5, 5, 5, 5]]
    assert batch.lengths.tolist() == [7, 8]
    assert pairs.masked(np.array([1]), _nothing).lengths is None
