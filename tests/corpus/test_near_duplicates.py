"""Texts that differ only in case, numbers, punctuation, spacing or Unicode normalisation."""

from unicodedata import normalize

import pytest

from sentprobe.corpus.near_duplicates import folded, near_duplicate_key


@pytest.mark.parametrize(
    "other",
    [
        "the town has 677 cafés.",
        "The town has 8.679 cafés!",
        "The town has 1,234,567 cafés.",
        "The town has 12’000 “cafés”",
        "The  town has ٣ cafés",
        normalize("NFD", "The town has 3 cafés."),
        "The town has ３ cafés.",
    ],
)
def test_copies_are_found(other):
    assert near_duplicate_key(other) == near_duplicate_key("The town has 42 cafés.")


@pytest.mark.parametrize("other", ["The town has 4, 2 cafés.", "The town has cafés.", "The towns have 42 cafés."])
def test_other_sentences_are_not(other):
    assert near_duplicate_key(other) != near_duplicate_key("The town has 42 cafés.")


def test_every_number_is_a_zero():
    assert folded("On 12.11.2020, 3 of 1.000") == "on 0 0 of 0"
