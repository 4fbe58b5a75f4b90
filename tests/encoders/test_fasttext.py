"""``fasttext:`` and gensim's ``.kv`` files, against gensim and fastText themselves."""

import pickle

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.encoders.wordvectors import read_vectors
from sentprobe.errors import DataError, UsageError
from tests.encoders.test_hf import assert_near
from tests.encoders.test_wordvectors import as_fasttext, put

gensim = pytest.importorskip("gensim.models")

SENTENCES = ["the miller grinds the corn", "grey geese rest at the pond", "rain ground the mill", "a gristmill", ""]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A FastText model of gensim in fastText's own format."""
    texts = [text.split() for text in SENTENCES[:3]] * 20
    trained = gensim.FastText(texts, vector_size=8, min_count=1, epochs=2, seed=1, workers=1, bucket=300)
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    gensim.fasttext.save_facebook_model(trained, str(path))
    return trained, path


def test_a_sentence_is_the_mean_of_unit_vectors(model):
    trained, path = model
    encoder = load(f"fasttext:{path}")
    units = [[trained.wv[word] / np.linalg.norm(trained.wv[word]) for word in text.split()] for text in SENTENCES]
    wanted = np.stack([np.mean(rows, axis=0) if rows else np.zeros(8) for rows in units]).astype(np.float32)
    assert_near(encoder(SENTENCES), wanted)
    assert encoder.identity == load(f"vec:{path}?pool=unit&case=as-is").identity


@pytest.mark.doors
def test_a_sentence_is_what_fasttext_gives(model):
    fasttext = pytest.importorskip("fasttext")
    original = fasttext.load_model(str(model[1]))
    wanted = np.stack([original.get_sentence_vector(text) for text in SENTENCES])
    assert_near(load(f"fasttext:{model[1]}")(SENTENCES), wanted.astype(np.float32))


def test_words_with_the_zero_vector_do_not_count(tmp_path):
    path = put(tmp_path, b"2 2\nmill 3 4\nnothing 0 0\n", "v.vec")
    assert_near(load(f"vec:{path}?pool=unit")(["mill nothing"]), np.array([[0.6, 0.8]], np.float32))


def test_what_is_no_model_for_sentence_vectors_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"names no file; expected fasttext:MODEL\.bin"):
        load(f"fasttext:{tmp_path / 'none.bin'}")
    path = put(tmp_path, as_fasttext(model=3), "classifier.bin")
    with pytest.raises(UsageError, match=r"is a classifier, whose sentence vectors are not supported; use vec:"):
        load(f"fasttext:{path}")


# gensim's own format


@pytest.mark.parametrize("separately", [[], ["vectors"]])
def test_keyed_vectors_are_read_without_gensim(tmp_path, separately):
    words = ["mill", "côté", "雨"]
    keyed = gensim.KeyedVectors(4)
    keyed.add_vectors(words, np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32))
    path = tmp_path / "a.kv"
    keyed.save(str(path), separately=separately)
    assert (tmp_path / "a.kv.vectors.npy").exists() == bool(separately)
    vectors = read_vectors(path, tmp_path / "cache")
    assert list(vectors.words) == words
    assert np.array_equal(vectors.matrix[np.arange(3)], keyed.vectors)
    assert_near(load(f"vec:{path}")(["mill 雨"]), keyed.vectors[[0, 2]].mean(0, keepdims=True))
    assert len(read_vectors(path, limit=2).words) == 2
    if separately:
        np.save(tmp_path / "a.kv.vectors.npy", keyed.vectors + 1)
        assert np.array_equal(read_vectors(path, tmp_path / "cache").matrix[np.arange(3)], keyed.vectors + 1)


def test_those_of_fasttext_which_lack_the_vectors_of_words_are_refused(model, tmp_path):
    model[0].wv.save(str(tmp_path / "a.kv"))
    with pytest.raises(DataError, match=r"refers to gensim\.models\.fasttext\..*of FastText, save_facebook_model"):
        read_vectors(tmp_path / "a.kv")


class Malice:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_nothing_in_a_pickle_is_run(tmp_path):
    (tmp_path / "a.kv").write_bytes(pickle.dumps({"vectors": Malice(str(tmp_path / "ran"))}))
    with pytest.raises(DataError, match=r"refers to io\.open, .*expected KeyedVectors as gensim 4 saves them.*not run"):
        read_vectors(tmp_path / "a.kv")
    assert not (tmp_path / "ran").exists()


def test_a_pickle_of_something_else_is_refused(tmp_path):
    gensim.Word2Vec([["mill", "corn"]] * 5, vector_size=4, min_count=1, workers=1).save(str(tmp_path / "model.kv"))
    with pytest.raises(DataError, match=r"refers to gensim\.models\.word2vec\.Word2Vec.*save model\.wv"):
        read_vectors(tmp_path / "model.kv")
    (tmp_path / "b.kv").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(DataError, match="has no word vectors; expected KeyedVectors"):
        read_vectors(tmp_path / "b.kv")
