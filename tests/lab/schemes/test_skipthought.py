"""Skip-thought vectors: the recurrence of the authors' code, their files, and nothing unpickled."""

import numpy as np
import pytest

from sentprobe import encoders
from sentprobe.errors import DataError, EncoderError, SentProbeWarning, UsageError
from sentprobe.testing import check_encoder
from sentprobe.testing.encoders import TEXTS_BY_LANGUAGE

WORDS = ["<eos>", "UNK", "the", "cat", "sat", "on", "mat", ".", "ü"]
WORDS += [word for text in TEXTS_BY_LANGUAGE["English"] for word in text.split() if word not in WORDS]
WIDTH, HIDDEN = 4, 5
TEXTS = ["the cat sat on the mat .", "zzz cat", "", "ü half \ud800", "the " * 30]


def weights(rng, prefix):
    shapes = {"W": (WIDTH, 2 * HIDDEN), "b": (2 * HIDDEN,), "U": (HIDDEN, 2 * HIDDEN), "Wx": (WIDTH, HIDDEN),
              "Ux": (HIDDEN, HIDDEN), "bx": (HIDDEN,)}  # fmt: skip
    return {f"{prefix}_{name}": rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def write(folder):
    """The five files as they are released, and the pickles next to them, which nobody needs."""
    rng = np.random.default_rng(0)
    uni, bi = weights(rng, "encoder"), weights(rng, "encoder") | weights(rng, "encoder_r")
    tables = rng.normal(size=(2, len(WORDS), WIDTH)).astype(np.float32)
    np.savez(folder / "uni_skip.npz", Wemb=tables[0][:3], **uni)
    np.savez(folder / "bi_skip.npz", Wemb=tables[0][:3], **bi)
    np.save(folder / "utable.npy", tables[0])
    np.save(folder / "btable.npy", tables[1])
    (folder / "dictionary.txt").write_text("\n".join(WORDS) + "\n", "utf-8")
    (folder / "uni_skip.npz.pkl").write_bytes(b"not read")
    return uni, bi, tables


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("skipthought")
    return folder, *write(folder)


def gru(own, inputs, prefix):
    """``gru_layer`` of skipthoughts.py (ryankiros/skip-thoughts at 6661cad), one sentence in double precision."""

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    h = np.zeros(HIDDEN)
    for x in inputs.astype(np.float64):
        gates = h @ own[f"{prefix}_U"] + x @ own[f"{prefix}_W"] + own[f"{prefix}_b"]
        reset, update = sigmoid(gates[:HIDDEN]), sigmoid(gates[HIDDEN:])
        new = np.tanh(h @ own[f"{prefix}_Ux"] * reset + x @ own[f"{prefix}_Wx"] + own[f"{prefix}_bx"])
        h = update * h + (1 - update) * new
    return h


def expected(files, text, *, eos=False, norm=True):
    _, uni, bi, tables = files
    words = text.replace("\ud800", "\ufffd").split() + ["<eos>"] * eos
    ids = [WORDS.index(word if word in WORDS else "UNK") for word in words]
    if not ids:
        return np.zeros(3 * HIDDEN)
    first, inputs = gru(uni, tables[0][ids], "encoder"), tables[1][ids]
    second = np.concatenate([gru(bi, inputs, "encoder"), gru(bi, inputs[::-1], "encoder_r")])
    parts = [part / np.linalg.norm(part) if norm else part for part in (first, second)]
    return np.concatenate(parts)


@pytest.mark.parametrize("eos", [False, True])
@pytest.mark.parametrize("norm", [False, True])
def test_vectors_are_those_of_the_authors_recurrence(files, eos, norm):
    options = f"tokenise=space&eos={'yes' if eos else 'no'}&norm={'yes' if norm else 'no'}"
    found = encoders.load(f"skipthought:{files[0]}?{options}")(TEXTS)
    np.testing.assert_allclose(found, [expected(files, text, eos=eos, norm=norm) for text in TEXTS], atol=1e-6)


def test_each_model_alone_is_a_part_of_both(files):
    def load(model):
        return encoders.load(f"skipthought:{files[0]}?tokenise=space&model={model}")

    both = load("combine")(TEXTS)
    np.testing.assert_array_equal(np.concatenate([load("uni")(TEXTS), load("bi")(TEXTS)], axis=1), both)
    assert len({load(model).identity for model in ("combine", "uni", "bi")}) == 3


def test_it_follows_the_rules_of_encoders(files):
    pytest.importorskip("nltk")
    encoder = encoders.load(f"skipthought:{files[0]}?tokenise=treebank")
    np.testing.assert_allclose(encoder(["The cat."])[0], expected(files, "The cat ."), atol=1e-6)
    np.testing.assert_allclose(encoder.words(["cat", ""]), [files[3][0][3], np.zeros(WIDTH)])
    check_encoder(encoder)


def test_missing_files_are_named_with_where_they_are_published(tmp_path):
    with pytest.raises(
        EncoderError, match=r"dictionary\.txt, .*uni_skip\.npz, .*http://www\.cs\.toronto\.edu/~rkiros/"
    ):
        encoders.load(f"skipthought:{tmp_path}")
    with pytest.raises(UsageError, match="names no file or folder"):
        encoders.load("skipthought:")
    write(tmp_path)
    (tmp_path / "bi_skip.npz").unlink()
    (tmp_path / "btable.npy").unlink()
    assert encoders.load(f"skipthought:{tmp_path}?model=uni&tokenise=space")(["cat"]).shape == (1, HIDDEN)
    with pytest.raises(EncoderError, match="expected the folder"):
        encoders.load(f"skipthought:{tmp_path / 'utable.npy'}")


def test_pickled_arrays_and_wrong_shapes_are_refused(tmp_path):
    def load():
        return encoders.load(f"skipthought:{tmp_path}?model=uni&tokenise=space")

    uni = write(tmp_path)[0]
    before = load().identity
    np.save(tmp_path / "utable.npy", np.array([["object"]], object), allow_pickle=True)
    with pytest.raises(DataError, match=r"utable\.npy is not a file of numbers"):
        load()
    np.save(tmp_path / "utable.npy", np.zeros((len(WORDS), WIDTH), np.float32))
    assert load().identity != before
    np.savez(tmp_path / "uni_skip.npz", **{**uni, "encoder_U": np.zeros((2, 2), np.float32)})
    with pytest.raises(DataError, match="encoder_U"):
        load()
    np.savez(tmp_path / "uni_skip.npz", **{name: value for name, value in uni.items() if name != "encoder_bx"})
    with pytest.raises(DataError, match="encoder_bx is missing"):
        load()
    (tmp_path / "uni_skip.npz").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match="not a file of numbers"):
        load()


def test_a_dictionary_of_another_length_is_warned_about(tmp_path):
    write(tmp_path)
    (tmp_path / "dictionary.txt").write_text("\n".join([*WORDS, "more"]) + "\n", "utf-8")
    with pytest.warns(SentProbeWarning, match="what is beyond the shortest is not used"):
        encoder = encoders.load(f"skipthought:{tmp_path}?tokenise=space")
    np.testing.assert_array_equal(encoder(["more"]), encoder(["zzz"]))
    (tmp_path / "dictionary.txt").write_text("\n".join(["a"] * len(WORDS)) + "\n", "utf-8")
    with pytest.raises(DataError, match="has no line UNK"):
        encoders.load(f"skipthought:{tmp_path}?tokenise=space")
