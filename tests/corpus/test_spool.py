"""Generated sentences in files."""

import errno
from collections import Counter

import pytest

from sentprobe.corpus import Corpus, Tree, corpus, spool
from sentprobe.make import make_sets
from sentprobe.make.request import select_tasks


@pytest.fixture
def made(monkeypatch):
    """How often each sentence was generated, by index."""
    times = Counter()
    real = spool.sentence

    def counted(index, seed):
        times[index] += 1
        return real(index, seed)

    monkeypatch.setattr(spool, "sentence", counted)
    return times


def leaves(tree: Tree) -> list[Tree]:
    return [leaf for node in tree.nodes for leaf in leaves(node)] if tree.nodes else [tree]


def test_sentences_are_generated_once_and_read_back_equal(tmp_path, made):
    plain = list(Corpus.synthetic(600, seed=3))
    made.clear()
    for _ in range(2):
        for shard, of in ((0, 1), (0, 2), (1, 2)):
            found = list(spool.generated(600, 3, shard, of, str(tmp_path)))
            assert found == list(Corpus.of(plain).sentences(shard, of))
    assert set(made.values()) == {2}  # once for one shard, once for two


def test_words_that_occur_twice_share_their_leaf_as_in_the_generated_sentence(tmp_path):
    def shared(sentence):
        found = [id(leaf) for leaf in leaves(sentence.tree)]
        return [found.index(leaf) for leaf in found]

    first, second = ([*spool.generated(600, 0, 0, 1, str(tmp_path))] for _ in range(2))
    assert [*map(shared, first)] == [*map(shared, second)]


def test_where_nothing_can_be_written_sentences_are_generated_again(tmp_path, made, monkeypatch):
    plain = list(Corpus.synthetic(600))
    missing = str(tmp_path / "missing")
    assert list(spool.generated(600, 0, 0, 1, missing)) == plain
    real = spool._packed
    blocks = []

    def full(block):
        blocks.append(block)
        if len(blocks) > 1:
            raise OSError(errno.ENOSPC, "no space left")
        return real(block)

    monkeypatch.setattr(spool, "_packed", full)
    assert list(spool.generated(600, 0, 0, 1, str(tmp_path))) == plain
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_not_finished_is_removed(tmp_path):
    reading = spool.generated(600, 0, 0, 1, str(tmp_path))
    next(reading)
    reading.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("small", [100, 1000])
def test_a_set_is_made_from_sentences_that_are_generated_once(made, monkeypatch, small):
    requests = select_tasks(tasks=["past_present", "sentence_length"], sizes="60/20/20")
    expected = [found.digest for found in make_sets(Corpus.of(Corpus.synthetic(700), "builtin", "en"), requests)]
    made.clear()
    monkeypatch.setattr(corpus, "SMALL_SENTENCES", small)  # below and above the limit for a corpus in memory
    found = [one.digest for one in make_sets(Corpus.synthetic(700), requests)]
    assert set(made.values()) == {1}
    assert len(made) == 700
    # the digest of a set says whether it is synthetic
    assert len(found) == len(expected) == 2
    assert found == [one.digest for one in make_sets(Corpus.synthetic(700), requests, shards=3)]
