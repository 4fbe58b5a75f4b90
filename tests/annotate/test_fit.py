import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe import Sentence
from sentprobe.annotate.conversion import TextDiffersError, by_text, fit


def sentence(*forms, mwts=()):
    return Sentence("", "", forms, mwts=mwts)


def test_texts_and_spaces_are_those_of_the_text():
    one, two = fit([sentence("Ça", "va", "?"), sentence("Oui", ".")], "Ça va ? Oui.")
    assert (one.text, one.space_after) == ("Ça va ?", (True, True, True))
    assert (two.text, two.space_after) == ("Oui.", (False, True))


def test_no_space_is_inside_a_multi_word_token():
    found = fit([sentence("On", "parle", "de", "le", "chat", ".", mwts=((2, 4, "du"),))], "On parle du chat.")[0]
    assert found.space_after == (True, True, False, True, False, True)


def test_spaces_inside_tokens_do_not_count():
    assert fit([sentence("10 000", "km")], "10\u00a0000 km")[0].text == "10\u00a0000 km"
    assert fit([sentence("10000", "km")], "10 000 km")[0].text == "10 000 km"


@pytest.mark.parametrize(
    ("sentences", "text", "number", "message"),
    [
        ([sentence("a", "c")], "a b", 0, "got the token 'c', expected the text 'b'"),
        ([sentence("a"), sentence("b")], "a", 1, "got the token 'b', expected the end of the text"),
        ([sentence("a")], "a b", 0, "got the end, expected the text 'b'"),
        ([], "a b", 0, "got the end, expected the text 'a b'"),
        ([sentence("a"), sentence()], "a", 1, "got a sentence without words"),
        ([sentence("a", " ")], "a", 0, "got the token ' '"),
    ],
)
def test_other_texts_are_refused(sentences, text, number, message):
    with pytest.raises(TextDiffersError, match=message) as caught:
        fit(sentences, text)
    assert caught.value.sentence == number


def test_sentences_of_several_texts():
    found = list(by_text([sentence("a", "b"), sentence("c"), sentence("d")], ["a b c", "", "d"]))
    assert [[s.text for s in some] for some in found] == [["a b", "c"], [], ["d"]]


def test_a_sentence_that_goes_on_in_the_next_text_is_refused():
    with pytest.raises(TextDiffersError, match="got the token 'c', expected the end of the text") as caught:
        list(by_text([sentence("a"), sentence("b", "c")], ["a b", "c"]))
    assert caught.value.sentence == 1
    with pytest.raises(TextDiffersError, match="got the token 'x', expected the end"):
        list(by_text([sentence("a"), sentence("x")], ["a"]))
    with pytest.raises(TextDiffersError, match="got the end, expected the text 'b'"):
        list(by_text([sentence("a")], ["a", "b"]))


@given(st.lists(st.lists(st.lists(st.text("abé", min_size=1, max_size=3), min_size=1, max_size=4), max_size=3)))
def test_any_sentences_are_found_in_their_texts(texts):
    written = [" ".join(" ".join(words) for words in sentences) for sentences in texts]
    every = [sentence(*words) for sentences in texts for words in sentences]
    found = list(by_text(every, written))
    assert [[s.text for s in some] for some in found] == [[" ".join(words) for words in some] for some in texts]
