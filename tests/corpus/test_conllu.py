"""CoNLL-U in and out."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.corpus import Sentence
from sentprobe.corpus.brackets import read_brackets
from sentprobe.corpus.conllu import read_conllu, write_conllu
from sentprobe.corpus.files import SHARD_BLOCK, detect_format
from sentprobe.corpus.plain import read_plain
from sentprobe.errors import CorpusError, DataError

INVALID = Path(__file__).parent.parent / "data" / "invalid"

FRENCH = """\
# newdoc id = récit
# newpar
# sent_id = r-1
# text = Elle parle du chat.
1\tElle\tlui\tPRON\tPRO\tNumber=Sing|Person=3\t2\tnsubj\t_\t_
2\tparle\tparler\tVERB\tV\tTense=Pres\t0\troot\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\tP\t_\t5\tcase\t_\t_
4\tle\tle\tDET\tD\tDefinite=Def\t5\tdet\t_\t_
5\tchat\tchat\tNOUN\tN\tNumber=Sing\t2\tobl:arg\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\tPCT\t_\t2\tpunct\t_\tSpaceAfter=No

# sent_id = r-2
1\tElle\tlui\tPRON\t_\t_\t2\tnsubj\t_\tSpaceAfter=No|Translit=x
2\tdort\tdormir\tVERB\t_\t_\t0\troot\t_\tCorrectSpaceAfter=No
2.1\tdort\tdormir\tVERB\t_\t_\t_\t_\t2:conj\t_
3-4\tdes\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_
4\tles\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tnuits\tnuit\tNOUN\t_\t_\t2\tobl\t_\t_
"""


def write(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


def row(i, form, head, deprel, upos="X"):
    return f"{i}\t{form}\t{form}\t{upos}\t_\t_\t{head}\t{deprel}\t_\t_\n"


def test_every_column_arrives(tmp_path):
    first, _ = read_conllu(write(tmp_path / "fr.conllu", FRENCH))
    assert first == Sentence(
        id="r-1",
        text="Elle parle du chat.",
        forms=("Elle", "parle", "de", "le", "chat", "."),
        lemmas=("lui", "parler", "de", "le", "chat", "."),
        upos=("PRON", "VERB", "ADP", "DET", "NOUN", "PUNCT"),
        xpos=("PRO", "V", "P", "D", "N", "PCT"),
        feats=("Number=Sing|Person=3", "Tense=Pres", "_", "Definite=Def", "Number=Sing", "_"),
        heads=(1, -1, 4, 4, 1, 1),
        deprels=("nsubj", "root", "case", "det", "obl:arg", "punct"),
        space_after=(True, True, False, True, False, True),
        mwts=((2, 4, "du"),),
        doc="récit",
    )


def test_text_is_rebuilt_where_there_is_none_and_spaces_come_from_the_multi_word_token(tmp_path):
    _, second = read_conllu(write(tmp_path / "fr.conllu", FRENCH))
    assert second.text == "Elledort desnuits"
    assert second.space_after == (False, True, False, False, True)
    assert second.forms == ("Elle", "dort", "de", "les", "nuits")  # the empty node 2.1 is not a word
    assert second.tokens == ("Elle", "dort", "des", "nuits")
    assert (second.doc, second.xpos) == ("récit", None)


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"], ids=["no blank line", "one", "several"])
@pytest.mark.parametrize("crlf", [False, True], ids=["lf", "crlf"])
def test_line_ends_and_the_last_blank_line_do_not_matter(tmp_path, end, crlf):
    text = "\n\n" + FRENCH.replace("\n\n", "\n\n\n\n\n").rstrip("\n") + end
    got = list(read_conllu(write(tmp_path / "a.conllu", text.replace("\n", "\r\n") if crlf else text)))
    assert got == list(read_conllu(write(tmp_path / "b.conllu", FRENCH)))


def test_made_up_ids_and_documents_say_file_and_place(tmp_path):
    text = (
        "# newdoc\n" + row(1, "a", 0, "root") + "\n" + row(1, "b", 0, "root") + "\n# newdoc\n" + row(1, "c", 0, "root")
    )
    got = list(read_conllu(write(tmp_path / "x.conllu", text)))
    assert [(s.id, s.doc) for s in got] == [("x:2", "x-doc1"), ("x:4", "x-doc1"), ("x:7", "x-doc2")]


def test_comments_without_spaces_and_lookalikes_are_told_apart(tmp_path):
    text = "#sent_id=a b \n# text_en = no\n# text = yes \n# sent_ident = no\n# newdocument id = no\n" + row(
        1, "a", 0, "r"
    )
    (s,) = read_conllu(write(tmp_path / "x.conllu", text))
    assert (s.id, s.text, s.doc) == ("a b", "yes ", None)


def test_underscores_and_inner_spaces_are_words(tmp_path):
    text = row(1, "_", 2, "punct", "SYM") + row(2, "10 000", 0, "root", "NUM")
    (s,) = read_conllu(write(tmp_path / "x.conllu", text))
    assert s.forms == s.lemmas == ("_", "10 000")


def test_missing_columns_are_none_but_lemmas_and_feats_stay(tmp_path):
    text = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n"
    (s,) = read_conllu(write(tmp_path / "x.conllu", text))
    assert (s.upos, s.xpos, s.heads, s.deprels) == (None, None, None, None)
    assert s.lemmas == s.feats == ("_", "_")


def test_a_sentence_longer_than_any_table_is_read(tmp_path):
    n = 3000
    text = row(1, "w1", 0, "root") + "".join(row(i, f"w{i}", i - 1, "dep") for i in range(2, n + 1))
    (s,) = read_conllu(write(tmp_path / "x.conllu", text))
    assert s.heads == tuple(range(-1, n - 1))


def test_comment_blocks_without_a_sentence_are_passed_over(tmp_path):
    text = "# global.columns = ID FORM\n# newdoc id = d\n\n" + row(1, "a", 0, "root")
    (s,) = read_conllu(write(tmp_path / "x.conllu", text))
    assert (s.id, s.doc) == ("x:4", "d")


def test_an_empty_file_has_no_sentences(tmp_path):
    assert list(read_conllu(write(tmp_path / "x.conllu", ""))) == []


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_make_the_whole_with_the_same_ids_and_documents(tmp_path, of):
    parts = []
    for i in range(5 * SHARD_BLOCK + 11):
        name = f" id = d{i}" if i % 3 else ""
        newdoc = f"# newdoc{name}\n" if i % 100 == 0 else ""
        parts.append(newdoc + row(1, f"w{i}", 0, "root") + "\n")
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress("".join(parts).encode()))
    whole = list(read_conllu(str(path)))
    shards = [list(read_conllu(str(path), shard=k, of=of)) for k in range(of)]
    order = {s.id: n for n, s in enumerate(whole)}
    assert len(whole) == 5 * SHARD_BLOCK + 11
    for shard in shards:
        assert [order[s.id] for s in shard] == sorted(order[s.id] for s in shard)
    assert sorted((s for shard in shards for s in shard), key=lambda s: order[s.id]) == whole


def test_a_fault_is_reported_by_the_one_shard_it_falls_to(tmp_path):
    parts = [row(1, f"w{i}", 5 if i % 100 == 50 else 0, "root") + "\n" for i in range(3 * SHARD_BLOCK)]
    path = write(tmp_path / "x.conllu", "".join(parts))
    whole: list[CorpusError] = []
    list(read_conllu(path, on_error=whole.append))
    dealt: list[CorpusError] = []
    for shard in range(2):
        list(read_conllu(path, shard=shard, of=2, on_error=dealt.append))
    assert [e.line for e in whole] == [i * 2 + 1 for i in range(50, 3 * SHARD_BLOCK, 100)]
    assert sorted(map(str, whole)) == sorted(map(str, dealt))


FAULTS = [
    ("conllu_nine_columns.conllu", 9, "got 9 columns; expected 10 columns separated by tabs"),
    ("conllu_eleven_columns.conllu", 9, "got 11 columns; expected 10 columns separated by tabs"),
    ("conllu_spaces_for_tabs.conllu", 9, "got 10 columns separated by spaces; expected 10 columns separated by tabs"),
    ("conllu_id_gap.conllu", 9, "got the ID 3; expected 2"),
    ("conllu_id_not_a_number.conllu", 9, "got the ID 'x'; expected a word number (8), a range (8-9)"),
    ("conllu_id_odd_range.conllu", 9, "got the ID '2-x'; expected a word number (8), a range (8-9)"),
    ("conllu_bad_range.conllu", 9, "got the range 2-5; expected an end after 2 and up to 3, the last"),
    ("conllu_range_backwards.conllu", 9, "got the range 3-2; expected one that begins with the next word, 2"),
    ("conllu_range_misplaced.conllu", 8, "got the range 2-3; expected one that begins with the next word, 1"),
    ("conllu_range_overlap.conllu", 10, "got the range 2-3 inside another; expected one that begins after 2"),
    ("conllu_head_out_of_range.conllu", 9, "got the HEAD 7; expected an integer from 0 to 3, the last word"),
    ("conllu_head_not_a_number.conllu", 9, "got the HEAD 'two'; expected the number of a word"),
    ("conllu_head_itself.conllu", 9, "got the HEAD 2, the word itself; expected another word, or 0 for the root"),
    ("conllu_head_missing.conllu", 9, "got the HEAD _ (1 of 3 words); expected a HEAD for every word or for none"),
    ("conllu_two_roots.conllu", 10, "got 2 roots (words 2, 3); expected exactly one word with the HEAD 0"),
    ("conllu_no_root.conllu", 8, "got no root; expected exactly one word with the HEAD 0"),
    ("conllu_cycle.conllu", 8, "got a cycle of heads: 1 → 2 → 1; expected heads that lead to the root"),
    ("conllu_bad_feats.conllu", 9, "got the FEATS 'Degree=Pos|Number'; expected _ or Name=Value pairs"),
    ("conllu_empty_form.conllu", 9, "got an empty FORM; expected a value, or _ where there is none"),
    ("conllu_empty_upos.conllu", 9, "got an empty UPOS; expected a value, or _ where there is none"),
    ("conllu_comment_inside.conllu", 9, "got a comment between words; expected comments above"),
    ("conllu_blank_of_spaces.conllu", 11, "got a line of white space; expected an empty line between sentences"),
    ("conllu_only_comments.conllu", 6, "got comments without words; expected the words of the sentence right below"),
    ("conllu_only_an_empty_node.conllu", 8, "got a sentence without words; expected at least one line"),
    ("conllu_bad_utf8.conllu", 10, "got the bytes e9 73 74 09, which are not UTF-8; expected UTF-8 text"),
    ("conllu_utf16.conllu", 1, "got the bytes ff fe 23 00, which are not UTF-8; expected UTF-8 text"),
    ("conllu_truncated.conllu.gz", None, "got truncated compressed data, which break off after"),
    ("conllu_not_gzip.conllu.gz", 1, "got corrupt compressed data: Not a gzipped file"),
    ("brackets_unclosed.mrg", 2, "got a tree with 1 bracket left open; expected a closing bracket"),
    ("brackets_unclosed_at_end.mrg", 2, "got a tree with 4 brackets left open; expected a closing bracket"),
    ("brackets_extra_close.mrg", 2, "got 1 closing bracket too many; expected an opening bracket"),
    ("brackets_close_before_open.mrg", 2, "got a closing bracket too many; expected an opening bracket"),
    ("brackets_empty_node.mrg", 4, "got the empty node (NP); expected a word or nodes inside every node"),
    ("brackets_word_outside.mrg", 2, "got the word 'loudly' outside a tree; expected a tree: (label …)"),
    ("brackets_word_beside_node.mrg", 2, "got the word 'the' next to other parts of a node; expected (tag word)"),
    ("brackets_two_words.mrg", 2, "got the word 'the' next to other parts of a node; expected (tag word)"),
    ("brackets_no_label.mrg", 2, "got a node without a label; expected (label …)"),
    ("brackets_only_traces.mrg", 2, "got a tree without words; expected at least one word that is not a trace"),
    ("brackets_too_deep.mrg", 2, "got a tree more than 1000 levels deep; expected a tree of a sentence"),
    ("brackets_bad_utf8.mrg", 3, "got the bytes f6 67 73 29, which are not UTF-8; expected UTF-8 text"),
    ("text_bad_utf8.txt", 3, "got the bytes f6 67 73 20, which are not UTF-8; expected UTF-8 text"),
]
READERS = {"conllu": read_conllu, "brackets": read_brackets, "text": read_plain}


@pytest.mark.parametrize(("name", "line", "message"), FAULTS, ids=[f[0] for f in FAULTS])
def test_every_fault_is_named_with_file_line_and_expectation(name, line, message):
    path = str(INVALID / name)
    reader = READERS[detect_format(path)]
    with pytest.raises(CorpusError) as caught:
        list(reader(path))
    error = caught.value
    assert error.path == path
    if line is None:  # how far a truncated file can be read depends on the zlib that reads it
        assert error.line > 100
    else:
        assert error.line == line
    assert str(error).startswith(f"{path}:{error.line}: {message}")

    bad: list[CorpusError] = []
    kept = list(reader(path, on_error=bad.append))
    assert [str(e) for e in bad] == [str(error)]
    assert len(kept) >= (0 if name in ("conllu_utf16.conllu", "conllu_not_gzip.conllu.gz") else 1)


def test_every_invalid_file_has_its_test():
    assert {f[0] for f in FAULTS} == {f.name for f in INVALID.iterdir() if f.name.partition("_")[0] in READERS}


def test_with_on_bad_the_sentence_after_the_fault_is_read():
    got = list(read_conllu(str(INVALID / "conllu_cycle.conllu"), on_error=lambda _: None))
    assert [s.id for s in got] == ["good", "after"]


def test_a_file_without_empty_lines_is_not_gathered_up(tmp_path, monkeypatch):
    monkeypatch.setattr("sentprobe.corpus.conllu._MAX_BLOCK_BYTES", 1 << 16)
    path = write(tmp_path / "x.conllu", "no sentence at all\n" * 100_000)
    with pytest.raises(CorpusError, match="without an empty line"):
        list(read_conllu(path))


CELL = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=6)
NAME = CELL.map(str.strip).filter(bool)
FEATS = st.sampled_from(["_", "Number=Sing", "Case=Nom|Number=Plur", "Foo[psor]=1,2"])


@st.composite
def sentences(draw):
    n = draw(st.integers(1, 8))
    order = draw(st.permutations(range(n)))
    heads = [0] * n
    for place, word in enumerate(order):  # every word hangs on one that was placed before it
        heads[word] = -1 if place == 0 else order[draw(st.integers(0, place - 1))]
    column = st.lists(CELL, min_size=n, max_size=n).map(tuple)
    tag = column.filter(lambda c: set(c) != {"_"})
    space = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    space[-1] = True
    mwts = []
    if n > 2 and draw(st.booleans()):
        first = draw(st.integers(0, n - 2))
        end = draw(st.integers(first + 2, n))
        mwts.append((first, end, draw(CELL)))
        space[first : end - 1] = [False] * (end - 1 - first)
    has_tree = draw(st.booleans())
    return Sentence(
        id=draw(NAME),
        text=draw(CELL),
        forms=draw(column),
        lemmas=draw(column),
        upos=draw(st.none() | tag),
        xpos=draw(st.none() | tag),
        feats=draw(st.lists(FEATS, min_size=n, max_size=n).map(tuple)),
        heads=tuple(heads) if has_tree else None,
        deprels=draw(column) if has_tree else None,
        space_after=tuple(space),
        mwts=tuple(mwts),
        doc=draw(NAME),
    )


@given(st.lists(sentences(), max_size=4))
def test_what_is_written_reads_back_equal(tmp_path_factory, written):
    out = io.StringIO()
    write_conllu(written, out)
    path = write(tmp_path_factory.mktemp("round") / "x.conllu", out.getvalue())
    assert list(read_conllu(path)) == written


def test_a_bare_sentence_is_written_with_underscores():
    out = io.StringIO()
    write_conllu([Sentence("s", "a b", ("a", "b"))], out)
    assert out.getvalue() == (
        "# sent_id = s\n# text = a b\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    )


def test_a_newdoc_comment_stands_only_where_the_document_changes():
    out = io.StringIO()
    write_conllu([Sentence(str(i), "a", ("a",), doc=doc) for i, doc in enumerate([None, "d", "d", "e"])], out)
    assert [line for line in out.getvalue().split("\n") if "newdoc" in line] == [
        "# newdoc id = d",
        "# newdoc id = e",
    ]


@pytest.mark.parametrize("form", ["", "a\tb", "a\nb"])
def test_what_cannot_be_written_is_refused(form):
    with pytest.raises(DataError, match=r"'s', word 1"):
        write_conllu([Sentence("s", "a", (form,))], io.StringIO())


def test_line_breaks_in_a_text_become_spaces():
    out = io.StringIO()
    write_conllu([Sentence("s", "a\r\nb", ("a", "b"))], out)
    assert "# text = a b\n" in out.getvalue()


def test_the_columns_agree_with_the_conllu_package(tmp_path):
    conllu = pytest.importorskip("conllu")
    ours = list(read_conllu(write(tmp_path / "x.conllu", FRENCH)))
    theirs = conllu.parse(FRENCH)
    for mine, other in zip(ours, theirs, strict=True):
        words = [t for t in other if isinstance(t["id"], int)]
        assert mine.forms == tuple(w["form"] for w in words)
        assert mine.upos == tuple(w["upos"] for w in words)
        assert mine.heads == tuple(w["head"] - 1 for w in words)
        assert mine.deprels == tuple(w["deprel"] for w in words)


def test_a_cell_moved_to_the_line_before_is_an_error(tmp_path):
    text = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\t2\nb\tb\tX\t_\t_\t1\tdep\t_\t_\n\n"  # 20 cells in all
    with pytest.raises(CorpusError, match="11 columns"):
        list(read_conllu(write(tmp_path / "x.conllu", text)))


def test_tags_are_kept_once(tmp_path):
    one, two = read_conllu(write(tmp_path / "x.conllu", 2 * (row(1, "a", 0, "root:x", "VERB-x") + "\n")))
    assert one.upos[0] is two.upos[0]
    assert one.deprels[0] is two.deprels[0]
    assert one.feats[0] is two.feats[0]
