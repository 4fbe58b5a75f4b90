"""Texts that differ only in case, numbers, punctuation, spacing or Unicode normalisation."""

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.corpus.folding import letters_of, near_duplicate_key, near_duplicate_text


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
    assert near_duplicate_text("On 12.11.2020, 3 of 1.000") == "on 0 0 of 0"


@given(st.lists(st.text(st.sampled_from("aAbé٣½²ａ 01.,\n\r\x1f\ud800'-"), max_size=12), max_size=40))
def test_near_duplicates_have_the_same_letters(texts):
    """So that rows of which no other has the same letters need not be folded."""
    letters = letters_of(texts)
    assert len(letters) == len(texts)
    of_key = {}
    for text, found in zip(texts, letters, strict=True):
        assert of_key.setdefault(near_duplicate_key(text), found) == found
        assert (found == b"") == (near_duplicate_text(text).replace("0", "").strip() == "")


def test_letters_tell_most_sentences_apart():
    texts = ["The town has 42 cafes.", "the TOWN has cafes", "The town has two cafes.", "Ｔhe town has cafes", "", "42"]
    same = b"thetownhascafes"
    assert letters_of(texts) == [same, same, b"thetownhastwocafes", same, b"", b""]
