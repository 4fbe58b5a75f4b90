"""What the client's functions are given, and in which order; the order is SentEval's at commit 5d6dc11."""

from functools import partial

import numpy as np
import pytest

import sentprobe.senteval as senteval
from sentprobe.senteval.tools import ranking
from tests.senteval.sets import BINARY, PROBING, QUICK, STS, batcher

SIZE = 7
PARTS = ("train", "dev", "test")


class Recorder:
    """A client that remembers what it was given."""

    def __init__(self, data, **more):
        self.prepared, self.batches, self.objects, self.task = [], [], set(), []
        params = {"task_path": data, "batch_size": SIZE, "kfold": 2, "classifier": dict(QUICK), **more}
        self.se = senteval.engine.SE(params, self.batcher, self.prepare)

    def prepare(self, params, samples):
        self.objects.add(id(params))
        self.task.append(params.current_task)
        self.prepared.append(samples)
        return "ignored"

    def batcher(self, params, batch):
        self.objects.add(id(params))
        self.batches.append(batch)
        return batcher(params, batch)

    def run(self, task):
        result = self.se.eval(task)
        assert self.objects == {id(self.se.params)}
        assert self.task == [task]
        (samples,) = self.prepared
        return samples, self.batches, result


def words(texts):
    return [text.split() for text in texts]


def sliced(sentences):
    return [sentences[i : i + SIZE] for i in range(0, len(sentences), SIZE)]


def by_length(rows):
    """Rows of one or two texts and a label, by their lengths in words and then the label."""
    return sorted(rows, key=lambda row: (*(len(text.split()) for text in row[:-1]), row[-1]))


def column(rows, place):
    return words(row[place] for row in rows)


@pytest.mark.parametrize("task", BINARY)
def test_two_files_the_first_of_which_has_the_label_1(task, data, rows):
    first, second = rows[task].values()
    samples, batches, _ = Recorder(data).run(task)
    assert samples == words(first) + words(second)
    labelled = [(text, 1) for text in first] + [(text, 0) for text in second]
    assert batches == sliced(column(by_length(labelled), 0))


def test_trec_has_two_parts(data, rows):
    samples, batches, _ = Recorder(data).run("TREC")
    train, test = rows["TREC"]["train"], rows["TREC"]["test"]
    assert samples == column(train, 0) + column(test, 0)
    assert batches == sliced(column(by_length(train), 0)) + sliced(column(by_length(test), 0))


@pytest.mark.parametrize("task", ["SST2", "SST5", *PROBING, "of_our_own"])
def test_single_sentences_in_three_parts(task, data, rows):
    samples, batches, _ = Recorder(data).run(task)
    assert samples == [each for part in PARTS for each in column(rows[task][part], 0)]
    assert batches == [batch for part in PARTS for batch in sliced(column(by_length(rows[task][part]), 0))]


@pytest.mark.parametrize("task", ["MRPC", "SICKEntailment", "SICKRelatedness", "STSBenchmark"])
def test_pairs_are_encoded_one_side_after_the_other(task, data, rows):
    parts = list(rows[task].values())
    samples, batches, _ = Recorder(data).run(task)
    assert samples == [each for part in parts for side in (0, 1) for each in column(part, side)]
    expected = [batch for part in parts for side in (0, 1) for batch in sliced(column(by_length(part), side))]
    assert batches == expected


@pytest.mark.parametrize("task", ["SICKRelatedness", "STSBenchmark", "STSBenchmark-fix"])
def test_cosines_alone_are_taken_in_the_order_of_the_files(task, data, rows):
    parts = list(rows[task.removesuffix("-fix")].values())
    samples, batches, _ = Recorder(data, sts_mode="cosine").run(task)
    assert samples == [each for part in parts for side in (0, 1) for each in column(part, side)]
    turns = [zip(sliced(column(part, 0)), sliced(column(part, 1)), strict=True) for part in parts]
    assert batches == [batch for part in turns for both in part for batch in both]


@pytest.mark.parametrize("task", STS)
def test_sts_is_sorted_before_it_is_shown_and_encoded_in_turns(task, data, rows):
    parts = [by_length(part) for part in rows[task].values()]
    samples, batches, _ = Recorder(data).run(task)
    assert samples == [each for part in parts for side in (0, 1) for each in column(part, side)]
    turns = [zip(sliced(column(part, 0)), sliced(column(part, 1)), strict=True) for part in parts]
    assert batches == [batch for part in turns for both in part for batch in both]


def test_snli_is_sorted_by_the_hypothesis_and_encoded_in_turns(data, rows):
    samples, batches, _ = Recorder(data).run("SNLI")
    parts = []
    for part in PARTS:
        turned = by_length([(two, one, label) for one, two, label in rows["SNLI"][part]])
        parts.append([(one, two) for two, one, _ in turned])
    assert samples == [each for part in parts for side in (0, 1) for each in column(part, side)]
    turns = [zip(sliced(column(part, 0)), sliced(column(part, 1)), strict=True) for part in parts]
    assert batches == [batch for part in turns for both in part for batch in both]


def test_captions_are_bytes_in_the_order_of_their_words(data, rows, monkeypatch):
    monkeypatch.setattr(ranking, "rank", partial(ranking.rank, passes=2))  # all 21 take seconds
    samples, batches, result = Recorder(data).run("ImageCaptionRetrieval")
    parts = [[text.encode().split() for text in part] for part in rows["ImageCaptionRetrieval"].values()]
    assert samples == [sentence for part in parts for sentence in part]
    assert all(isinstance(batch, np.ndarray) and batch.dtype == object for batch in batches)
    assert [list(batch) for batch in batches] == [batch for part in parts for batch in sliced(sorted(part))]
    assert set(result) == {"devacc", "acc", "ndev", "ntest"}
    assert (result["ndev"], result["ntest"]) == (20, 20)
    assert 0 <= result["devacc"] <= 600
    assert [len(side) for side in result["acc"]] == [4, 4]
