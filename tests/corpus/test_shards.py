"""Shards of a corpus: together they are the corpus, and they are of about the same size."""

import pytest

from sentprobe.corpus import Corpus
from sentprobe.corpus.conllu import write_conllu
from sentprobe.corpus.corpus import SHARDS_PER_WORKER, cut, shard_count


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Nine files, one of which has half of the sentences."""
    folder, sentences, at = tmp_path_factory.mktemp("files"), list(Corpus.synthetic(800)), 0
    for i, n in enumerate([400, *[50] * 8]):
        with (folder / f"{i}.conllu").open("w", encoding="utf-8") as out:
            write_conllu(sentences[at : at + n], out)
        at += n
    return Corpus.read(folder, language="en")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 30])
def test_shards_are_the_corpus(files, n):
    for corpus in (files, Corpus.synthetic(300), Corpus.of(list(Corpus.synthetic(300)))):
        found = [s.id for shard in cut(corpus, n) for s in shard.sentences()]
        assert sorted(found) == sorted(s.id for s in corpus)


def test_files_are_cut_only_if_they_are_larger_than_a_shard(files):
    pieces = [piece for shard in cut(files, 4) for piece in shard.pieces]
    assert sorted(of for _, _, of in pieces) == [1] * 8 + [2, 2]
    assert {len(corpus.files) for corpus, _, _ in pieces} == {1}
    sizes = [len(list(shard.sentences())) for shard in cut(files, 4)]
    assert max(sizes) <= 256  # a run of sentences, which is not divided


def test_a_file_that_is_named_twice_is_read_twice(files):
    twice = Corpus("twice", "en", (files.files[1], files.files[1]))
    assert sum(len(list(shard.sentences())) for shard in cut(twice, 5)) == 100


def test_empty_files_and_errors(tmp_path):
    (tmp_path / "a.conllu").write_text("")
    (tmp_path / "b.conllu").write_text("1\tx\n\n")
    corpus, errors = Corpus.read(tmp_path), []
    assert [s for shard in cut(corpus, 2) for s in shard.sentences(errors.append)] == []
    assert len(errors) == 1


def test_a_cluster_gets_more_shards_than_workers_if_there_are_enough_files(files):
    assert shard_count(files, 3, False) == 3
    assert shard_count(files, 3, True) == 3
    assert shard_count(files, 2, True) == 2 * SHARDS_PER_WORKER
    assert shard_count(Corpus.synthetic(10), 3, True) == 3 * SHARDS_PER_WORKER
