"""The real package, with tiny models that its own training code makes; see tiny_stanza.py."""

import shutil
import sys

import pytest

from sentprobe import Corpus
from sentprobe.annotate.annotator import load_annotator
from sentprobe.annotate.request import AnnotationRequest, find_inputs
from sentprobe.annotate.run import annotate_corpus
from sentprobe.core.resources import single_threaded
from sentprobe.errors import AnnotatorError, NotInstalled, UsageError

TEXT = "I don't know the old teacher. The dogs sleep."


@pytest.fixture(autouse=True)
def one_thread():
    with single_threaded():
        yield


@pytest.fixture(scope="module")
def loaded(stanza_models):
    return load_annotator(f"stanza:en?dir={stanza_models}")


def test_its_card(loaded):
    model = loaded.model
    assert (model.name, model.language, model.universal, model.splits) == ("en default", "en", True, True)
    assert model.software.startswith("Stanza 1.")
    assert set(model.columns) == {"upos", "xpos", "feats", "lemmas", "heads", "deprels", "tree"}
    assert len(model.version) == 16


def test_sentences_columns_and_trees(loaded):
    found, none, (short,) = loaded.annotate([TEXT, "", "She left"], False)
    assert " ".join(s.text for s in found) == TEXT
    assert none == []
    assert short.text == "She left"
    assert "don't" in found[0].tokens
    assert found[0].mwts == ((1, 3, "don't"),)
    assert found[0].forms[:4] == ("I", "do", "n't", "know")
    for sentence in (*found, short):
        assert sentence.columns == {"upos", "xpos", "feats", "lemmas", "heads", "deprels", "tree"}
        assert all(-1 <= head < len(sentence) for head in sentence.heads)
        assert sentence.tree.label == "ROOT"
        assert tuple(word for _, word in sentence.tree.leaves()) == sentence.forms


def test_a_sentence_that_is_split_is_not_split_further(loaded):
    ((one,), (two,)) = loaded.annotate([TEXT, "She left"], True)
    assert (one.text, two.text) == (TEXT, "She left")
    ((short,),) = loaded.annotate(["She left"], False)
    assert short.text == "She left"


def test_without_trees(stanza_models):
    loaded = load_annotator(f"stanza:english?dir={stanza_models}&constituency=0")
    assert "tree" not in loaded.model.columns
    ((one,),) = loaded.annotate(["She left"], True)
    assert one.tree is None


def test_models_that_are_missing(stanza_models, tmp_path):
    with pytest.raises(
        UsageError, match=r'there are no models in .*python -c "import stanza; stanza\.download\(\'fr\''
    ):
        load_annotator(f"stanza:fr?dir={tmp_path}")
    with pytest.raises(UsageError, match=r"Stanza has no language 'engl', by .*Did you mean english"):
        load_annotator(f"stanza:engl?dir={stanza_models}")
    with pytest.raises(UsageError, match=r"Stanza has no package 'defalt' for en, by .*Did you mean default"):
        load_annotator(f"stanza:en?dir={stanza_models}&package=defalt")
    copy = tmp_path / "copy"
    shutil.copytree(stanza_models, copy)
    (copy / "en" / "depparse" / "tiny.pt").unlink()
    with pytest.raises(UsageError, match=r"stanza:en: there is no .*depparse/tiny\.pt\. Download them: .*depparse"):
        load_annotator(f"stanza:en?dir={copy}")
    (copy / "en" / "depparse" / "tiny.pt").write_bytes(b"no model")
    with pytest.raises(AnnotatorError, match="cannot be loaded"):
        load_annotator(f"stanza:en?dir={copy}")
    (copy / "en" / "constituency" / "tiny.pt").unlink()
    with pytest.raises(UsageError, match=r"there is no .*constituency/tiny\.pt"):
        load_annotator(f"stanza:en?dir={copy}&constituency=1")
    shutil.copy(stanza_models / "en" / "depparse" / "tiny.pt", copy / "en" / "depparse" / "tiny.pt")
    assert "tree" not in load_annotator(f"stanza:en?dir={copy}").model.columns
    shutil.rmtree(copy / "en" / "pretrain")
    with pytest.raises((UsageError, AnnotatorError), match="cannot be loaded"):
        load_annotator(f"stanza:en?dir={copy}")


def test_what_was_typed_is_checked(stanza_models, monkeypatch):
    with pytest.raises(UsageError, match="needs a language, such as stanza:fr"):
        load_annotator("stanza:")
    with pytest.raises(UsageError, match="has constituency=yes; expected 0 or 1"):
        load_annotator(f"stanza:en?dir={stanza_models}&constituency=yes")
    monkeypatch.setitem(sys.modules, "stanza", None)
    with pytest.raises(NotInstalled, match=r"pip install .*\[stanza\]"):
        load_annotator("stanza:en")


def test_trees_go_to_a_file_of_their_own_and_are_joined_again(stanza_models, tmp_path):
    """From text to the columns that tasks on constituents read."""
    (tmp_path / "news.txt").write_text(f"{TEXT}\n\nShe left (I know).\n")
    request = AnnotationRequest(f"stanza:en?dir={stanza_models}", find_inputs([str(tmp_path / "news.txt")]))
    written = annotate_corpus(request, tmp_path / "news.conllu", progress=lambda *_: None)
    assert written.trees == tmp_path / "news.trees"
    plain = list(Corpus.read(written.path))
    joined = list(Corpus.read(written.path, trees=[written.trees]))
    assert [s.tree for s in plain] == [None] * len(plain)
    assert [tuple(word for _, word in s.tree.leaves()) for s in joined] == [s.forms for s in plain]
    assert any("(" in form for form in joined[-1].forms)
