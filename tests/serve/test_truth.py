"""What words tell about a sentence, and what they do not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.serve.gold import GoldRule, length_bins
from sentprobe.tasks import Example
from tests.serve.runs import BINS, sentence_length


def rows(*pairs):
    return [Example(label, ("w",) * n, "w " * n) for label, n in pairs]


def test_bins_are_found_from_rows_whatever_they_are_called():
    assert length_bins(sentence_length().rows["te"]) == BINS
    assert length_bins(rows(("long", 9), ("short", 2), ("short", 4), ("long", 7))) == {"short": (2, 4), "long": (7, 9)}


def test_a_stray_row_does_not_widen_a_bin():
    given = rows(*[("a", 3)] * 5, *[("b", 6)] * 5, ("a", 6), ("b", 3))
    assert length_bins(given) == {"a": (3, 3), "b": (6, 6)}


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1), st.lists(st.integers(2, 60), unique=True))
def test_every_length_that_was_met_gets_its_own_label(lengths, cuts):
    def label(n):
        return str(sum(n >= cut for cut in cuts))

    key = GoldRule("sentence_length", [], length_bins(rows(*((label(n), n) for n in lengths))))
    for n in lengths:
        assert key.of(["w"] * n).labels == (label(n),)


def test_sentence_length():
    key = GoldRule("sentence_length", list(BINS), BINS)
    assert key.of(["w"] * 7).labels == ("1",)
    assert key.of(["w"] * 7).text == "7 tokens"
    assert key.of(["w"]).labels == ()
    assert key.of(["w"]).text == "1 token: in none of the bins"
    assert [key.label_text(label) for label in ("0", "x")] == ["3–5 tokens", "x"]
    assert GoldRule("sentence_length", ["0"], {"0": (1, 1)}).label_text("0") == "1 token"
    assert GoldRule("sentence_length", ["0"]).of(["w"]).labels == ()


@pytest.mark.parametrize(
    ("sentence", "labels", "text"),
    [
        ("a river flows", ("river",), "river"),
        ("A RIVER , a House", ("house", "river"), "house, river"),
        ("riverside", (), "none of the 3 words"),
        ("he doesn’t", ("doesn't",), "doesn't"),
    ],
)
def test_word_content(sentence, labels, text):
    found = GoldRule("word_content", ["doesn't", "house", "river"]).of(sentence.split())
    assert (found.labels, found.text) == (labels, text)


def test_what_words_do_not_tell():
    found = GoldRule("subj_number", ["NN", "NNS"]).of(["Dogs", "bark"])
    assert (found.labels, found.text) == ((), "unknown")


def test_labels_are_shown_in_words_where_the_task_has_them():
    rule = GoldRule("passive", ["0", "1"], names={"0": "active", "1": "passive"})
    assert [rule.label_text(label) for label in ("0", "1", "2")] == ["active", "passive", "2"]
