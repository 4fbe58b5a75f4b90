"""Batches: every example once in an epoch, sentences of similar length together, several streams by their weights."""

from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest

from sentprobe.lab.training.examples import WINDOW, Step, Stream, epoch_steps


def stream(n, name="train", weight=1.0, keys=1):
    lengths = np.random.default_rng(n).integers(1, 40, (keys, n))
    return Stream(name, lengths if keys > 1 else lengths[0], lambda rows: rows, weight)


def rows(steps):
    return [tuple(step.rows.tolist()) for step in steps]


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_every_example_is_in_one_batch_of_an_epoch(n):
    one = stream(n, keys=2)
    found = rows(epoch_steps([one], 8, 5, 3))
    assert sorted(chain.from_iterable(found)) == list(range(n))
    assert max(map(len, found)) == min(8, n)
    assert found == rows(epoch_steps([one], 8, 5, 3)), "a function of seed and epoch"
    if n == 1000:
        assert found != rows(epoch_steps([one], 8, 5, 4))
        assert found != rows(epoch_steps([one], 8, 6, 3))


def test_batches_have_similar_lengths_and_are_not_in_their_order():
    one = stream(8 * WINDOW)
    lengths = [one.lengths[list(batch)] for batch in rows(epoch_steps([one], 8, 1, 1))]
    assert max(np.ptp(some) for some in lengths) <= 3
    firsts = [int(some[0]) for some in lengths]
    assert firsts != sorted(firsts)


def test_processes_share_a_batch():
    step = Step(stream(11), np.arange(11) * 3)
    parts = [step.share(rank, 3) for rank in range(3)]
    assert sorted(np.concatenate(parts).tolist()) == step.rows.tolist()
    assert [len(part) for part in parts] == [4, 4, 3]


@pytest.mark.parametrize("weight", [0.3, 0.5, 1.0, 2.5])
def test_weights_say_how_often_a_stream_is_passed(weight):
    both = [stream(60, "a"), stream(45, "b", weight)]
    passes: Counter[int] = Counter()
    for epoch in range(1, 11):
        steps = epoch_steps(both, 10, 1, epoch)
        by_stream = {name: [step for step in steps if step.stream.name == name] for name in "ab"}
        assert sorted(chain.from_iterable(rows(by_stream["a"]))) == list(range(60))
        assert abs(len(by_stream["b"]) - 5 * weight) <= 1
        passes.update(chain.from_iterable(rows(by_stream["b"])))
    # after ten epochs, all examples were used equally often
    assert passes == dict.fromkeys(range(45), 10 * weight)


def test_batches_by_tokens_are_full_and_as_many_in_every_epoch():
    lengths = np.random.default_rng(0).integers(1, 40, 500)
    stream = Stream("text", lengths, lambda rows: rows, tokens=100)
    epochs = [stream.batches(16, 1, epoch) for epoch in (1, 2)]
    assert len(epochs[0]) == len(epochs[1]) == stream.count(16)
    for batches in epochs:
        assert sorted(np.concatenate(batches).tolist()) == list(range(500))
        assert all(len(rows) <= 16 and len(rows) * lengths[rows].max() <= 100 for rows in batches)
    assert not all(np.array_equal(one, two) for one, two in zip(*epochs, strict=True))
    # no batch could take the shortest example of the next one as well
    ordered = sorted(epochs[0], key=lambda rows: (lengths[rows].min(), lengths[rows].max(), -len(rows)))
    for one, two in pairwise(ordered):
        assert len(one) == 16 or (len(one) + 1) * lengths[two].min() > 100
    long = Stream("long", np.array([500, 3]), lambda rows: rows, tokens=100)
    assert sorted(map(len, long.batches(16, 1, 1))) == [1, 1]
