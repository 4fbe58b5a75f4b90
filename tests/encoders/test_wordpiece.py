"""WordPiece: the pieces of the tokenizers library, on texts in many scripts and on what no text has."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.encoders.schemes import static
from sentprobe.encoders.wordpiece import WordPiece

PIECES = (static.FOLDER / "pieces.txt").read_text("utf-8").splitlines()
VOCABULARY = {piece: i for i, piece in enumerate(PIECES)}
SPLIT = WordPiece(VOCABULARY)
TEXTS = [
    "She hadn't re-read Müller's naïve résumé (yet)...",
    "Не знаю, ёлка ли это.",
    "İstanbul’da ILIK su, ﬁn ﬂuß STRASSE",
    "我爱北京。東京タワー",
    "안녕하세요 각",
    "हिन्दी में लिखा है",
    "กำลังเขียน",
    "שָׁלוֹם العَرَبِيَّة",
    "a\u200bb\u00a0c\td\ne\u3000f",
    "e\u0301 \u00e9 \ufeff x\u00ady",
    "$3.50+tax=~4 €, @me #tag `code` ^^ <b>|",
    "🙂👩‍👩‍👧 ok",
    "Pneumonoultramicroscopicsilicovolcanoconiosis",
    "x" * 100,
    "x" * 101,
    "\x00\x07\ufffd",
    "",
    "   ",
]


@pytest.fixture(scope="module")
def theirs():
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(VOCABULARY, unk_token="[UNK]", max_input_chars_per_word=100)
    )
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_those_of_the_library(theirs, text):
    assert SPLIT(text) == theirs(text)


def settled(letter):
    """Characters that the library's older tables of Unicode have as well, and no separators of lines."""
    return letter not in "\x0b\x0c\x1c\x1d\x1e\x1f\x85" and unicodedata.ucd_3_2_0.category(letter) not in ("Cn", "Cf")


@given(st.text(st.characters(exclude_categories=("Cs", "Cn", "Co")).filter(settled), max_size=30))
def test_pieces_of_any_text_are_those_of_the_library(theirs, text):
    assert SPLIT(text) == theirs(text)


def test_known_pieces():
    assert [PIECES[i] for i in SPLIT("Snorkels, unrecognisable?")] == [
        "s", "##nor", "##kel", "##s", ",", "un", "##re", "##co", "##gni", "##sable", "?",
    ]  # fmt: skip
    assert [PIECES[i] for i in SPLIT("x" * 101)] == ["[UNK]"]
    assert SPLIT("half a character \ud800") == SPLIT("half a character \ufffd")
