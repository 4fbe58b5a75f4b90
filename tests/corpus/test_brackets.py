"""Bracketed trees in and out."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.corpus import Sentence, Tree
from sentprobe.corpus.brackets import parse_tree, read_brackets, write_brackets
from sentprobe.corpus.files import SHARD_BLOCK
from sentprobe.errors import CorpusError, DataError

PENN = """
( (S
    (NP-SBJ-1 (NNP Mary) )
    (VP (VBD seemed)
      (S
        (NP-SBJ (-NONE- *-1) )
        (VP (TO to)
          (VP (VB like)
            (NP (PRP it) )))))
    (. .) ))

(TOP (S (NP (NNS Dogs)) (VP (VBP bark))))
"""


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_penn_treebank_style_over_many_lines(tmp_path):
    first, second = read_brackets(write(tmp_path / "wsj.mrg", PENN))
    assert str(first.tree) == (
        "(ROOT (S (NP-SBJ-1 (NNP Mary)) (VP (VBD seemed) (S (VP (TO to) (VP (VB like) (NP (PRP it)))))) (. .)))"
    )
    assert first == Sentence(
        id="wsj-1",
        text="Mary seemed to like it.",
        forms=("Mary", "seemed", "to", "like", "it", "."),
        xpos=("NNP", "VBD", "TO", "VB", "PRP", "."),
        space_after=(True, True, True, True, False, True),
        tree=first.tree,
    )
    assert second.tree == parse_tree("(S (NP (NNS Dogs)) (VP (VBP bark)))")


@pytest.mark.parametrize(
    "text",
    ["(S (X a))", "((S (X a)))", "( (S (X a)) )", "(ROOT (S (X a)))", "(TOP\n(S\n(X\na)))", "( (ROOT (S (X a))))"],
)
def test_every_wrapping_comes_out_under_one_root(text):
    assert parse_tree(text) == Tree("ROOT", (Tree("S", (Tree("X", ("a",)),)),))


def test_a_lone_pre_terminal_is_a_tree():
    assert parse_tree("(NN dog)") == Tree("ROOT", (Tree("NN", ("dog",)),))
    assert parse_tree("(ROOT (NN a) (NN b))") == Tree("ROOT", (Tree("NN", ("a",)), Tree("NN", ("b",))))


def test_documents_before_a_tab_number_their_own_trees(tmp_path):
    text = "a\t(S (X one))\na\t(S (X two))\nb\t(S (X three))\n(S (X four))\na\t(S (X five))\n"
    got = list(read_brackets(write(tmp_path / "d.trees.tsv", text)))
    assert [(s.id, s.doc) for s in got] == [("a-1", "a"), ("a-2", "a"), ("b-1", "b"), ("d-1", None), ("a-3", "a")]


def test_several_trees_on_a_line_are_several_sentences(tmp_path):
    got = list(read_brackets(write(tmp_path / "x.mrg", "(S (X a)) (S (X b))\n(S (X c))")))
    assert [(s.id, s.text) for s in got] == [("x-1", "a"), ("x-2", "b"), ("x-3", "c")]


def test_trees_without_indentation_are_read_to_their_last_bracket(tmp_path):
    (s,) = read_brackets(write(tmp_path / "x.mrg", "(S\n(NP\n(NN a)\n)\n(VP\n(VB b)))\n"))
    assert s.forms == ("a", "b")


def test_escapes_are_resolved_in_forms_and_leaves():
    tree = parse_tree(r"(X (-LRB- -LRB-) (CD 1\/2) (SYM \*) (`` ``) (X -lsb-x-RSB-) ('' '') (-RRB- -RRB-))")
    assert list(tree.leaves()) == [
        ("-LRB-", "("),
        ("CD", "1/2"),
        ("SYM", "*"),
        ("``", '"'),
        ("X", "[x]"),
        ("''", '"'),
        ("-RRB-", ")"),
    ]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("PRP/I MD/ca RB/n't VB/go ,/, MD/can PRP/you ./?", "I can't go, can you?"),
        ("NNP/Ann POS/'s `/`` NN/cat '/'' VBZ/'s JJ/big ./...", "Ann's \"cat\"'s big..."),
        ('SYM/" NN/a SYM/" CC/and SYM/" NN/b SYM/"', '"a" and "b"'),
        ("NN/x -LRB-/-LRB- NN/y -RRB-/-RRB- :/; $/$ CD/5 NN/%", "x (y); $5%"),
        ("JJ/well HYPH/- VBN/known NNS/dogs POS/'", "well-known dogs'"),
        ("PRP/we MD/can RB/not VB/gon TO/na VB/stay ./!!", "we cannot gonna stay!!"),
        ("``/' NN/a ''/' NN/b", "'a' b"),
    ],
)
def test_text_is_put_together_by_rules_of_spacing(tmp_path, tokens, text):
    leaves = [t.split("/", 1) for t in tokens.split()]
    body = " ".join(f"({tag} {word})" for tag, word in leaves)
    (s,) = read_brackets(write(tmp_path / "x.mrg", f"(S {body})"))
    assert s.text == text
    assert "".join(f + " " * a for f, a in zip(s.forms, s.space_after, strict=True)).rstrip() == s.text


def test_depth_is_bound_by_the_limit_and_not_by_the_interpreter(tmp_path):
    deep = "(X " * 998 + "(NN a)" + ")" * 998
    tree = parse_tree(f"(ROOT {deep})")
    assert str(tree).count("(") == 1000
    (s,) = read_brackets(write(tmp_path / "x.mrg", f"(ROOT {deep})"))
    assert s.forms == ("a",)
    with pytest.raises(DataError, match="more than 1000 levels deep"):
        parse_tree("(X " * 1001 + "(NN a)" + ")" * 1001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected one tree in .*, got 0"),
        ("(A (B c)) (A (B c))", "expected one tree in .*, got 2"),
        ("(A (B c)", "still open"),
        ("(A)", "empty node"),
        ("a", "outside"),
    ],
)
def test_a_string_that_is_not_one_tree_is_refused(text, message):
    with pytest.raises(DataError, match=message):
        parse_tree(text)


def test_after_a_lost_bracket_reading_goes_on_with_the_next_tree(tmp_path):
    lines = [
        "(S (X a))",
        "(S (X b)",
        "(S (X c))",
        "",
        "(S",
        "  (X d)",
        "",
        "(S (X e))",
        "doc\t(S (X f)",
        "doc\t(S (X g))",
    ]
    bad: list[CorpusError] = []
    got = list(read_brackets(write(tmp_path / "x.mrg", "\n".join(lines)), on_error=bad.append))
    assert [s.text for s in got] == ["a", "c", "e", "g"]
    assert [e.line for e in bad] == [2, 5, 9]


def test_an_open_tree_does_not_gather_up_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("sentprobe.corpus.brackets._MAX_TREE_CHARACTERS", 10_000)
    path = write(tmp_path / "x.mrg", "(S (X a)\n" + "(S (X b))\n" * 3000)
    bad: list[CorpusError] = []
    assert len(list(read_brackets(path, on_error=bad.append))) == 3000
    assert [e.line for e in bad] == [1]


@pytest.mark.parametrize("of", [2, 3])
def test_shards_make_the_whole_with_the_same_ids(tmp_path, of):
    lines = [f"d{i // 100}\t(S (X w{i}))" + " (S (X again))" * (i % 50 == 0) for i in range(4 * SHARD_BLOCK + 9)]
    lines[700] = "d7\t(S (X broken)"
    path = write(tmp_path / "x.mrg", "\n".join(lines))
    bad: list[CorpusError] = []
    whole = list(read_brackets(path, on_error=bad.append))
    assert len(bad) == 1
    parts = [s for k in range(of) for s in read_brackets(path, shard=k, of=of, on_error=bad.append)]
    assert len(bad) == 2
    assert sorted(s.id for s in parts) == sorted(s.id for s in whole)
    assert {s.id: s for s in parts} == {s.id: s for s in whole}


WORD = st.text(st.sampled_from("abcÄ.,()[]%'é-"), min_size=1, max_size=5).filter(
    lambda w: "''" not in w and "B-" not in w
)
LABEL = st.sampled_from(["S", "NP-SBJ", "VP", "PP=2", "-LRB-", "."])
NODE = st.recursive(
    st.builds(lambda tag, word: Tree(tag, (word,)), LABEL, WORD),
    lambda inner: st.builds(
        lambda label, kids: Tree(label, tuple(kids)), LABEL, st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)


@given(st.lists(NODE.map(lambda node: Tree("ROOT", (node,))), max_size=4), st.booleans())
def test_what_is_written_reads_back_equal(tmp_path_factory, trees, with_doc):
    out = io.StringIO()
    forms = [tuple(word for _, word in tree.leaves()) for tree in trees]
    doc = "a document" if with_doc else None
    write_brackets([Sentence("s", "", f, tree=t, doc=doc) for f, t in zip(forms, trees, strict=True)], out)
    got = list(read_brackets(write(tmp_path_factory.mktemp("round") / "x.mrg", out.getvalue())))
    assert [s.tree for s in got] == trees
    assert [s.forms for s in got] == forms
    assert {s.doc for s in got} <= {doc}


def test_a_word_with_a_space_is_written_with_a_no_break_space():
    out = io.StringIO()
    write_brackets([Sentence("s", "10 000", ("10 000",), tree=Tree("ROOT", (Tree("CD", ("10 000",)),)))], out)
    assert out.getvalue() == "(ROOT (CD 10\u00a0000))\n"
    assert parse_tree(out.getvalue()) == Tree("ROOT", (Tree("CD", ("10\u00a0000",)),))


def test_a_sentence_without_a_tree_cannot_be_written():
    with pytest.raises(DataError, match="'s' has no tree"):
        write_brackets([Sentence("s", "a", ("a",))], io.StringIO())
