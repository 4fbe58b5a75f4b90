"""Conformance: an encoder that keeps the rules passes, and one that breaks any is told which."""

import itertools

import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.encoders.schemes.npy import write_vectors
from sentprobe.encoders.schemes.vec import Pooled
from sentprobe.encoders.wordvectors import WordVectors
from sentprobe.testing import examine_encoder
from sentprobe.testing.encoders import TEXTS_BY_LANGUAGE


def good(texts):
    return np.array([[len(t), sum(map(ord, t)) % 101, 1.0] for t in texts])


def warned(encoder):
    return {v.rule: v.detail for v in examine_encoder(encoder) if v.warning}


def failed(encoder):
    return {v.rule: v.detail for v in examine_encoder(encoder) if not v.passed}


def test_a_sound_encoder_passes():
    assert failed(good) == {}
    assert failed(load("baseline:random")) == {}
    assert warned(load("static:")) == {}
    # which knows nothing but lengths, and is not taken for broken
    assert failed(load("baseline:length")) == warned(load("baseline:length")) == {}


def test_an_encoder_of_one_language_is_alive():
    words = sorted({word for texts in TEXTS_BY_LANGUAGE.values() for text in texts for word in text.split()})
    for language, texts in TEXTS_BY_LANGUAGE.items():
        own = sorted({word for text in texts for word in text.split()})
        matrix = np.random.default_rng(1).normal(size=(len(own), 20)).astype(np.float32)
        encoder = Pooled(WordVectors(own, matrix, "0" * 32, len(own)), language)
        assert failed(encoder) == {}, language
        assert len(own) < len(words)


def test_unknown_words_and_constant_columns_are_warned_of():
    (constant,) = warned(good).values()  # its third number is 1
    assert constant == "1 of 3 columns of the vectors have the same value for all texts."
    own = [*{word for text in TEXTS_BY_LANGUAGE["English"] for word in text.split()}, "."]
    vectors = WordVectors(
        own, np.random.default_rng(1).normal(size=(len(own), 5)).astype(np.float32), "0" * 32, len(own)
    )
    found = warned(Pooled(vectors, "v"))["it has vectors for the words of texts"]
    assert "add tokenise=simple" in found
    assert "it has vectors for the words of texts" not in warned(Pooled(vectors, "v", tokenise="simple"))
    few = WordVectors(own[:2], vectors.matrix[:2], "0" * 32, 2)
    assert "may be for another language" in warned(Pooled(few, "v"))["it has vectors for the words of texts"]


def test_vectors_of_own_texts_are_looked_at(tmp_path):
    texts = [f"text number {word}" for word in "abcdefghijklmnopqrstuvwxyz"]
    write_vectors(tmp_path, texts, np.ones((26, 2), np.float32))
    encoder = load(f"npy:{tmp_path}/vectors.npy?texts={tmp_path}/texts.txt")
    assert "26 of 26 distinct texts" in failed(encoder)["different texts have different vectors"]


counter = itertools.count()


@pytest.mark.parametrize(
    ("encoder", "rule"),
    [
        (lambda texts: np.zeros((1, 3)), "it gives one vector"),
        (lambda texts: good(texts) * np.nan, "it gives one vector"),
        (lambda texts: good(texts) + next(counter), "the same texts give the same vectors"),
        (lambda texts: good(texts) - good(texts).mean(axis=0), "other texts of the batch"),
        (lambda texts: good(texts) + np.arange(len(texts))[:, None], "order of the batch"),
        (
            lambda texts: np.array([[len(t.split()), len(t.split()) ** 2] for t in texts]),
            "different texts have different",
        ),
        (lambda texts: np.zeros((len(texts), 3)), "different texts have different"),
        (lambda texts: good(texts) if all(texts) else good(texts) * np.inf, "an empty text gets a vector"),
        (lambda texts: good(texts)[: 1 if max(map(len, texts)) > 9999 else None], "words gets a vector"),
    ],
)
def test_a_broken_rule_is_named(encoder, rule):
    assert any(rule in name for name in failed(encoder)), failed(encoder)


def test_values_that_overflow_are_not_taken_for_unknown_words():
    assert "overflow" in failed(lambda texts: 1e30 * good(texts))["different texts have different vectors"]


def test_word_vectors_are_tried():
    class Words:
        def __call__(self, texts):
            return good(texts)

        def words(self, words):
            return np.zeros((len(words) + 1, 2))

    assert list(failed(Words())) == ["it gives vectors for single words"]
