from dataclasses import replace

import pytest

from sentprobe.corpus.brackets import parse_tree
from sentprobe.corpus.syntax import (
    base,
    children,
    depth,
    feature,
    features,
    finite,
    finite_verb,
    head_noun,
    height,
    lexical_phrase,
    main_clause,
    root,
    sentence_node,
    subjects,
    subtree,
    tags,
)
from sentprobe.sentence import Tree
from tests.writing import PAINT, PAINT_TREE, STARRED, TWO_CLAUSES, sentence


def test_dependency_questions():
    s = sentence(STARRED)
    assert root(s) == 2
    assert children(s, 2) == (0, 1, 6, 7)
    assert subtree(s, 6) == [3, 4, 5, 6]
    assert subjects(s, 2) == [0]
    assert finite(s, 2) == 1
    assert feature(s, 6, "Number") == "Plur"
    assert feature(s, 3, "Number") is None
    assert base("nsubj:pass") == "nsubj"


def test_depth_counts_words_and_leaves_punctuation_out():
    # "depth 3" is the value Krasnowska-Kieraś and Wróblewska (2019, section 3.2) give for this sentence
    assert depth(sentence(STARRED)) == 3
    deep = sentence(
        """
        a X X _ 2 dep
        b X X _ 3 dep
        c X X _ 0 root
        ! PUNCT . _ 1 punct
        """
    )
    assert depth(deep) == 3


def test_equal_words_may_be_one_object():
    s = sentence(PAINT, tree=PAINT_TREE)
    subject, verb = main_clause(sentence_node(s.tree))
    assert s.tree is not None
    leaf = Tree("VBD", ("said",))
    inner = Tree("VP", (leaf, Tree("NP", (Tree("NN", ("so",)),))))
    said = Tree("ROOT", (Tree("S", (Tree("NP", (leaf, Tree("NN", ("man",)))), inner)),))
    assert finite_verb(replace(s, tree=said), inner) == 2
    assert finite_verb(s, verb) == 2
    assert head_noun(s, subject) == 1


def test_features_of_an_empty_or_odd_string():
    assert features("_") == {}
    assert features("Number=Sing|Case=Nom") == {"Number": "Sing", "Case": "Nom"}


def test_penn_tags_stand_in_for_ud_ones():
    s = sentence(STARRED, upos=None)
    assert tags(s) == ("PRON", "VERB", "VERB", "ADP", "ADJ", "ADJ", "NOUN", "PUNCT")
    assert tags(sentence(STARRED, upos=None, xpos=None)) == ("",) * 8


def test_height_is_the_number_of_nodes_from_root_to_tag():
    # Conneau et al. (2018, section 2): a 22-word sentence of this shape (S over NP, VP over NP) has depth 5
    tree = parse_tree("(ROOT (S (NP (PRP$ my) (NNS fears)) (VP (VBD were) (NP (PRP$ my) (NN business))) (. .)))")
    assert height(tree) == 5
    assert height(parse_tree("(NN dog)")) == 2


def test_main_clause_and_its_parts():
    s = sentence(PAINT, tree=PAINT_TREE)
    subject, verb = main_clause(sentence_node(s.tree))
    assert head_noun(s, subject) == 1
    assert finite_verb(s, verb) == 2
    assert main_clause(parse_tree("(FRAG (NP (NN dog)))")) == (None, None)


NP_VP = "(NP (NNS dogs)) (VP (VBP bark)) (. .)"


@pytest.mark.parametrize(
    ("bracketed", "below"),
    [
        (f"(ROOT (S {NP_VP}))", "NP VP ."),
        (f"(S {NP_VP})", "NP VP ."),
        (f"(ROOT (S (S {NP_VP})))", "NP VP ."),
        (f"(TOP (FRAG (S {NP_VP})))", "NP VP ."),
        (f"(ROOT (HEADING (S (S {NP_VP}))))", "NP VP ."),
        ("(ROOT (S (NP (NP (NN list)) (PP (IN of) (NP (NNS dogs))))))", "NP PP"),
        ("(ROOT (FRAG (NP (NP (NN list)) (PP (IN of) (NP (NNS dogs))))))", "NP PP"),
        ("(ROOT (S (VP (VB go) (ADVP (RB home)))))", "VP"),
        ("(ROOT (FRAG (S (VP (VB go) (ADVP (RB home))))))", "VP"),
        ("(ROOT (VP (VB go) (ADVP (RB home))))", "VB ADVP"),
        ("(ROOT (S (S (VP (VB go))) (. .)))", "S ."),
        ("(ROOT (SBARQ (WHNP (WP who)) (SQ (VP (VBD left))) (. ?)))", "WHNP SQ ."),
    ],
)
def test_nodes_around_the_sentence_are_skipped(bracketed, below):
    assert " ".join(node.category for node in sentence_node(parse_tree(bracketed)).nodes) == below


@pytest.mark.parametrize(
    ("bracketed", "head"),
    [
        ("(NP (DT the) (NN stone) (NN wall))", 2),
        ("(NP (NP (DT the) (NNS roofs)) (PP (IN of) (NP (DT the) (NN town))))", 1),
        ("(NP (NP (NP (DT the) (NN baker) (POS 's))) (NN dog))", None),
        ("(NP (NP (DT the) (NN baker) (POS 's)) (NN dog))", 3),
        ("(NP (NP (DT a) (NN cat)) (CC and) (NP (DT a) (NN dog)))", None),
        ("(NP (PRP she))", None),
        ("(NP (DT the) (NN cat) (, ,))", 1),
    ],
)
def test_head_of_a_noun_phrase(bracketed, head):
    tree = parse_tree(bracketed)
    words = [w for _, w in tree.leaves()]
    rows = "\n".join(f"{w} X X _ {0 if i == 0 else 1} dep" for i, w in enumerate(words))
    s = sentence(rows, tree=bracketed)
    assert head_noun(s, sentence_node(s.tree)) == head


def test_lexical_phrase_is_the_innermost():
    tree = parse_tree("(VP (VBZ has) (VP (VBN been) (VP (VBG eating) (NP (NN fish)))))")
    assert [w for _, w in lexical_phrase(sentence_node(tree)).leaves()] == ["eating", "fish"]


def test_two_clauses_have_their_own_finite_verbs():
    s = sentence(TWO_CLAUSES)
    assert finite(s, 2) == 1
    assert finite(s, 7) == 7
