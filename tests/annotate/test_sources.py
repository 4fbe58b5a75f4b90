"""Raw text in its formats: what is read, under which ids, and that bad input is named with file and line."""

import bz2
import gzip
import io
import lzma
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sentprobe.annotate import source as limits
from sentprobe.annotate.request import AnnotationRequest, find_inputs, read_pieces
from sentprobe.annotate.source import TEXT_SOURCES, Piece, ReadOptions, cut, split_paragraphs
from sentprobe.errors import CorpusError, DataError, NotInstalled, SentProbeError, UsageError


def read(*paths, bad=None, format=None, **options):
    """The paragraphs of texts, with the ids of their documents."""
    request = AnnotationRequest("py:x", find_inputs(paths, format), **options)
    found = []
    for source, piece in read_pieces(request.inputs, request.readings, None if bad is None else bad.append):
        found += [(piece.doc, text) for text in TEXT_SOURCES[source].paragraphs(piece, request.readings[source])]
    return found


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, content):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


# plain text


TEXT = "\ufeffOne line\r\nand another.\r\n\r\n  \t\r\nA second\u00a0 paragraph.\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (None, ["One line and another.", "A second paragraph."]),
        ("wrapped", ["One line and another.", "A second paragraph."]),
        ("paragraphs", ["One line", "and another.", "A second paragraph."]),
        ("sentences", ["One line", "and another.", "A second paragraph."]),
    ],
)
def test_lines_of_plain_text(lines, expected):
    write("book.txt", TEXT)
    assert read("book.txt", lines=lines) == [("book", text) for text in expected]


@pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_text(suffix, compress):
    write(f"book.txt{suffix}", compress(TEXT.encode()))
    assert read(f"book.txt{suffix}")[1] == ("book", "A second paragraph.")


def test_pieces_do_not_change_the_paragraphs(monkeypatch):
    from sentprobe.annotate.sources import text

    write("book.txt", "\n\n".join(f"Paragraph {i}\nin two lines." for i in range(50)))
    whole = read("book.txt")
    monkeypatch.setattr(text, "PIECE_CHARACTERS", 3)
    assert read("book.txt") == whole
    assert len(whole) == 50


def test_text_without_an_end_of_a_paragraph_is_cut(monkeypatch):
    from sentprobe.annotate.sources import text

    write("book.txt", "word word\n" * 1000)
    monkeypatch.setattr(text, "MAX_PARAGRAPH_CHARACTERS", 500)
    found = read("book.txt")
    assert len(found) > 10
    assert {doc for doc, _ in found} == {"book"}
    assert " ".join(text for _, text in found).split() == ["word"] * 2000


