"""``spacy:`` against spaCy's own ``doc.vector``."""

import sys

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.errors import EncoderError, NotInstalled, UsageError
from tests.encoders.test_hf import assert_near

spacy = pytest.importorskip("spacy")

TEXTS = ["Le meunier moud le blé.", "Des oies grises !", "", "Pluie"]


def expected(nlp, width):
    docs = [nlp(text) for text in TEXTS]
    return np.stack([doc.vector if len(doc) else np.zeros(width) for doc in docs]).astype(np.float32)


def test_states_of_a_pipeline_without_word_vectors():
    pytest.importorskip("fr_core_news_sm")
    encoder = load("spacy:fr_core_news_sm")
    assert_near(encoder(TEXTS), expected(spacy.load("fr_core_news_sm"), encoder.width))
    assert_near(np.concatenate([encoder([text]) for text in TEXTS]), encoder(TEXTS))
    assert encoder.languages == ("fr",)
    assert dict(encoder.identity.facts)["revision"].startswith("blake2b:")


@pytest.fixture
def pipeline(tmp_path):
    """A pipeline with word vectors."""
    nlp = spacy.blank("fr")
    nlp.vocab.reset_vectors(shape=(3, 5))
    generator = np.random.default_rng(4)
    for word in ("Le", "meunier", "Pluie"):
        nlp.vocab.set_vector(word, generator.normal(size=5).astype(np.float32))
    nlp.to_disk(tmp_path / "fr_mill")
    return tmp_path / "fr_mill"


def test_word_vectors_of_a_pipeline(pipeline):
    encoder = load(f"spacy:{pipeline}")
    assert_near(encoder(TEXTS), expected(spacy.load(pipeline), 5))
    before = encoder.identity
    meta = (pipeline / "meta.json").read_text()
    (pipeline / "meta.json").write_text(meta + " ")
    assert load(f"spacy:{pipeline}").identity != before


def test_a_pipeline_without_vectors_is_refused(tmp_path):
    spacy.blank("fr").to_disk(tmp_path / "blank")
    with pytest.raises(EncoderError, match=r"has neither word vectors nor a component tok2vec; use hf:"):
        load(f"spacy:{tmp_path / 'blank'}")
    with pytest.raises(UsageError, match="There is no spaCy pipeline 'fr_core_news_xs' here"):
        load("spacy:fr_core_news_xs")
    with pytest.raises(UsageError, match="needs the name of a pipeline"):
        load("spacy:")


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(NotInstalled, match=r"spacy: needs spacy, .*: pip install .*\[annotate\]"):
        load("spacy:fr_core_news_sm")
