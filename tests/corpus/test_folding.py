"""When two words are written the same."""

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sentprobe
from sentprobe.corpus.folding import capitalised, fold, lower_case, near_duplicate_key, uncapitalised

# two spellings of one form, by the orthography of the language; SpecialCasing.txt has the capitals of tr, az and lt
SAME = [
    ("tr", "İnsanlar", "insanlar"), ("tr", "IŞIK", "ışık"), ("az", "İYİ", "iyi"), ("tr", "I\u0307nsan", "insan"),
    ("tr-TR", "DİL", "dil"), ("crh", "QIRIM", "qırım"), ("en", "İstanbul", "istanbul"),
    ("lt", "Į\u0307\u0301", "į\u0301"), ("lt", "Ì", "i\u0307\u0300"),
    ("de", "STRASSE", "Straße"), ("de", "GROẞ", "groß"), ("de", "muß", "muss"),
    ("de", "Unter\u00adnehmen", "Unternehmen"),
    ("el", "ΝΟΜΟΣ", "νόμος"), ("el", "ΜΑΪΟΣ", "Μάιος"), ("el", "Ὀδυσσεύς", "ΟΔΥΣΣΕΥΣ"), ("grc", "ᾠδή", "ΩΙΔΗ"),
    ("hy", "ԹԵՎԵՐ", "թևեր"), ("ka", "ᲡᲐᲮᲚᲘ", "სახლი"), ("chr", "ꮳꮃꭹ", "ᏣᎳᎩ"),
    ("ru", "идёт", "ИДЕТ"), ("ru", "за\u0301мок", "замок"), ("uk", "м’ята", "мʼята"),
    ("ro", "oraşe", "orașe"), ("fa", "كتاب", "کتاب"), ("ar", "كـتاب", "كتاب"),
    ("nl", "ĲS", "ijs"), ("uz", "oʻzbek", "o‘zbek"), ("fr", "e\u0301té", "ÉTÉ"), ("en", "ﬁnds", "Finds"),
    ("ja", "ｶﾒﾗ", "カメラ"), ("ko", unicodedata.normalize("NFD", "한국"), "한국"),
]  # fmt: skip
DIFFERENT = [
    ("tr", "sınır", "sinir"), ("tr", "KIR", "kir"), ("be", "лён", "лен"), ("fr", "été", "ete"), ("pl", "zaś", "zas"),
    ("hi", "लड़का", "लड़की"), ("ru", "мой", "мои"), ("mk", "ќе", "ке"), ("bg", "ѝ", "и"), ("tr", "kas", "kaş"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "one", "other"), SAME)
def test_spellings_of_one_form_are_equal_with_and_without_the_language(language, one, other):
    assert fold(one, language) == fold(other, language)
    assert fold(one) == fold(other)
    assert near_duplicate_key(f"{one} a b") == near_duplicate_key(f"{other} a b")


@pytest.mark.parametrize(("language", "one", "other"), DIFFERENT)
def test_different_words_are_different(language, one, other):
    assert fold(one, language) != fold(other, language)


@given(st.text(max_size=8), st.sampled_from([None, "en", "tr", "ru", "el", "ro"]))
def test_a_key_is_its_own_key(word, language):
    assert fold(fold(word, language), language) == fold(word, language)


@given(st.text(st.characters(codec="ascii"), max_size=8))
def test_plain_english_is_lower_cased_and_nothing_else(word):
    assert fold(word, "en") == fold(word) == word.lower()


def test_lower_case_is_a_spelling_not_a_key():
    assert lower_case("Straße", "de") == "straße"
    assert lower_case("ΛΌΓΟΣ", "el") == "λόγος"
    assert (lower_case("IŞIK", "tr"), lower_case("İZMİR", "tr"), lower_case("İzmir", "en")) == (
        "ışık",
        "izmir",
        "izmir",
    )


@pytest.mark.parametrize(
    ("language", "small", "capital"),
    [("tr", "istanbul", "İstanbul"), ("tr", "ışık", "Işık"), ("nl", "ijsland", "IJsland"), ("en", "it", "It"),
     ("ka", "სახლი", "სახლი"), ("hr", "ǆep", "ǅep"), (None, "ijsland", "Ijsland")],
)  # fmt: skip
def test_capitals_of_first_words(language, small, capital):
    assert capitalised(small, language) == capital
    assert uncapitalised(capital, language) == small


PLACES_THAT_MAY = {
    # not words of sentences: names of tasks, features, labels, and language codes; text only searched for addresses
    "make/filters.py": 1, "audit/checks/text.py": 1, "audit/checks/habits.py": 2, "audit/checks/labels.py": 1,
    "tasks/catalogue.py": 2,  # names of tasks, as typed
    "tasks/definitions/obj_number.py": 2,  # English trees
    "tasks/parametric/morph.py": 1, "tasks/definitions/coordination_inversion.py": 1,
}  # fmt: skip


def test_no_task_and_no_check_has_a_comparison_of_words_of_its_own():
    package = Path(sentprobe.__file__).parent
    pattern = re.compile(r"\.lower\(\)|\.upper\(\)|str\.lower|casefold|normalize\(")
    files = [f for folder in ("tasks", "make", "audit") for f in sorted((package / folder).rglob("*.py"))]
    found = {str(f.relative_to(package)): len(pattern.findall(f.read_text())) for f in files}
    assert {name: n for name, n in found.items() if n} == PLACES_THAT_MAY
