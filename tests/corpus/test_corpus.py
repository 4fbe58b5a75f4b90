"""Corpora: named streams of sentences, whole or in shards, with trees joined to them."""

import gzip
import io
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sentprobe.corpus import Corpus, Sentence, Tree, spool
from sentprobe.corpus.brackets import parse_tree
from sentprobe.corpus.corpus import digest_of
from sentprobe.corpus.files import SHARD_BLOCK
from sentprobe.errors import CorpusError, DataError, UsageError


def block(*words, doc=None, id=None):
    lines = [f"# newdoc id = {doc}\n"] if doc else []
    lines += [f"# sent_id = {id}\n"] if id else []
    for i, word in enumerate(words, 1):
        lines.append(f"{i}\t{word}\t{word}\tX\t_\t_\t{i - 1}\t{'dep' if i > 1 else 'root'}\t_\t_\n")
    return "".join(lines) + "\n"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("names", "name", "language"),
    [
        (["fr_sequoia-ud-train.conllu", "fr_sequoia-ud-dev.conllu"], "fr_sequoia", "fr"),
        (["en_gum-dev.conllu"], "en_gum", "en"),
        (["kmr_mg-ud-test.conllu"], "kmr_mg", "kmr"),
        (["en_ewt-ud-dev.conllu", "fr_gsd-ud-dev.conllu"], "en_ewt+fr_gsd", None),
        (["en_ewt-ud-dev.conllu", "en_gum-ud-dev.conllu"], "en_ewt+en_gum", "en"),
        (["en_ewt-ud-dev.conllu", "notes.conllu"], "en_ewt+notes", None),
        (["my_corpus.conllu"], "my_corpus", None),
        ([f"f{i}.conllu" for i in range(9)], "f0+8", None),
    ],
)
def test_name_and_language_are_guessed_from_ud_file_names(tmp_path, names, name, language):
    corpus = Corpus.read(*(write(tmp_path / n, "") for n in names))
    assert (corpus.name, corpus.language) == (name, language)


def test_a_given_name_and_language_win(tmp_path):
    corpus = Corpus.read(write(tmp_path / "fr_gsd-ud-dev.conllu", ""), name="mine", language="xx")
    assert (corpus.name, corpus.language) == ("mine", "xx")


def test_files_of_all_kinds_are_read_in_order(tmp_path):
    files = [
        write(tmp_path / "a.conllu", block("one", "two")),
        write(tmp_path / "b.mrg", "(S (X three))\n"),
        write(tmp_path / "c.txt", "four five\n"),
    ]
    corpus = Corpus.read(*files)
    assert [s.forms for s in corpus] == [("one", "two"), ("three",), ("four", "five")]
    assert [s.forms for s in corpus] == [s.forms for s in corpus.sentences()]


def test_the_format_can_be_said(tmp_path):
    path = write(tmp_path / "x.dat", "not a tree, a sentence\n")
    with pytest.raises(UsageError, match="pass the format"):
        Corpus.read(path)
    assert len(list(Corpus.read(path, format="text"))) == 1
    with pytest.raises(UsageError, match=r"no corpus format 'conlu'.*did you mean 'conllu'"):
        Corpus.read(path, format="conlu")


def test_a_corpus_survives_pickling_and_does_not_print_its_sentences(tmp_path):
    read = Corpus.read(write(tmp_path / "a.conllu", block("one")))
    held = Corpus.of([Sentence("s", "zebra", ("zebra",))], name="mine", language="en")
    for corpus in (read, held):
        copy = pickle.loads(pickle.dumps(corpus))
        assert copy == corpus
        assert list(copy) == list(corpus)
    assert "zebra" not in repr(held)


@pytest.mark.parametrize("of", [2, 3, 8])
def test_shards_make_the_whole_and_small_files_spread_over_them(tmp_path, of):
    for i in range(of * 2):
        write(tmp_path / f"{i:02}.conllu", "".join(block(f"w{j}", id=f"{i}-{j}") for j in range(10)))
    big = "".join(block(f"w{j}", id=f"big-{j}") for j in range(3 * SHARD_BLOCK))
    write(tmp_path / "zz.conllu", big)
    corpus = Corpus.read(str(tmp_path))
    shards = [[s.id for s in corpus.sentences(k, of)] for k in range(of)]
    assert sorted(i for shard in shards for i in shard) == sorted(s.id for s in corpus)
    assert all(len(shard) >= 20 for shard in shards)


