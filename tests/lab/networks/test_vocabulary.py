"""How a network reads a text."""

import pytest

from sentprobe.lab.networks import vocabulary
from sentprobe.lab.networks.vocabulary import Vocabulary

WORDS = ["the", "Paris", "cat", "sleeps", "."]


@pytest.mark.parametrize(
    ("case", "numbers"), [("as-is", [0, 3, 0, 5]), ("lower", [1, 3, 0, 5]), ("fallback", [1, 3, 2, 5])]
)
def test_case_of_words(case, numbers):
    text = "THE cat paris."
    assert Vocabulary(WORDS, case=case, unknown="keep").ids(text) == numbers
    assert Vocabulary(WORDS, case=case, unknown="drop").ids(text) == [n for n in numbers if n]


@pytest.mark.parametrize("unknown", ["keep", "drop"])
@pytest.mark.parametrize("tokenise", ["simple", "space"])
@pytest.mark.parametrize("marks", [[], ["<s>", "</s>"]])
def test_tokens_are_what_the_numbers_stand_for(unknown, tokenise, marks):
    words = Vocabulary([*WORDS, *marks], tokenise, "as-is", unknown)
    for text in ("the cat sleeps.", "the cat barks .", "qwertz", "", " . "):
        tokens, numbers = words.tokens(text), words.ids(text)
        assert [words.index.get(token, 0) for token in tokens] == numbers
        assert len(numbers) >= 1
        if marks:
            assert (tokens[0], tokens[-1]) == ("<s>", "</s>")


def test_few_words_are_remembered(monkeypatch):
    monkeypatch.setattr(vocabulary, "MOST_PIECES", 3)
    words = Vocabulary(WORDS)
    assert words.ids("the cat sleeps the Paris. the cat. sleeps") == [1, 3, 4, 1, 2, 5, 1, 3, 5, 4]
    assert len(words._pieces) <= 3
