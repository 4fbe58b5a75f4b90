import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

from sentprobe import load_encoder
from sentprobe.errors import UsageError
from sentprobe.lab.training.card import card_text
from sentprobe.lab.training.train import train
from tests.lab.training.prepared import different, prepare, request, write

SIZES = {"hidden": 8}


@pytest.fixture(scope="module")
def texts():
    return different(30)


@pytest.fixture(scope="module")
def source(texts, tmp_path_factory):
    return write(tmp_path_factory.mktemp("none") / "texts.tsv", [(text,) for text in texts])


def vectors(folder, texts, query=""):
    return load_encoder(f"trained:{folder.path}{query}")(texts)


def test_same_seed_same_vectors_and_those_of_the_random_twin(texts, source, tmp_path):
    def make(name, seed):
        return train(
            request("none", "bilstm-max", source, settings=SIZES, options={"seed": seed}), tmp_path / name
        )  # fmt: skip

    one, again, other = make("one", 3), make("again", 3), make("other", 4)
    np.testing.assert_array_equal(vectors(one, texts), vectors(again, texts))
    np.testing.assert_array_equal(vectors(one, texts), vectors(one, texts, "?random=3"))
    np.testing.assert_array_equal(vectors(one, texts, "?random=4"), vectors(other, texts))
    assert not np.allclose(vectors(one, texts), vectors(other, texts))
    assert ", random vectors, " in card_text(one)
    assert [c.name for c in one.checkpoints()] == ["epoch-000"]


def test_word_vectors_are_enough(tmp_path):
    file = tmp_path / "words.vec"
    file.write_text("3 4\n" + "".join(f"{word} {n} {n + 1} 0 1\n" for n, word in enumerate(("the", "cat", "sleeps"))))
    folder = train(request("none", "bilstm-max", settings=SIZES, vectors=str(file), width=4), tmp_path / "out")
    assert list(folder.vocabulary.words) == ["the", "cat", "sleeps"]
    assert folder.config["rows"] == {}
    assert vectors(folder, ["the cat sleeps", "the cat"]).shape == (2, 16)


def test_something_must_say_which_words_there_are(tmp_path):
    with pytest.raises(UsageError, match="Name word vectors with --vectors, or texts with --train"):
        prepare(tmp_path, request("none", "bilstm-max", settings=SIZES))