def test_sentences_in_memory_are_sharded_too():
    corpus = Corpus.of([Sentence(str(i), "a", ("a",)) for i in range(2 * SHARD_BLOCK + 3)])
    first, second = (list(corpus.sentences(k, 2)) for k in range(2))
    assert (len(first), len(second)) == (SHARD_BLOCK + 3, SHARD_BLOCK)
    assert sorted(first + second, key=lambda s: int(s.id)) == list(corpus)
    assert list(Corpus.of([])) == []


def test_the_built_in_corpus_is_the_grammar_in_order(monkeypatch):
    monkeypatch.setattr(spool, "sentence", lambda index, seed: Sentence(f"{seed}/{index}", "a", ("a",)))
    corpus = Corpus.synthetic(SHARD_BLOCK + 7, seed=5)
    assert (corpus.name, corpus.language, corpus.is_synthetic) == ("builtin", "en", True)
    assert [s.id for s in corpus] == [f"5/{i}" for i in range(SHARD_BLOCK + 7)]
    assert [s.id for s in corpus.sentences(1, 2)] == [f"5/{i}" for i in range(SHARD_BLOCK, SHARD_BLOCK + 7)]
    assert not Corpus.of([]).is_synthetic
    with pytest.raises(UsageError, match="at least 1"):
        Corpus.synthetic(0)


@pytest.mark.parametrize(("shard", "of"), [(2, 2), (-1, 2), (0, 0)])
def test_a_shard_that_is_not_there_is_wrong_use(shard, of):
    with pytest.raises(UsageError, match="shard"):
        Corpus.of([]).sentences(shard, of)


def test_on_bad_gets_the_faults_of_all_files(tmp_path):
    for name in "ab":
        write(tmp_path / f"{name}.conllu", block("one") + "1\tbroken\n\n" + block("two"))
    bad: list[CorpusError] = []
    assert len(list(Corpus.read(str(tmp_path)).sentences(on_error=bad.append))) == 4
    assert [(Path(e.path).name, e.line) for e in bad] == [("a.conllu", 3), ("b.conllu", 3)]


