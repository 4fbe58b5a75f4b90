"""fastBPE's subwords, undone merges included."""

import pytest

from sentprobe.errors import CorpusError, DataError
from sentprobe.lab.schemes._fast_bpe import read_fast_bpe

CODES = "e s 9\nes t</w> 9\nl o 7\nlo w</w> 5\nlo w 2\nn e 4\nne w 3\nnew est</w> 2\n"
VOCABULARY = "low 5\nlo@@ 2\nest 3\nn@@ 1\ne@@ 1\nw@@ 2\nr 1\nnew 2\nne@@ 3\ni@@ 1\nd@@ 1\n"
TEXT = "low lower new newest widest ünï lowest a"


def bpe(folder, codes=CODES, vocabulary=VOCABULARY):
    (folder / "codes").write_text(codes, "utf-8")
    (folder / "vocabulary").write_text(vocabulary, "utf-8")
    return read_fast_bpe(folder / "codes", folder / "vocabulary")


def test_subwords_are_those_of_fast_bpe(tmp_path):
    # `fast applybpe OUT TEXT codes vocabulary` of glample/fastBPE at 036711f, with and without the vocabulary
    assert " ".join(bpe(tmp_path)(TEXT)) == (
        "low lo@@ w@@ e@@ r ne@@ w ne@@ w@@ est w@@ i@@ d@@ est ü@@ n@@ ï lo@@ w@@ est a"
    )
    assert " ".join(bpe(tmp_path, vocabulary="")(TEXT)) == (
        "low low@@ e@@ r ne@@ w newest w@@ i@@ d@@ est ü@@ n@@ ï low@@ est a"
    )
    assert bpe(tmp_path)("") == []
    assert bpe(tmp_path)("  low  low ") == ["low", "low"]


def test_repeated_letters_merge_from_the_left(tmp_path):
    # as in fastBPE: aaaaa is aa aa a, and the last letter has the mark of the end
    assert bpe(tmp_path, "a a 9\n", "")("aaaaa aaaa") == ["aa@@", "aa@@", "a", "aa@@", "a@@", "a"]


def test_a_damaged_file_is_named_with_its_line(tmp_path):
    with pytest.raises(CorpusError, match=r"codes.*2.*'t h'"):
        bpe(tmp_path, "e s 9\nt h\n")
    with pytest.raises(CorpusError, match=r"vocabulary"):
        bpe(tmp_path, vocabulary="low\n")
    (tmp_path / "codes").write_bytes(b"\xff\xff 1 2\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_fast_bpe(tmp_path / "codes", tmp_path / "vocabulary")
    with pytest.raises(DataError, match="cannot be read"):
        read_fast_bpe(tmp_path / "nothing", tmp_path / "vocabulary")
