"""spaCy pipelines: one that is trained in the test, one without a parser, one that is not UD, and a real one."""

import sys

import pytest

spacy = pytest.importorskip("spacy")

from sentprobe.annotate.annotator import load_annotator  # noqa: E402
from sentprobe.errors import NotInstalled, UsageError  # noqa: E402
from sentprobe.testing import check_annotator  # noqa: E402

SENTENCES = (
    ("The dog barks .", "DET NOUN VERB PUNCT", (1, 2, 2, 2), "det nsubj ROOT punct"),
    ("A cat sees the dog .", "DET NOUN VERB DET NOUN PUNCT", (1, 2, 2, 4, 2, 2), "det nsubj ROOT det obj punct"),
)
CLEAR = {"obj": "dobj"}


def trained(folder, rename=None, updates=60):
    """A pipeline with a tagger and a parser that know two sentences by heart."""
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    for pipe, more in (("morphologizer", {}), ("parser", {"min_action_freq": 1})):
        nlp.add_pipe(pipe, config={**more, "model": {"tok2vec": {
            "@architectures": "spacy.HashEmbedCNN.v2", "width": 16, "depth": 1, "embed_size": 100, "window_size": 1,
            "maxout_pieces": 2, "subword_features": False, "pretrained_vectors": None}}})  # fmt: skip
    examples = []
    for text, tags, heads, relations in SENTENCES:
        words = text.split()
        facts = {"words": words, "pos": tags.split(), "heads": list(heads), "morphs": ["Number=Sing"] * len(words),
                 "deps": [(rename or {}).get(r, r) for r in relations.split()]}  # fmt: skip
        examples.append(Example.from_dict(spacy.tokens.Doc(nlp.vocab, words), facts))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(updates):
        nlp.update(examples, sgd=optimizer)
    nlp.meta |= {"version": "1.2.3", "license": "CC0", "sources": [{"name": "UD English Tiny"}]}
    nlp.to_disk(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("spacy") / "tiny")


def test_what_is_known_of_a_pipeline(tiny):
    model = load_annotator(f"spacy:{tiny}").model
    assert (model.version, model.licence, model.language, model.universal) == ("1.2.3", "CC0", "en", True)
    assert model.software == f"spaCy {spacy.__version__}"
    assert model.columns == ("upos", "feats", "heads", "deprels")
    assert model.splits
    assert "It was trained on UD English Tiny." in model.notes
    assert any("multi-word tokens" in note for note in model.notes)


def test_sentences_have_the_pipeline_s_columns_and_the_text_s_spaces(tiny):
    (some,) = load_annotator(f"spacy:{tiny}").annotate(["A cat sees the dog."], True)
    (found,) = some
    assert found.text == "A cat sees the dog."
    assert found.forms == ("A", "cat", "sees", "the", "dog", ".")
    assert found.upos == ("DET", "NOUN", "VERB", "DET", "NOUN", "PUNCT")
    assert found.feats == ("Number=Sing",) * 6
    assert found.heads == (1, 2, -1, 4, 2, 2)
    assert found.deprels == ("det", "nsubj", "root", "det", "obj", "punct")
    assert found.space_after == (True, True, True, True, False, False)
    assert found.lemmas is None
    assert found.xpos is None


def test_white_space_is_no_word(tiny):
    (some,) = load_annotator(f"spacy:{tiny}").annotate(["  The  dog\nbarks . "], True)
    assert some[0].forms == ("The", "dog", "barks", ".")
    assert max(some[0].heads) < 4
    assert some[0].heads.count(-1) >= 1


def test_text_that_is_split_is_not_split_again(tiny):
    load = load_annotator(f"spacy:{tiny}")
    text = "The dog barks. A cat sees the dog. The dog barks."
    assert [len(some) for some in load.annotate([text, text], True)] == [1, 1]


def test_it_follows_the_rules(tiny):
    check_annotator(load_annotator(f"spacy:{tiny}"))


def test_relations_that_are_not_ud_are_said_to_be_none(tmp_path):
    model = load_annotator(f"spacy:{trained(tmp_path / 'clear', CLEAR, updates=1)}").model
    assert not model.universal
    assert model.notes[0] == "Its relations are not those of Universal Dependencies: dobj, …."


def test_a_pipeline_without_a_parser_fills_what_it_has(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "split")
    load = load_annotator(f"spacy:{tmp_path / 'split'}")
    assert load.model.columns == ()
    assert load.model.splits
    (some,) = load.annotate(["He left. She left."], False)
    assert [s.text for s in some] == ["He left.", "She left."]
    assert some[0].heads is None
    spacy.blank("en").to_disk(tmp_path / "blank")
    assert not load_annotator(f"spacy:{tmp_path / 'blank'}").model.splits


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("spacy:", "needs the name of a pipeline"),
        ("spacy:xx_none_sm", r"no spaCy pipeline 'xx_none_sm' here\..*python -m spacy download xx_none_sm"),
        ("spacy:.", "cannot be loaded"),
    ],
)
def test_a_pipeline_that_is_missing_is_not_fetched(typed, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=message):
        load_annotator(typed)


def test_spacy_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(NotInstalled, match=r"pip install .*\[annotate\]"):
        load_annotator("spacy:fr_core_news_sm")


def test_a_real_pipeline_follows_the_rules():
    pytest.importorskip("fr_core_news_sm")
    load = load_annotator("spacy:fr_core_news_sm")
    check_annotator(load)
    assert load.model.universal
    assert load.model.columns == ("lemmas", "upos", "feats", "heads", "deprels")
