"""tf-idf: scikit-learn's weights from a text of one's own, sparse, and of nothing else."""

import gzip

import numpy as np
import pytest
from scipy.sparse import issparse

from sentprobe import encoders, evaluate
from sentprobe.encoders.diagnosis import diagnose
from sentprobe.encoders.embed import embed
from sentprobe.errors import DataError, UsageError
from sentprobe.testing import check_encoder
from sentprobe.testing.encoders import TEXTS_BY_LANGUAGE
from tests.serve.runs import sentence_length

LINES = ["The cat sat on the mat .", "the dog sat", "A cat , a dog , a river", "", *TEXTS_BY_LANGUAGE["English"]]
TEXTS = ["the cat and the dog", "A CAT A cat", "", "zzz", "river mat mat mat"]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(LINES) + "\n", "utf-8")
    return path


@pytest.mark.parametrize(("options", "norm"), [("", "l2"), ("&norm=no", None)])
def test_weights_are_those_of_scikit_learn(corpus, options, norm):
    from sklearn.feature_extraction.text import TfidfVectorizer

    other = TfidfVectorizer(tokenizer=str.split, token_pattern=None, norm=norm).fit(filter(None, LINES))
    encoder = encoders.load(f"tfidf:{corpus}?tokenise=space{options}")
    assert encoder.vocabulary == tuple(other.get_feature_names_out())
    np.testing.assert_allclose(encoder(TEXTS), other.transform(TEXTS).toarray(), rtol=1e-6)


def test_vectors_are_sparse_and_the_same_dense(corpus):
    encoder = encoders.load(f"tfidf:{corpus}")
    found = encoder.sparse_vectors(TEXTS)
    assert issparse(found)
    np.testing.assert_array_equal(found.toarray(), encoder(TEXTS))
    assert np.diff(found.indptr).tolist() == [3, 2, 0, 0, 2]
    np.testing.assert_array_equal(encoder.sparse_words(["cat"]).toarray(), encoder.words(["cat"]))
    assert encoder([]).shape == (0, len(encoder.vocabulary))


def test_only_the_most_frequent_words_have_a_dimension(corpus):
    assert encoders.load(f"tfidf:{corpus}?words=3").vocabulary == ("a", "dog", "the")
    cased = encoders.load(f"tfidf:{corpus}?case=as-is")
    assert {"The", "the"} <= set(cased.vocabulary)


def test_the_identity_is_what_was_counted(corpus, tmp_path):
    before = encoders.load(f"tfidf:{corpus}").identity
    packed = tmp_path / "corpus.txt.gz"
    packed.write_bytes(gzip.compress(corpus.read_bytes()))
    assert dict(encoders.load(f"tfidf:{packed}").identity.facts) == dict(before.facts)
    for options in ("?words=5", "?norm=no", "?case=as-is", "?tokenise=space"):
        assert encoders.load(f"tfidf:{corpus}{options}").identity != before
    corpus.write_text("\n".join([*LINES, "cat"]) + "\n", "utf-8")
    assert encoders.load(f"tfidf:{corpus}").identity != before


def test_it_follows_the_rules_of_encoders(corpus):
    check_encoder(encoders.load(f"tfidf:{corpus}"))


def test_a_text_that_does_not_fit_the_sets_is_noticed(corpus):
    encoder = encoders.load(f"tfidf:{corpus}")
    texts = [f"zzz{i}" for i in range(30)] + ["the cat"]
    (symptom,) = diagnose(encoder, embed(encoder, texts, sparse=True))
    assert (symptom.code, symptom.message[:20]) == ("zero-vectors", "30 of 31 texts have ")
    assert diagnose(encoder, embed(encoder, ["the cat", "the dog", "a river"], sparse=True)) == []


def test_a_run_keeps_it_sparse(corpus, tmp_path, monkeypatch):
    from sentprobe.encoders.schemes.tfidf import Tfidf

    monkeypatch.setattr(Tfidf, "__call__", lambda *_: pytest.fail("it was made dense"))
    found = evaluate([f"tfidf:{corpus}"], [sentence_length()], tmp_path / "run", baselines=())
    assert [result.cell.encoder for result in found.results if result.cell.encoder.startswith("tfidf")]
    assert not found.failures


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("tfidf:", UsageError, "sentprobe sentences SET --split train"),
        ("tfidf:nothing.txt", DataError, "nothing.txt"),
        ("tfidf:x?words=0", UsageError, "words=0"),
        ("tfidf:x?pool=mean", UsageError, "takes case, norm, tokenise, words"),
    ],
)
def test_wrong_names_are_explained(spec, error, message):
    with pytest.raises(error, match=message):
        encoders.load(spec)


def test_an_empty_text_is_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(DataError, match="has no words"):
        encoders.load(f"tfidf:{tmp_path / 'empty.txt'}")
