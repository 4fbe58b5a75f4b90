"""Words of all scripts stay whole: one test for each place that looks for words, letters or names.

Python's ``\\w``, ``str.isalpha`` and ``str.isalnum`` have no combining marks, with which Hindi, Thai, Tamil, Khmer, and
vocalised Arabic and Hebrew write vowels, and every script in decomposed text.
"""

import unicodedata
from dataclasses import replace

import numpy as np
import pytest

from sentprobe.annotate.wikitext import prose
from sentprobe.audit import audit_set
from sentprobe.audit.checks.labels import _alike
from sentprobe.audit.checks.quoting import has_csv_quotes
from sentprobe.audit.checks.scripts import mixed_words
from sentprobe.cli.encode import folder_name
from sentprobe.core.words import is_word, lowercase_tokens, split_everywhere, split_punctuation
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.corpus.plain import tokenise
from sentprobe.data.tables import common_name
from sentprobe.encoders.diagnosis import diagnose_vectors
from sentprobe.judge.sheet import Sheet
from sentprobe.lab.alignment.projection import content_pairs
from sentprobe.lab.alignment.space import Space
from sentprobe.lab.word_page.site import EXAMPLE_RANK, example_word
from sentprobe.run.controls._changes import _positions
from sentprobe.tasks import Example
from sentprobe.tasks.definitions import word_presence
from sentprobe.tasks.definitions.word_content import letters
from tests.audit.plants import likely_shared_targets, one_word_replaced

WORDS = {
    "Hindi": "हिंदी",
    "Marathi with a joiner": "वाऱ\u200d्याचा",
    "Sinhala with a joiner": "ශ්\u200dරී",
    "Tamil": "பள்ளிக்கு",
    "Thai": "น้ำที่นี่",
    "Khmer": "ខ្ញុំ",
    "Arabic with vowels": "المَدْرَسَةِ",
    "Persian with a joiner": "می\u200cخوانم",
    "Hebrew with points": "הַיֶּלֶד",
    "French, decomposed": unicodedata.normalize("NFD", "élève"),
    "Russian with stress": "за\u0301мок",
}
"""One word in each script."""
every_script = pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)


@every_script
def test_a_form_is_a_word(word):
    assert is_word(word)


@pytest.mark.parametrize("form", ["", "3", "a1", "a-b", "a'b", ".", "\u0301a", "\u200da", "❤️"])
def test_a_form_is_no_word(form):
    assert not is_word(form)


@every_script
def test_plain_text_is_tokenised(word):
    assert tokenise(f"{word}, ({word})!") == (
        (word, ",", "(", word, ")", "!"),
        (False, True, False, False, False, True),
    )


@pytest.mark.parametrize("sign", ["👩\u200d👩\u200d👧", "❤️", "👍🏽", "🇫🇷", "🏳️\u200d🌈"])
def test_no_token_of_plain_text_is_half_an_emoji(sign):
    assert tokenise(f"a {sign}.")[0] == ("a", sign, ".")


@every_script
def test_punctuation_is_split_off(word):
    assert split_punctuation(f"({word})") == ["(", word, ")"]
    assert split_everywhere(f"{word}-{word}") == [word, "-", word]
    assert lowercase_tokens([f"{word} {word}."]) == [[word, word, "."]]


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        ("वह जाता है।", "वह जाता है", True),
        ("वह जाता है।", "वह जाती है।", False),
        ("เขาดี", "เขาดู", False),
        ("می\u200cخوانم.", "میخوانم.", True),
    ],
)
def test_texts_with_other_vowels_are_not_near_duplicates(one, two, alike):
    assert (near_duplicate_key(one) == near_duplicate_key(two)) == alike


@pytest.mark.parametrize(
    ("sentence", "inside", "is_there"),
    [
        ("राम जाना चाहता है", "न", False),  # not: जाना has this consonant
        ("หนู ไม่ กิน น้ำ", "น", False),
        ("كَتَبَ الوَلَدُ", "ك", False),
        ("I've seen it", "i", True),
        ("un rendez-vous", "vous", True),
    ],
)
def test_words_inside_words_are_between_punctuation(sentence, inside, is_there):
    row = Example("01"[is_there], tuple(sentence.split()), sentence, extra=(("word", inside),))
    assert word_presence.task.label_issues([row, row._replace(label="10"[is_there])]) == ["", "wrong"]
    words = [*sentence.split(), f"({inside})-x"]
    places = [i for i, word in enumerate(sentence.split()) if inside in word.lower().replace("'", "-").split("-")]
    assert _positions([word.lower() for word in words], inside, split_punctuation) == [*places, len(words) - 1]


@pytest.mark.parametrize(
    ("form", "count"),
    [("kya", 3), ("क्या", 3), ("हिंदी", 5), ("كَتَبَ", 3), ("كتب", 3), ("ילד", 3), ("יֶלֶד", 3), ("élève", 5), ("学校", 6)],
)
def test_letters_of_a_target_word(form, count):
    """Vowel signs are letters; accents, viramas and the points of Arabic and Hebrew are not."""
    assert letters(form) == count


