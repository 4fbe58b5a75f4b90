"""What `make` says and does about a corpus that is malformed in part, broken off, or malformed throughout."""

import gzip
import io

import pytest

from sentprobe import Corpus, make_sets, select_tasks
from sentprobe.corpus.brackets import write_brackets
from sentprobe.corpus.conllu import write_conllu
from sentprobe.errors import CorpusError, TooFewError
from tests.command_line import sentprobe

REQUEST = select_tasks(tasks="sentence_length", sizes="60/12/12")


@pytest.fixture(scope="module")
def text():
    out = io.StringIO()
    write_conllu(Corpus.synthetic(800), out)
    return out.getvalue()


@pytest.mark.parametrize("shards", [1, 2])
def test_a_truncated_file_is_used_as_far_as_it_can_be_read(tmp_path, text, shards):
    whole = gzip.compress(text.encode())
    file = tmp_path / "en_cut-ud-train.conllu.gz"
    file.write_bytes(whole[: len(whole) * 3 // 4])
    with pytest.raises(CorpusError, match="truncated compressed data, which break off after"):
        list(make_sets(Corpus.read(file), REQUEST))
    (found,) = make_sets(Corpus.read(file), REQUEST, skip_bad=True, shards=shards)
    facts = found.manifest["corpus"]
    assert 400 < facts["sentences"] < 800
    assert facts["skipped"]["sentences"] == 0  # a lost rest is no malformed sentence
    (lost,) = facts["skipped"]["incomplete files"]
    assert f"break off after {file.stat().st_size:,} bytes" in lost
    assert "lines of text could be read" in lost


def test_damaged_data_says_how_far_it_was_read(tmp_path, text):
    damaged = bytearray(gzip.compress(text.encode()))
    damaged[-8:-4] = bytes(4)  # the checksum
    file = tmp_path / "en_damaged-ud-train.conllu.gz"
    file.write_bytes(damaged)
    with pytest.raises(CorpusError, match=rf"CRC.*, after about [\d,]+ of {len(damaged):,} bytes \(") as caught:
        list(Corpus.read(file))
    assert caught.value.ends_file


def test_the_command_line_says_what_was_lost(tmp_path, text):
    whole = gzip.compress(text.encode())
    (tmp_path / "cut.conllu.gz").write_bytes(whole[: len(whole) * 3 // 4])
    words = ("make", "cut.conllu.gz", "-t", "sentence_length", "--sizes", "60/12/12", "-o", "out")
    refused = sentprobe(*words, cwd=tmp_path)
    assert refused.returncode == 1
    assert "--skip-bad uses what can be read of the file" in refused.stderr
    done = sentprobe(*words, "--skip-bad", cwd=tmp_path)
    assert done.returncode == 0
    assert "not read to its end: cut.conllu.gz:" in done.stderr
    assert "malformed" not in done.stderr


def test_a_corpus_without_a_good_sentence_says_what_is_wrong_with_it(tmp_path):
    (tmp_path / "bad.conllu").write_text("1\tA\n\n1\tB\n\n")
    with pytest.raises(TooFewError, match=r"could be read: 2 malformed sentences, such as .*bad\.conllu:1: got 2 col"):
        list(make_sets(Corpus.read(tmp_path / "bad.conllu"), REQUEST, skip_bad=True))


@pytest.mark.parametrize("shards", [1, 3])
def test_one_odd_tree_is_left_out_and_the_error_names_the_option(tmp_path, text, shards):
    (tmp_path / "some.conllu").write_text(text)
    trees = io.StringIO()
    write_brackets(Corpus.synthetic(800), trees)
    (tmp_path / "odd.mrg").write_text("(ROOT (S (NP (DT The)\n" + trees.getvalue())
    refused = sentprobe("make", "some.conllu", "--trees", "odd.mrg", "-t", "sentence_length", cwd=tmp_path)
    assert refused.returncode == 1
    assert "odd.mrg:1: got a tree with" in refused.stderr
    assert "--skip-bad leaves out what is malformed, and counts it." in refused.stderr
    corpus = Corpus.read(tmp_path / "some.conllu", trees=tmp_path / "odd.mrg")
    (found,) = make_sets(corpus, REQUEST, skip_bad=True, shards=shards)
    assert found.manifest["corpus"]["skipped"]["sentences"] == 1
    assert found.manifest["corpus"]["columns"]["tree"] == 800