def test_standard_input_is_spooled_once_and_can_be_read_again(monkeypatch):
    data = gzip.compress((block("one") + block("two")).encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    corpus = Corpus.read("-")
    assert corpus.name == "stdin"
    assert [s.forms for s in corpus] == [s.forms for s in corpus] == [("one",), ("two",)]


def test_the_spooled_file_is_gone_at_exit():
    code = "import sentprobe.corpus as c; r = c.Corpus.read('-'); print(len(list(r)), r.files[0])"
    done = subprocess.run([sys.executable, "-c", code], input=block("one"), capture_output=True, text=True, check=True)
    count, _, path = done.stdout.strip().partition(" ")
    assert count == "1"
    assert not Path(path).exists()


def test_importing_the_corpus_package_does_not_import_numpy():
    code = "import sys, sentprobe.corpus; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# --- joining trees


def test_trees_are_joined_by_document_and_words(tmp_path):
    deps = write(tmp_path / "a.conllu", block("Yes", doc="d1") + block("Yes", doc="d2") + block("No") + block("Oh"))
    trees = write(tmp_path / "a.trees.tsv", "d1\t(S (UH Yes))\nd2\t(INTJ (RB Yes))\nd1\t(S (RB No))\nd2\t(S (UH Oh))\n")
    first, second, third, fourth = Corpus.read(deps, trees=trees)
    assert first.tree == parse_tree("(S (UH Yes))")
    assert second.tree == parse_tree("(INTJ (RB Yes))")
    assert third.tree is None  # the document is known on both sides, and this tree is not of it
    assert fourth.tree == parse_tree("(S (UH Oh))")
    assert (first.xpos, second.xpos, third.xpos) == (("UH",), ("RB",), None)


@pytest.mark.parametrize(("dep_doc", "tree_doc"), [(None, None), ("d", None), (None, "d"), ("d", "other")])
def test_words_alone_join_where_a_document_is_unknown_on_either_side(tmp_path, dep_doc, tree_doc):
    deps = write(tmp_path / "a.conllu", block("Yes", "sir", doc=dep_doc))
    tree = "(S (UH Yes) (NN sir))\n"
    (s,) = Corpus.read(deps, trees=[write(tmp_path / "a.mrg", f"{tree_doc}\t{tree}" if tree_doc else tree)])
    assert s.tree == parse_tree(tree)


def test_joined_leaves_are_the_dependency_forms_whatever_the_escapes(tmp_path):
    words = ("(", "“", "l’eau", "”", "–", "…", ")", "10 000")
    tree = "(X (-LRB- -LRB-) (`` ``) (NN l'eau) ('' '') (: --) (: ...) (-RRB- -RRB-) (CD 10\u00a0000))"
    deps = write(tmp_path / "a.conllu", block(*words))
    (s,) = Corpus.read(deps, trees=write(tmp_path / "a.mrg", tree))
    assert s.tree is not None
    assert tuple(word for _, word in s.tree.leaves()) == s.forms == words
    assert s.xpos == ("-LRB-", "``", "NN", "''", ":", ":", "-RRB-", "CD")


def test_xpos_of_the_dependency_file_are_kept(tmp_path):
    deps = write(tmp_path / "a.conllu", block("a").replace("\tX\t_\t", "\tX\town\t"))
    (s,) = Corpus.read(deps, trees=write(tmp_path / "a.mrg", "(S (DT a))"))
    assert s.xpos == ("own",)


def test_nothing_joined_is_an_error_that_shows_a_pair(tmp_path):
    deps = write(tmp_path / "a.conllu", block("a", "b", doc="d"))
    corpus = Corpus.read(deps, trees=write(tmp_path / "a.mrg", "(S (X c) (X d))"))
    with pytest.raises(DataError, match=r"'a b' in document 'd', the first tree 'c d' in document None"):
        list(corpus)
    with pytest.raises(DataError, match="no tree"):
        list(Corpus.read(deps, trees=write(tmp_path / "b.mrg", "")))


def test_a_shard_where_nothing_joins_is_fine_when_another_shard_has_trees(tmp_path):
    deps = write(tmp_path / "a.conllu", "".join(block(f"w{i}") for i in range(2 * SHARD_BLOCK)))
    corpus = Corpus.read(deps, trees=write(tmp_path / "a.mrg", "(S (X w0))"))
    first, second = (list(corpus.sentences(k, 2)) for k in range(2))
    assert [s.tree is not None for s in first] == [True] + [False] * (SHARD_BLOCK - 1)
    assert all(s.tree is None for s in second)
    nothing = Corpus.read(deps, trees=write(tmp_path / "b.mrg", "(S (X other))"))
    with pytest.raises(DataError, match="the first tree 'other'"):
        list(nothing.sentences(1, 2))


def test_a_tree_file_that_changes_is_read_again(tmp_path):
    deps = write(tmp_path / "a.conllu", block("a"))
    corpus = Corpus.read(deps, trees=write(tmp_path / "a.mrg", "(S (X a))"))
    (before,) = corpus
    write(tmp_path / "a.mrg", "(LONGER (X a))")
    (after,) = corpus
    assert (before.tree, after.tree) == (parse_tree("(S (X a))"), parse_tree("(LONGER (X a))"))


# --- digest

WHOLE = Sentence(
    id="s",
    text="du pain",
    forms=("de", "le", "pain"),
    lemmas=("de", "le", "pain"),
    upos=("ADP", "DET", "NOUN"),
    xpos=("P", "D", "N"),
    feats=("_", "_", "Number=Sing"),
    heads=(2, 2, -1),
    deprels=("case", "det", "root"),
    space_after=(False, True, True),
    mwts=((0, 2, "du"),),
    doc="d",
    tree=Tree("ROOT", (Tree("N", ("pain",)),)),
)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "t"},
        {"text": "du  pain"},
        {"forms": ("de", "la", "pain")},
        {"lemmas": None},
        {"lemmas": ("de", "le", "Pain")},
        {"upos": ("ADP", "DET", "VERB")},
        {"xpos": None},
        {"feats": ("_", "_", "_")},
        {"heads": (1, 2, -1)},
        {"deprels": ("case", "case", "root")},
        {"mwts": ()},
        {"doc": None},
        {"tree": None},
        {"upos": ("P", "D", "N"), "xpos": ("ADP", "DET", "NOUN")},
    ],
    ids=str,
)
def test_the_digest_of_a_sentence_depends_on_every_column(change):
    assert digest_of(WHOLE) == digest_of(replace(WHOLE))
    assert digest_of(WHOLE) != digest_of(replace(WHOLE, **change))
    assert 0 <= digest_of(WHOLE) < 1 << 128


def test_the_digest_of_a_corpus_does_not_depend_on_order_but_on_every_sentence():
    some = [replace(WHOLE, id=str(i)) for i in range(20)]
    digest = Corpus.of(some).digest
    assert len(digest) == 16
    assert int(digest, 16) >= 0
    assert Corpus.of(some[::-1]).digest == digest
    assert Corpus.of(some[:-1]).digest != digest
    assert Corpus.of([*some, some[0]]).digest != digest


def test_the_digest_is_the_same_in_every_process_and_release():
    # computed with this function when it was written; a change breaks every manifest that was ever saved
    assert f"{digest_of(WHOLE):032x}" == "4422815c189beb831fd2a443e6dc8fca"