def test_a_long_paragraph_is_cut_at_the_end_of_a_sentence_or_between_words():
    assert list(cut("One two. Three four five. Six", 28)) == ["One two. Three four five.", "Six"]
    assert list(cut("one two three four", 10)) == ["one two", "three four"]
    assert list(cut("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
    long = Piece("d", "a b " * limits.MAX_PARAGRAPH_CHARACTERS, True)
    assert split_paragraphs(long, ReadOptions("wrapped"))[0].endswith("b")


def test_bytes_that_are_not_utf_8_are_named_or_skipped():
    write("bad.txt", b"One.\n\nTwo \xe9t\xe9.\n\nThree.\n")
    with pytest.raises(CorpusError, match=r"bad.txt:3: got the bytes e9 74 e9 2e, which are not UTF-8"):
        read("bad.txt")
    bad = []
    assert read("bad.txt", bad=bad) == [("bad", "One."), ("bad", "Three.")]
    assert [(e.path, e.line) for e in bad] == [("bad.txt", 3)]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_compressed_file_that_breaks_off_is_named_or_given_up(suffix, compress):
    content = compress("".join(f"Paragraph {i**7}.\n\n" for i in range(20_000)).encode(), 1)
    name = write(f"cut.txt{suffix}", content[: len(content) // 2])
    write("whole.txt", "Fine.")
    with pytest.raises(CorpusError, match=rf"cut.txt{suffix}:\d+: got truncated compressed data.*; expected"):
        read(name)
    bad = []
    found = read(name, "whole.txt", bad=bad)
    assert len(bad) == 1
    assert found[0] == ("cut", "Paragraph 0.")
    assert found[-1] == ("whole", "Fine.")


# records


def test_json_lines():
    write("a.jsonl", '{"text": "One.\\nTwo.", "id": 3}\n\n{"id": "x", "text": "Three."}\n')
    assert read("a.jsonl") == [("a:1", "One."), ("a:1", "Two."), ("a:3", "Three.")]
    assert read("a.jsonl", id="id", lines="wrapped") == [("3", "One. Two."), ("x", "Three.")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "broken', r"a.jsonl:2: got malformed JSON \(.*\): .*; expected one JSON object per line"),
        ('["a"]', r"a.jsonl:2: got malformed JSON"),
        ('{"body": "x", "id": 1}', r"a.jsonl:2: got an object without the field 'text'; it has 'body', 'id'"),
        ('{"text": null, "id": 1}', r"a.jsonl:2: got nothing in 'text'; expected a text"),
        ('{"text": ["x"], "id": 1}', r"a.jsonl:2: got a value of type list in 'text'"),
        ('{"text": "x"}', r"a.jsonl:2: got an object without the field 'id'; it has 'text'; expected --id FIELD"),
        ('{"text": "x", "id": " "}', r"a.jsonl:2: got a value of type str in 'id'"),
        ('{"text": "x", "id": true}', r"a.jsonl:2: got a value of type bool in 'id'"),
        (b'{"text": "\xe9", "id": 1}', r"a.jsonl:2: got the bytes e9"),
    ],
)
def test_a_broken_record_is_named_or_skipped(line, message):
    line = line if isinstance(line, bytes) else line.encode()
    write("a.jsonl", b'{"text": "One.", "id": 8}\n' + line + b'\n{"text": "Three.", "id": 9}\n')
    with pytest.raises(CorpusError, match=message):
        read("a.jsonl", id="id")
    bad = []
    assert read("a.jsonl", id="id", bad=bad) == [("8", "One."), ("9", "Three.")]
    assert len(bad) == 1


def test_two_documents_do_not_have_one_id():
    write("a.jsonl", '{"text": "One.", "id": 8}\n')
    write("b.jsonl", '{"text": "Two.", "id": "8"}\n')
    with pytest.raises(DataError, match=r"b.jsonl: the id '8' occurs a second time"):
        read("a.jsonl", "b.jsonl", id="id")


def test_parquet():
    pq.write_table(pa.table({"body": ["One.\nTwo.", "Three."], "key": [5, 6], "x": [1.0, 2.0]}), "a.parquet")
    assert read("a.parquet", text="body") == [("a:1", "One."), ("a:1", "Two."), ("a:2", "Three.")]
    assert read("a.parquet", text="body", id="key")[-1] == ("6", "Three.")
    with pytest.raises(UsageError, match=r"a.parquet has no column 'text' \(--text\); it has 'body', 'key', 'x'"):
        read("a.parquet")
    with pytest.raises(UsageError, match=r"the column 'key' \(--text\) holds int64; expected text"):
        read("a.parquet", text="key")
    with pytest.raises(UsageError, match=r"the column 'x' \(--id\) holds double"):
        read("a.parquet", text="body", id="x")


def test_bad_parquet():
    pq.write_table(pa.table({"text": ["One.", None, "", "Four."]}), "a.parquet")
    with pytest.raises(CorpusError, match=r"a.parquet:2: got a row without a value in 'text'"):
        read("a.parquet")
    bad = []
    assert read("a.parquet", bad=bad) == [("a:1", "One."), ("a:4", "Four.")]
    assert len(bad) == 1
    write("b.parquet", Path("a.parquet").read_bytes()[:-20])
    with pytest.raises(CorpusError, match=r"b.parquet:1: got what cannot be read as Parquet \(.*download it again"):
        read("b.parquet")
    bad.clear()
    assert read("b.parquet", bad=bad) == []
    assert len(bad) == 1


def test_damaged_data_in_a_parquet_file():
    pq.write_table(pa.table({"text": ["One two three. " * 50] * 500}), "a.parquet")
    content = bytearray(Path("a.parquet").read_bytes())
    content[60:90] = b"\xff" * 30
    write("a.parquet", bytes(content))
    with pytest.raises(CorpusError, match=r"a.parquet:1: got what cannot be read as Parquet \(.*"):
        read("a.parquet")


# a wiki


DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="fr">
  <siteinfo><sitename>Wikipédia</sitename><dbname>frwiki</dbname><namespaces>
    <namespace key="0" case="first-letter" /><namespace key="1">Discussion</namespace>
    <namespace key="6">Fichier</namespace><namespace key="14">Catégorie</namespace>
  </namespaces></siteinfo>
  <page><title>Lac</title><ns>0</ns><id>12</id><revision><id>99</id><model>wikitext</model>
    <text xml:space="preserve">Le '''lac''' est [[eau|calme]] &amp;amp; froid. [[Catégorie:Lac]]

[[Fichier:Lac.jpg|vignette|Un lac.]]
* une liste.</text></revision></page>
  <page><title>Étang</title><ns>0</ns><id>13</id><redirect title="Lac" /><revision><text>#REDIRECTION [[Lac]].</text>
  </revision></page>
  <page><title>Discussion:Lac</title><ns>1</ns><id>14</id><revision><text>Je discute.</text></revision></page>
  <page><title>Données</title><ns>0</ns><id>15</id><revision><model>json</model><text>{}.</text></revision></page>
  <page><title>Mer</title><ns>0</ns><id>16</id><revision><text>La mer est grande.</text></revision></page>
</mediawiki>
"""


def test_articles_of_a_dump():
    pytest.importorskip("mwparserfromhell")
    write("frwiki-pages-articles.xml.bz2", bz2.compress(DUMP.encode()))
    assert read("frwiki-pages-articles.xml.bz2") == [
        ("frwiki-12", "Le lac est calme & froid."),
        ("frwiki-16", "La mer est grande."),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            DUMP.replace("<id>13</id>", "<id>13</ID>"),
            r"d.xml:11: got malformed XML \(mismatched tag.*a complete",
        ),
        (DUMP[:900], r"d.xml:\d+: got malformed XML \((no element|unclosed)"),
        ("<html><body></body></html>", r"d.xml:1: got XML with the element 'html'; expected a dump of a wiki"),
        ("no XML at all", r"d.xml:1: got malformed XML"),
        (f"<!DOCTYPE mediawiki [<!ENTITY a 'b'>]>{DUMP.replace('calme', '&a;')}", r"d.xml:1: got a document type"),
    ],
)
def test_a_malformed_dump_is_named_or_given_up(content, message):
    pytest.importorskip("mwparserfromhell")
    write("d.xml", content)
    with pytest.raises(CorpusError, match=message):
        read("d.xml")
    bad = []
    read("d.xml", bad=bad)
    assert len(bad) == 1


def test_a_page_without_an_end_is_not_read_into_memory(monkeypatch):
    pytest.importorskip("mwparserfromhell")
    monkeypatch.setattr("sentprobe.annotate.sources.wikipedia.LARGEST_PAGE", 2_000)
    monkeypatch.setattr("sentprobe.core.files.CHUNK_BYTES", 500)
    write("d.xml", DUMP.replace("</mediawiki>", f"<page><ns>0</ns>{'<a/>' * 20}{'<b/>' * 2000}\n</mediawiki>"))
    bad = []
    assert [doc for doc, _ in read("d.xml", bad=bad)] == ["frwiki-12", "frwiki-16"]
    assert "got a page of more than" in str(bad[0])


def test_a_dump_that_breaks_off_is_kept_as_far_as_it_goes():
    pytest.importorskip("mwparserfromhell")
    start, _, rest = DUMP.partition("<page>")
    pages = f"<page>{rest.removesuffix('</mediawiki>' + chr(10))}"
    content = bz2.compress(f"{start}{pages * 300}</mediawiki>".encode(), 1)
    write("d.xml.bz2", content[: len(content) // 2])
    bad = []
    found = read("d.xml.bz2", bad=bad)
    assert found[0] == ("frwiki-12", "Le lac est calme & froid.")
    assert "truncated compressed data" in str(bad[0])


def test_a_wiki_needs_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    write("d.xml", DUMP)
    with pytest.raises(NotInstalled, match=r"pip install .*\[annotate\]"):
        read("d.xml")


# files


def test_folders_globs_and_names():
    write("books/a/one.txt", "One.")
    write("books/b/one.txt", "Two.")
    write("books/b/.hidden.txt", "No.")
    write("books/b/two.jsonl", '{"text": "Three."}')
    write("books/notes.bin", "No.")
    assert read("books") == [("a/one", "One."), ("b/one", "Two."), ("b/two:1", "Three.")]
    assert read("books", format="jsonl") == [("b/two:1", "Three.")]
    assert read("books/*/one.txt") == [("one", "One."), ("one.2", "Two.")]
    assert read("books/a/one.txt", "books/a/one.txt") == [("one", "One.")]
    assert read("books/notes.bin", format="text") == [("notes.bin", "No.")]


def test_parts_of_a_dump_are_known_by_their_names():
    write("enwiki-pages-articles1.xml-p1p41242.bz2", bz2.compress(DUMP.encode()))
    (found,) = find_inputs(["enwiki-pages-articles1.xml-p1p41242.bz2"])
    assert found.source == "wikipedia"


def test_a_file_is_the_same_wherever_it_is_and_whenever_it_was_copied():
    write("a/one.txt", "One.")
    write("b/one.txt", "One.")
    write("c/one.txt", "Two.")
    one, copy, other = (find_inputs([f"{folder}/one.txt"])[0] for folder in "abc")
    assert one.stamp == copy.stamp != other.stamp
    assert one.stamp.startswith("4 bytes, blake2b ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_and_unreadable_files_are_refused():
    os.mkfifo("pipe.txt")
    with pytest.raises(DataError, match="is a pipe, a device or a socket"):
        find_inputs(["pipe.txt"])


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"One.\n\nTwo."))))
    assert read("-") == [("stdin", "One."), ("stdin", "Two.")]


def test_addresses():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.store.clear()
    files.pipe("/store/x/a.txt", b"One.")
    files.pipe("/store/b.txt.gz", gzip.compress(b"Two."))
    table = io.BytesIO()
    pq.write_table(pa.table({"text": ["Three."]}), table)
    files.pipe("/store/c.parquet", table.getvalue())
    files.pipe("/store/d.bin", b"No.")
    assert read("memory://store") == [("b", "Two."), ("c:1", "Three."), ("x/a", "One.")]
    assert read("memory://store/*.gz") == [("b", "Two.")]
    assert read("memory://store/x/a.txt") == [("a", "One.")]
    before = find_inputs(["memory://store/x/a.txt"])[0].stamp
    files.pipe("/store/x/a.txt", b"Another.")
    assert find_inputs(["memory://store/x/a.txt"])[0].stamp != before


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("memory://nothing/a.txt", UsageError, r"There is no file 'memory://nothing/a.txt'"),
        ("nostore://a.txt", UsageError, "nostore://a.txt cannot be read: Protocol not known"),
        ("gopher+x://a.txt", SentProbeError, "cannot be read"),
    ],
)
def test_wrong_addresses(address, error, message):
    pytest.importorskip("fsspec")
    with pytest.raises(error, match=message):
        read(address)


def test_addresses_need_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(NotInstalled, match=r"Reading s3://a/b.txt needs fsspec: pip install fsspec"):
        read("s3://a/b.txt")
