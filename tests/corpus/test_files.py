"""Which files are meant, how they open, what kind they are."""

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pytest

from sentprobe.core.files import open_bytes
from sentprobe.core.reader import read_lines
from sentprobe.corpus.files import detect_format, expand, stem
from sentprobe.errors import CorpusError, DataError, UsageError

TEXT = "one\ntwo ümläut\nthree"


def lines_of(path):
    return (line for _, line in read_lines(path))


def test_a_directory_stands_for_its_corpus_files_sorted_and_recursively(tmp_path):
    for name in ("b.conllu", "deep/a.conllu.gz", "c.mrg", "notes.md", ".hidden.conllu", ".git/x.conllu", "d.trees.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [os.path.relpath(f, tmp_path) for f in expand([str(tmp_path)])]
    assert found == ["b.conllu", "c.mrg", "d.trees.tsv", str(Path("deep", "a.conllu.gz"))]


def test_raw_text_beside_annotated_files_is_left_out_of_a_directory(tmp_path):
    for name in ("x-ud-train.txt", "LICENSE.txt"):
        (tmp_path / name).touch()
    assert expand([str(tmp_path)]) == (str(tmp_path / "x-ud-train.txt"),)
    (tmp_path / "x-ud-train.conllu").touch()
    assert expand([str(tmp_path)]) == (str(tmp_path / "x-ud-train.conllu"),)


def test_globs_are_expanded_sorted_and_every_file_comes_once(tmp_path):
    for name in ("b.conllu", "a.conllu", "sub/c.conllu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    a, b, c = (str(tmp_path / n) for n in ("a.conllu", "b.conllu", "sub/c.conllu"))
    assert expand([str(tmp_path / "*.conllu")]) == (a, b)
    assert expand([b, str(tmp_path / "*.conllu"), "-"]) == (b, a, "-")
    assert expand([str(tmp_path / "**" / "*.conllu")]) == (a, b, c)


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tmp_path):
    odd = tmp_path / "a[1].conllu"
    odd.touch()
    assert expand([str(odd)]) == (str(odd),)


@pytest.mark.parametrize("typed", ["nothing-*.conllu", "missing.conllu", "."])
def test_nothing_matched_names_what_was_typed(tmp_path, monkeypatch, typed):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        expand([typed])
    assert repr(typed) in str(caught.value)


def test_no_paths_at_all_is_wrong_use():
    with pytest.raises(UsageError, match="no corpus file was given"):
        expand([])


def test_a_misspelt_file_gets_a_suggestion(tmp_path):
    (tmp_path / "train.conllu").touch()
    with pytest.raises(UsageError, match=r"did you mean .*train\.conllu"):
        expand([str(tmp_path / "tran.conllu")])


def _zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


WRITERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": _zstd}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("prefix", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_text_is_the_same_through_compression_byte_order_mark_and_line_ends(tmp_path, suffix, prefix, end):
    file = tmp_path / f"x.txt{suffix}"
    file.write_bytes(WRITERS[suffix](prefix + TEXT.replace("\n", end).encode()))
    assert list(lines_of(str(file))) == ["one", "two ümläut", "three"]


@pytest.mark.parametrize("suffix", [s for s in WRITERS if s])
def test_two_compressed_streams_in_one_file_are_both_read(tmp_path, suffix):
    file = tmp_path / f"x.txt{suffix}"
    file.write_bytes(WRITERS[suffix](b"one\n") + WRITERS[suffix](b"two\n"))
    assert list(lines_of(str(file))) == ["one", "two"]


@pytest.mark.parametrize("suffix", [s for s in WRITERS if s])
@pytest.mark.parametrize("fault", ["truncated", "garbage"])
def test_broken_compressed_data_is_a_corpus_error(tmp_path, suffix, fault):
    whole = WRITERS[suffix](os.urandom(20_000).hex().encode())
    file = tmp_path / f"x.txt{suffix}"
    file.write_bytes(whole[: len(whole) // 2] if fault == "truncated" else b"no such magic number" * 9)
    with pytest.raises(CorpusError, match="a complete compressed file") as caught:
        list(open_bytes(str(file)))
    assert caught.value.path == str(file)


def test_what_precedes_a_truncation_is_still_read(tmp_path):
    lines = [f"{i * i * 7919 % 10007}" for i in range(20_000)]
    whole = gzip.compress("".join(f"{line}\n" for line in lines).encode())
    file = tmp_path / "x.txt.gz"
    file.write_bytes(whole[: len(whole) // 2])
    seen: list[str] = []
    with pytest.raises(CorpusError) as caught:
        seen.extend(lines_of(str(file)))
    assert len(seen) > 5_000
    assert seen == lines[: len(seen)]
    assert caught.value.line == len(seen) + 1


def test_zstd_without_the_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "x.conllu.zst").write_bytes(b"")
    with pytest.raises(UsageError, match="needs zstandard: pip install zstandard"):
        list(lines_of(str(tmp_path / "x.conllu.zst")))


def test_undecodable_bytes_are_an_error_at_their_line(tmp_path):
    file = tmp_path / "x.txt"
    file.write_bytes(b"fine\nfine\nbr\xf6ken\n")
    with pytest.raises(CorpusError, match=r"x\.txt:3: got the bytes f6 6b 65 6e"):
        list(lines_of(str(file)))


def test_a_line_beyond_all_measure_is_not_gathered_up(tmp_path, monkeypatch):
    monkeypatch.setattr("sentprobe.core.files.LONGEST_LINE", 1 << 20)
    file = tmp_path / "x.txt"
    file.write_bytes(b"a\n" + b"x" * (3 << 20))
    with pytest.raises(CorpusError, match=r"x\.txt:2: got a line of more than 1 MiB"):
        list(lines_of(str(file)))


def test_lines_end_only_at_line_feeds(tmp_path):
    file = tmp_path / "x.txt"
    file.write_text("a\u2028b\x0bc\x85d\ne", encoding="utf-8")
    assert list(lines_of(str(file))) == ["a\u2028b\x0bc\x85d", "e"]


def test_missing_file_directory_and_odd_path_are_data_errors(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        list(lines_of(str(tmp_path / "none.txt")))
    with pytest.raises(DataError, match="is a directory"):
        list(lines_of(str(tmp_path)))
    with pytest.raises(DataError, match="cannot be read"):
        list(lines_of("a\0b"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_a_data_error(tmp_path):
    file = tmp_path / "x.txt"
    file.touch(mode=0o000)
    with pytest.raises(DataError, match="permission denied"):
        list(lines_of(str(file)))


def test_standard_input_is_read_as_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert "\n".join(lines_of("-")) == TEXT


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.conllu", "conllu"),
        ("a.CONLLU.GZ", "conllu"),
        ("a.conll", "conllu"),
        ("a.ud.xz", "conllu"),
        ("a.mrg", "brackets"),
        ("a.ptb.bz2", "brackets"),
        ("a.tree", "brackets"),
        ("a.trees.tsv.gz", "brackets"),
        ("a.brackets.zst", "brackets"),
        ("a.txt", "text"),
    ],
)
def test_the_suffix_tells_the_kind_without_opening_the_file(name, expected):
    assert detect_format(name) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("\n# comment\n1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n", "conllu"),
        ("1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n", "conllu"),
        ("\n\n( (S (NN a)))\n", "brackets"),
        ("doc\t(S (NN a))\n", "brackets"),
    ],
)
def test_the_first_line_tells_the_kind_when_the_suffix_does_not(tmp_path, content, expected):
    file = tmp_path / "unknown.dat"
    file.write_text(content)
    assert detect_format(str(file)) == expected


@pytest.mark.parametrize("content", ["", "Just a sentence.\n", "# only a heading\n", "a\tb\n"])
def test_an_undecidable_file_asks_for_the_format(tmp_path, content):
    file = tmp_path / "unknown.dat"
    file.write_text(content)
    with pytest.raises(UsageError, match="pass the format"):
        detect_format(str(file))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("d/fr_sequoia-ud-train.conllu.gz", "fr_sequoia-ud-train"),
        ("gum.trees.tsv", "gum"),
        ("wsj_0001.mrg", "wsj_0001"),
        ("odd.name.dat", "odd.name.dat"),
        (".conllu", ".conllu"),
        ("-", "stdin"),
    ],
)
def test_the_stem_is_the_name_without_known_suffixes(path, expected):
    assert stem(path) == expected