@every_script
def test_words_are_drawn_in_the_picture_of_an_alignment(word):
    filler = [f"{i}" for i in range(400)]
    one, two = (Space(name, [*filler, "1234567", word * 2], np.zeros((402, 2), np.float32), "") for name in "ab")
    other = replace(two, words=[*filler, "7654321", "translated"])
    assert content_pairs(one, other, np.array([[400, 400], [401, 401]])).tolist() == [[401, 401], [400, 400]]


@every_script
def test_the_page_of_an_alignment_has_an_example(word):
    assert example_word(["the"] * EXAMPLE_RANK + ["1234", word * 2]) == word * 2


def _in_hindi(word):
    """Another word for each English one: a consonant with a vowel sign for each letter."""
    return "".join(chr(0x0915 + ord(c) - ord("a")) + "\u0940" for c in word.lower())


def _in_arabic(word):
    """A letter with a vowel for each letter."""
    return "".join(
        chr(0x0628 + (ord(c) - ord("a")) % 12) + "\u064e\u0650"[(ord(c) - ord("a")) // 12 % 2] for c in word.lower()
    )


def _decomposed(word):
    return "".join(f"{c}\u0323" for c in word)


@pytest.mark.parametrize("spell", [_in_hindi, _in_arabic, _decomposed])
@pytest.mark.parametrize(
    ("code", "make", "k"), [("likely-shared-targets", likely_shared_targets, 17), ("both-forms", one_word_replaced, 9)]
)
def test_the_audit_finds_what_it_finds_in_english(spell, code, make, k):
    dataset = make(k)
    known = {}

    def respelled(row):
        tokens = tuple(known.setdefault(t, spell(t)) if t.isalpha() else t for t in row.tokens)
        return row._replace(tokens=tokens, text=" ".join(tokens))

    rows = {split: [respelled(row) for row in rows] for split, rows in dataset.rows.items()}
    findings = {f.code: f.count for f in audit_set(replace(dataset, rows=rows, language=None)).findings}
    assert findings.get(code) == k


@pytest.mark.parametrize(
    ("label", "usual", "alike"),
    [
        ("का", "की", False),
        ("ผี", "ผู", False),
        ("كَ", "كُ", False),
        ("क्रिया", "क्रिया.", True),
        ("verb", "verb.", True),
    ],
)
def test_labels_with_other_vowels_are_not_misspelled(label, usual, alike):
    assert _alike(label, usual, much_rarer=True) == alike


@every_script
def test_quotes_of_csv_are_found(word):
    assert has_csv_quotes(f'{word} ""{word}"" {word}')
    assert has_csv_quotes(f'"{word} {word} ""{word}"""')
    assert not has_csv_quotes(f'{word} "{word}" {word}')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p\u0430\u0301per", ["p\u0430\u0301per"]),  # Cyrillic а with an accent
        ("p\u0430per", ["p\u0430per"]),
        ("за\u0301мок e\u0301te\u0301s", []),
        ("हिंदी ไม่น้ำ", []),
    ],
)
def test_mixed_scripts_are_found_below_accents(text, words):
    assert mixed_words(text) == words


@pytest.mark.parametrize(
    ("pair", "is_reported"),
    [
        (("वह जाता है", "वह जाती है"), True),  # he goes, she goes
        (("ดู", "ดี"), True),
        (("நீ", "நா"), True),
        (("été", "ete"), False),
        (("كَتَبَ", "كتب"), False),
        (("יֶלֶד", "ילד"), False),
        (("ДОМ", "дом"), False),
        (("❤️", "❤"), False),
    ],
)
def test_an_encoder_that_drops_vowels_is_reported(pair, is_reported):
    """Texts that differ in case and accents only may have the same vector."""
    texts = [f"{i} {text}" for i in range(4) for text in pair]
    vectors = np.repeat(np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32), 2, axis=0)
    assert ("equal-vectors" in {s.code for s in diagnose_vectors(texts, vectors[None])}) == is_reported


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("वह दिल्ली में रहती{{sfn|क}} है।", "वह दिल्ली में रहती है।"),
        ("वह दिल्ली में रहती है।{{sfn|क}} वह पढ़ती है।", "वह दिल्ली में रहती है। वह पढ़ती है।"),
        ("ذَهَبَ الوَلَدُ{{مصدر}} إلى المَدْرَسَةِ؟", "ذَهَبَ الوَلَدُ إلى المَدْرَسَةِ؟"),
        ("ذهب الولد،{{مصدر}} ثم عاد.", "ذهب الولد، ثم عاد."),
        ("Elle vit à Paris{{sfn|a}}.", "Elle vit à Paris."),
    ],
)
def test_a_source_after_a_word_leaves_no_hole(markup, text):
    pytest.importorskip("mwparserfromhell")
    assert prose(markup, ()) == [text]


@every_script
def test_names_of_files_are_those_of_words(word):
    assert Sheet(f"my {word}", "digest", "task", "?", {}, ()).stem == f"my.{word}"
    assert folder_name(f"vec:{word}.vec") == f"vec-{word}.vec"
    assert common_name(f"{word}{word}-train.tsv") == word + word
