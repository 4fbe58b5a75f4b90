"""Sentence splitters: by name and by language, in each case without a change of the text."""

import sys

import pytest

from sentprobe.corpus.tokenisers import (
    MARKED_LANGUAGES,
    MOSES_SPLITTER_LANGUAGES,
    check_splitter,
    splitter,
    splitter_for,
)
from sentprobe.errors import NotInstalled, UsageError


@pytest.mark.parametrize(
    ("language", "name"),
    [("fr", "moses-fr"), ("pt-BR", "moses-pt"), (None, "moses-en"), ("zh", "marks"), ("ja", "marks"), ("hi", "marks"),
     ("th", "pythainlp"), ("eu", "moses-eu")],
)  # fmt: skip
def test_each_language_has_one(language, name):
    assert splitter_for(language) == name
    assert check_splitter(name) == name


def test_there_is_no_other():
    with pytest.raises(UsageError, match=r"no sentence splitter 'mozes-fr'\. Did you mean moses-en"):
        splitter("mozes-fr")


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("marks", "你好吗？「很好。」他说！！ 3.5公斤", ["你好吗？", "「很好。」", "他说！！", "3.5公斤"]),
        ("marks", "राम घर गया। वह सो रहा है॥", ["राम घर गया।", "वह सो रहा है॥"]),
        ("marks", "", []),
        ("moses-fr", "M. Petit dort. « Où ? » dit-il. Il a 3.5 ans.",
         ["M. Petit dort.", "« Où ? » dit-il.", "Il a 3.5 ans."]),
        ("moses-eu", "Mr. Smith left. He ran.", ["Mr. Smith left.", "He ran."]),
        ("moses-fr", "", []),
    ],
)  # fmt: skip
def test_a_paragraph_is_split(name, text, expected):
    if name != "marks":
        pytest.importorskip("sentence_splitter")
    assert splitter(name)(text) == expected


def test_moses_has_the_languages_that_it_is_said_to_have():
    package = pytest.importorskip("sentence_splitter")
    for language in MOSES_SPLITTER_LANGUAGES:
        package.SentenceSplitter(language=language)
    assert not MARKED_LANGUAGES & set(MOSES_SPLITTER_LANGUAGES)


def test_thai():
    pytest.importorskip("pythainlp")
    pytest.importorskip("pycrfsuite")
    text = "วันนี้อากาศดีมาก ฉันไปตลาด แล้วกลับบ้าน"
    assert "".join("".join(splitter("pythainlp")(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(("name", "module"), [("moses-fr", "sentence_splitter"), ("pythainlp", "pythainlp.tokenize")])
def test_a_missing_package_is_named(name, module, monkeypatch):
    splitter.cache_clear()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(NotInstalled, match=r"pip install [a-z-]+"):
        splitter(name)
