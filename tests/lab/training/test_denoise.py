"""The denoising auto-encoder: its noise by hand, and what the model reads of it."""

import numpy as np
import pytest
import torch

from sentprobe.lab.networks.vocabulary import BEGIN, END
from sentprobe.lab.training.objectives.denoise import add_noise
from tests.lab.training.prepared import different, learn_by_heart, prepare, request, write

TINY = {"hidden": 8, "decoder": 16, "target_width": 8, "codes": 20, "decoded": 10}


@pytest.mark.parametrize(
    ("words", "drop_draws", "swap_draws", "expected"),
    [
        # by hand, with 0.1 for either noise: 3 is left out; of the pairs 1 2 and 4 5, the second is exchanged
        ([1, 2, 3, 4, 5], [0.5, 0.1, 0.09, 0.9, 0.3], [0.2, 0.05], [1, 2, 5, 4]),
        # pairs do not overlap: 1 moves by one position only, and the last word has no neighbour
        ([1, 2, 3], [0.5, 0.5, 0.5], [0.0], [2, 1, 3]),
        ([1, 2, 3, 4], [0.5] * 4, [0.0, 0.0], [2, 1, 4, 3]),
        # one word is left, that with the highest draw
        ([7, 8], [0.01, 0.02], [0.5], [8]),
        ([], [], [], []),
    ],
)
def test_the_noise_by_hand(words, drop_draws, swap_draws, expected):
    arrays = np.array(words, np.int32), np.array(drop_draws), np.array(swap_draws)
    assert add_noise(*arrays, drop=0.1, swap=0.1).tolist() == expected
    assert arrays[0].tolist() == words  # the sentence itself does not change


def _prepared(folder, settings, count=40):
    file = write(folder / "text.txt", [(text,) for text in different(count)])
    return prepare(folder, request("denoise", "bilstm-max", file, dev=(file,), settings={**TINY, **settings}))


def test_the_shares_are_those_of_the_settings(tmp_path):
    prepared = _prepared(tmp_path, {"drop_words": 0.25, "swap_words": 0.0}, 200)
    clean = prepared.streams[0].lengths[1] - 2  # without the marks of both ends
    torch.manual_seed(0)
    noisy = prepared.streams[0].collate(np.arange(len(clean))).source_lengths.numpy() - 2
    share = 1 - noisy.sum() / clean.sum()
    assert share == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / clean.sum()))


def test_targets_and_the_ends_of_sentences_stay(tmp_path):
    prepared = _prepared(tmp_path, {"drop_words": 0.5, "swap_words": 1.0})
    index = prepared.inputs.vocabulary.index
    stream = prepared.streams[0]
    torch.manual_seed(0)
    first, second = (stream.collate(np.arange(10)) for _ in range(2))
    assert torch.equal(first.target, second.target)
    assert not torch.equal(first.source_lengths, second.source_lengths)  # noise is new each time
    assert (first.source[:, 0] == index[BEGIN]).all()
    assert (first.source[torch.arange(10), first.source_lengths - 1] == index[END]).all()
    torch.manual_seed(0)
    again = stream.collate(np.arange(10))
    assert torch.equal(again.source, first.source)  # and a function of the seed of the step


def test_without_noise_it_is_the_auto_encoder(tmp_path):
    (tmp_path / "copy").mkdir()
    prepared = _prepared(tmp_path, {"drop_words": 0.0, "swap_words": 0.0})
    copy = prepare(tmp_path / "copy", request("autoencode", "bilstm-max", str(tmp_path / "text.txt"),
                   dev=(str(tmp_path / "text.txt"),), settings=TINY))  # fmt: skip
    batches = (part.streams[0].collate(np.arange(20)) for part in (prepared, copy))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(*batches, strict=True))
    with torch.no_grad():
        assert prepared.evaluate() == copy.evaluate()


def test_it_learns_and_is_scored_on_sentences_without_noise(tmp_path):
    prepared = _prepared(tmp_path, {}, 20)
    with torch.no_grad():
        before = prepared.evaluate()["perplexity"]
    assert learn_by_heart(prepared, 60)["perplexity"] < before / 4
