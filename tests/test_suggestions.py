"""Messages that say what was probably meant, and no more names than one reads."""

import bz2
import gzip
import lzma

import pytest
import zstandard

from sentprobe import Corpus, load_task
from sentprobe.audit import explain
from sentprobe.core.files import open_bytes
from sentprobe.encoders import check_name
from sentprobe.errors import UsageError
from tests.command_line import sentprobe

CONLLU = "1\tShe\tshe\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tleft\tleave\tVERB\tVBD\t_\t0\troot\t_\t_\n\n"
COMPRESS = (gzip.compress, bz2.compress, lzma.compress, zstandard.compress)


@pytest.mark.parametrize("compress", COMPRESS)
def test_a_compressed_file_is_recognised_by_its_bytes_whatever_its_name(tmp_path, compress):
    path = tmp_path / "en.conllu"
    path.write_bytes(compress(CONLLU.encode()))
    assert [sentence.tokens for sentence in Corpus.read(path)] == [("She", "left")]
    assert b"".join(open_bytes(str(path))).decode() == CONLLU


def test_a_text_that_begins_like_a_compressed_file_is_read(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("BZ\n")
    assert b"".join(open_bytes(str(path))) == b"BZ\n"


def test_a_word_of_its_question_suggests_a_task():
    with pytest.raises(UsageError, match=r"no task 'tense'\. Did you mean past_present\?"):
        load_task("tense")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("huggingface:bert-base-uncased?layer=3", "Did you mean hf:bert-base-uncased?layer=3?"),
        ("sbert:all-MiniLM-L6-v2", "Did you mean st:all-MiniLM-L6-v2?"),
        ("infersent:", "infersent: names no file or folder; expected infersent:PATH."),
    ],
)
def test_an_encoder_is_refused_before_anything_is_computed(name, message):
    with pytest.raises(UsageError) as error:
        check_name(name)
    assert message in str(error.value)


def test_of_many_names_a_few_are_listed():
    with pytest.raises(UsageError, match=r"Did you mean .*\? Expected one of ([\w-]+, ){4}[\w-]+ and \d+ more\.$"):
        explain("same-splits")


def test_plain_text_suggests_annotating_it(tmp_path):
    (tmp_path / "plain.txt").write_text("The cat sat on the mat.\n" * 3)
    done = sentprobe("make", tmp_path / "plain.txt", "-t", "past_present", "-o", tmp_path / "probes")
    assert "plain is plain text: --with annotates it first, such as sentprobe make " in done.stderr
    assert "--with stanza:en" in done.stderr
