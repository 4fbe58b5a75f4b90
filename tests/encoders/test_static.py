"""wordllama: the same vectors as its own, offline, and without its side effects."""

import importlib.metadata
import logging
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import wordllama

from sentprobe import encoders
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.schemes import static
from sentprobe.errors import EncoderError, NotInstalled, UsageError

TEXTS = ["A cat sat on the mat.", "", "Ünïcödé 猫 🙂", "one", " ", "the the the", "don't!\nnew line", "x" * 500]


@pytest.fixture(scope="module")
def encoder():
    return encoders.load("static:")


@pytest.fixture(scope="module")
def theirs():
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def test_vectors_are_those_of_wordllama(encoder, theirs):
    vectors = encoder(TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, theirs.embed(TEXTS), atol=1e-6)
    assert not vectors[1].any()


@pytest.mark.parametrize("dim", [64, 128, 256])
def test_shorter_vectors_are_the_beginnings_of_the_long_ones(encoder, dim):
    short = encoders.load(f"static:l2_supercat?dim={dim}")
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


def test_the_identity_has_the_package_and_the_content(encoder):
    facts = dict(encoder.identity.facts)
    assert encoder.identity.name == "l2_supercat"
    assert facts["package"] == f"wordllama {importlib.metadata.version('wordllama')}"
    assert facts["dim"] == "256"
    assert len(facts["content"]) == 32


def test_loading_touches_no_network(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert encoders.load("static:")(["offline"]).any()


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("static:?dim=100", UsageError, "expected 256, 128 or 64"),
        ("static:?dims=64", UsageError, "takes dim"),
        ("static:l2_supercat@main", UsageError, "no revisions"),
        ("static:l3_supercat", EncoderError, "it has l2_supercat"),
        ("static:../x", EncoderError, "without a model"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_was_expected(spec, error, message):
    with pytest.raises(error, match=message):
        static.load(Spec.parse(spec))


def test_a_missing_package_is_named_with_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(NotInstalled, match="pip install wordllama"):
        encoders.load("static:")


def test_logging_is_left_as_it_was_and_torch_is_not_loaded():
    code = (
        "import logging, sys\n"
        "from sentprobe import encoders\n"
        "encoders.load('static:')(['text'])\n"
        "root = logging.getLogger()\n"
        "print(root.handlers, root.level, 'torch' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split("\n")[0] == f"[] {logging.WARNING} False"
