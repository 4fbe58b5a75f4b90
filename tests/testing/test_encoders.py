"""Conformance: an encoder that keeps the rules passes, and one that breaks any is told which."""

import itertools

import numpy as np
import pytest

from sonde.encoders import load
from sonde.testing import examine_encoder


def good(texts):
    return np.array([[len(t), sum(map(ord, t)) % 101, 1.0] for t in texts])


def failed(encoder):
    return {v.rule: v.detail for v in examine_encoder(encoder) if not v.passed}


def test_a_sound_encoder_passes():
    assert failed(good) == {}
    assert failed(load("baseline:random")) == {}


counter = itertools.count()


@pytest.mark.parametrize(
    ("encoder", "rule"),
    [
        (lambda texts: np.zeros((1, 3)), "it gives one vector"),
        (lambda texts: good(texts) * np.nan, "it gives one vector"),
        (lambda texts: good(texts) + next(counter), "the same texts give the same vectors"),
        (lambda texts: good(texts) - good(texts).mean(axis=0), "other texts of the batch"),
        (lambda texts: good(texts) + np.arange(len(texts))[:, None], "order of the batch"),
        (lambda texts: good(texts) if all(texts) else good(texts) * np.inf, "an empty text survives"),
        (lambda texts: good(texts)[: 1 if max(map(len, texts)) > 9999 else None], "words survives"),
    ],
)
def test_a_broken_rule_is_named(encoder, rule):
    assert any(rule in name for name in failed(encoder)), failed(encoder)


def test_word_vectors_are_tried():
    class Words:
        def __call__(self, texts):
            return good(texts)

        def words(self, words):
            return np.zeros((len(words) + 1, 2))

    assert list(failed(Words())) == ["words can be asked for"]
