"""One planted fault per code, a sound text beside it, and what must not change the outcome."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from ftfy import fix_encoding
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from sentprobe.audit.check import MAX_EXAMPLES, excerpt
from sentprobe.audit.checks import habits as ways
from sentprobe.audit.checks import text as damage
from sentprobe.audit.checks.habits import APART, CONVENTIONS, MANY_GROUPS, MAX_P_HABIT, difference
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import Example

CODES = (*damage.audit_check.codes, *ways.audit_check.codes)


def text(rows, expectations):
    yield from damage.find(rows, expectations)
    yield from ways.find(rows, expectations)


CLEAN = {
    "en": (
        "The baker opened her shop before sunrise.",
        "Nobody had told the twins about the letter, so they waited.",
        "My neighbour's dog doesn't like the postman.",
        "Rain fell on the hills for three days.",
        "We bought apples, pears and a loaf of bread.",
        'She said, "I will come back tomorrow."',
        "It's the well-known story of a king and his two sons.",
    ),
    "fr": (
        "L'été dernier, nous avons traversé la forêt à vélo.",
        "Où as-tu rangé les clés de la vieille maison\u00a0?",
        "Le garçon a mangé une crêpe avec sa sœur aînée.",
        "«\u00a0À bientôt\u00a0», répondit-elle en fermant la fenêtre.",
        "Cet élève n’a pas encore lu l’œuvre complète.",
    ),
    "de": (
        "Die Bäckerin öffnete ihr Geschäft vor Sonnenaufgang.",
        "Er grüßte die Nachbarn und ging über die Straße.",
        "„Wir können später zurückkommen“, sagte der Bürgermeister.",
        "Die Vor- und Nachteile sind längst bekannt.",
    ),
    "pl": (
        "Wczoraj wieczorem padał śnieg, a dziś świeci słońce.",
        "Mój sąsiad kupił żółtą łódkę i ćwiczy wiosłowanie.",
        "„Zażółć gęślą jaźń” to zdanie ze wszystkimi znakami.",
        "Córka pisze książkę o ' zimie ' w górach.",
    ),
    "ru": (
        "Пётр открыл окно и увидел, что ещё идёт дождь.",
        "Её книга называется «Осень», но я её не читал.",
        "Мы поехали в деревню — там живёт моя бабушка…",
        "В США и в ЕС об этом писали все газеты.",
    ),
    "tr": (
        "Çocuklar bahçede şarkı söylüyor.",
        "İğne ile iplik çekmecenin içinde değil.",
        "Öğretmen güneşli günleri çok seviyor.",
    ),
    "el": (
        "Η θάλασσα ήταν ήρεμη και ο ήλιος έλαμπε.",
        "Ποιος άφησε την πόρτα ανοιχτή;",
        "Ο Νίκος διαβάζει ένα παλιό βιβλίο.",
    ),
    "ja": (
        "昨日は友達と公園を散歩しました。",
        "この本は「とても面白い」と思います。",
        "彼女は毎朝コーヒーを飲みます。",
    ),
    "fa": ("او می\u200cخواهد کتاب\u200cها را به خانه ببرد.",),
    "hi": ("लड़का रोज़ सुबह नदी के किनारे दौड़ता है।",),
}
"""Written for these tests."""
SOUND = tuple(t for texts in CLEAN.values() for t in texts)
DAMAGED = {
    "mojibake": (
        "The cafÃ© opened before sunrise.",
        "My neighbourâ€™s dog sleeps all day.",
        "ÐŸÑ€Ð¸Ð²ÐµÑ‚, ÐºÐ°Ðº Ð´ÐµÐ»Ð°?",
        "The caf Ã © was closed .",
    ),
    "replacement-characters": ("The caf\ufffd was closed.", "We don ? t know what she ? s doing .", "It isn?t late."),
    "control-characters": (
        "An ex\u00adample is short.",
        "A zero\u200bwidth space is here.",
        "\ufeffIt begins with a mark.",
        "One line\nand one more.",
        "The word\u200c has a joiner.",
    ),
    "repeated-fragment": (
        "She went home she went home .",
        "He said no no no to us.",
        "It was late at night, It was late at night.",
    ),
    "split-tokens": (
        "The dog ' s tail is long .",
        "Le chat de l ’ école dort .",
        "It does n 't work .",
        "They live in the U . S . now .",
        "It costs 2 . 5 euros .",
        "We like salt & amp ; pepper .",
        "Patrick O ’ Brien wrote it .",
    ),
    "markup": (
        "We like salt &amp; pepper.",
        "A new line < br > begins here .",
        "This word is <b>bold</b> and large.",
        "She sings in the [[choir]] of the town.",
        "The village ( ) lies on a river .",
        "Let formula _ 3 be the result .",
        "He -LRB- the king -RRB- was old .",
        "A well @-@ known story .",
        "We write \\frac for it.",
        "See https://example.org/page for more.",
        "Write to someone@example.org about it.",
        "The word <unk> is rare .",
    ),
    "empty-text": ("...", "? !", "—"),
    "one-token": ("Yes", "Why?"),
}
FINE = (
    "They do n't know the dogs ' tails .",
    "They didn 't see l' été .",
    "One of Lewis ' T-shirts is red .",
    "The words ' button ' and ' s ' are short .",
    "Count 1 1 1 and - - - here .",
    "It was very, very, very late.",
    "The two of them and the two others left.",
    "Call f() or open example.com in 2004 . 25 people did .",
    "Is it late? Really! What a day...",
    "A < B and C > D , R&D ; Q&A .",
    "Die Temperatur lag bei 3 °C – „kalt“.",
    "Œuvres complètes, Ão, Â et ÎLE.",
)


def rows(*splits: list[tuple[str, str]]) -> Split:
    """Columns from (label, text) pairs, one list per split."""
    names = ("tr", "va", "te")[: len(splits)]
    examples = {
        s: [Example(label, tuple(t.split()), t) for label, t in pairs] for s, pairs in zip(names, splits, strict=True)
    }
    labels = tuple(sorted({label for pairs in splits for label, _ in pairs}))
    return Split.of_set(Dataset("x/t", "t", 1, None, labels, examples))


def both(texts) -> list[tuple[str, str]]:
    """Every text in both classes, so that no habit tells them apart."""
    return [(label, t) for t in texts for label in "AB"]


def found(made: Split, expectations: Expectations | None = None):
    return list(text(made, expectations or Expectations()))


def test_every_code_is_documented_and_has_a_planted_fault():
    assert {c.name for c in CODES} == {*DAMAGED, "mixed-tokenisation"}
    assert all(c.meaning.endswith(".") and c.advice.endswith(".") and len(c.meaning) > 100 for c in CODES)


@pytest.mark.parametrize("sentence", [*SOUND, *FINE])
def test_a_sound_sentence_has_no_faults(sentence):
    assert found(rows(both([sentence]))) == []


@pytest.mark.parametrize(("code", "sentence"), [(code, t) for code, texts in DAMAGED.items() for t in texts])
def test_a_damaged_sentence_has_its_own_code_and_no_other(code, sentence):
    (finding,) = found(rows([("A", sentence)]))
    assert (finding.code, finding.split, finding.count, finding.evidence["rows"]) == (code, "tr", 1, 1)
    assert finding.examples


@given(
    code=st.sampled_from(sorted(DAMAGED)),
    clean=st.lists(st.sampled_from(SOUND), min_size=1, max_size=60),
    k=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_k_damaged_rows_among_clean_ones_are_counted_whatever_the_order(code, clean, k, seed):
    planted = [("AB"[i % 2], DAMAGED[code][i % len(DAMAGED[code])]) for i in range(k)]
    pairs = both(clean) + planted
    random.Random(seed).shuffle(pairs)
    (finding,) = found(rows(pairs))
    assert (finding.code, finding.count) == (code, k)


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from("AB"), st.sampled_from([*SOUND, *FINE, *(t for d in DAMAGED.values() for t in d)])),
        min_size=2,
        max_size=120,
    ),
    seed=st.integers(0, 2**32),
)
def test_neither_the_order_of_rows_nor_the_names_of_labels_matter(pairs, seed):
    middle = len(pairs) // 2
    parts = pairs[:middle], pairs[middle:]
    other = [[({"A": "zebra", "B": "0"}[label], t) for label, t in part] for part in parts]
    for part in other:
        random.Random(seed).shuffle(part)
    assert found(rows(*parts)) == found(rows(*other))


def test_severities_follow_the_share_of_rows():
    clean = both(CLEAN["en"] * 10)  # 140 rows

    def severity(code, k):
        return found(rows(clean + [("AB"[i % 2], DAMAGED[code][0]) for i in range(k)]))[0].severity

    assert [severity("mojibake", k) for k in (1, 2)] == ["warning", "error"]
    assert [severity("empty-text", k) for k in (1, 2)] == ["warning", "error"]
    assert [severity("control-characters", k) for k in (1, 20)] == ["warning", "warning"]
    assert [severity("one-token", k) for k in (1, 20)] == ["warning", "warning"]
    assert [severity("repeated-fragment", k) for k in (1, 20)] == ["note", "warning"]


def test_repetition_in_one_class_is_an_error():
    clean, twice = both(CLEAN["en"] * 10), [("A", DAMAGED["repeated-fragment"][2])] * 20
    (finding,) = found(rows(clean + twice))
    assert (finding.code, finding.severity, finding.count) == ("repeated-fragment", "error", 20)


def test_an_invisible_character_between_repetitions():
    findings = found(rows([("A", "She went home \u200b she went home .")]))
    assert {finding.code for finding in findings} == {"control-characters", "repeated-fragment"}


def test_kinds_of_markup_are_counted():
    (finding,) = found(rows(both(["A < br > here .", "A < br > and ( ) here ."])))
    assert finding.evidence == {"rows": 4, "tags": 4, "emptied brackets": 2}
    assert finding.count == 4


def test_splits_are_reported_apart():
    made = rows(both(CLEAN["en"]), both(CLEAN["en"]), [("A", "It does n 't work ."), ("B", "It works .")])
    assert [(f.code, f.split, f.count, f.evidence["rows"]) for f in found(made)] == [("split-tokens", "te", 1, 2)]


@pytest.mark.parametrize("sentence", SOUND)
@pytest.mark.parametrize(
    "encoding", ["latin-1", "iso8859-2", *(f"cp125{i}" for i in (0, 1, 2, 3, 4, 7)), "mac-roman", "cp437"]
)
def test_all_that_ftfy_can_undo_is_found(sentence, encoding):
    garbled = " ".join(sentence.encode().decode(encoding, errors="ignore").split())
    codes = {f.code for f in found(rows([("A", garbled)]))}
    assert ("mojibake" in codes) == (fix_encoding(garbled) != garbled)


def test_examples_show_the_damage_and_not_the_sentence():
    long = "On a cold day in late autumn the old dog ' s tail froze to the wooden bridge ."
    (finding,) = found(rows([("A", long)]))
    assert finding.examples == ("the old dog ' s tail froze",)
    (finding,) = found(rows([("A", f"{i} words before the cafÃ© and many words after it") for i in range(9)]))
    assert finding.examples == ("before the cafÃ© and many",)
    (finding,) = found(
        rows([("A", f"Some words and the {word} cafÃ© of ours") for word in ("old", "new", "big", "red")])
    )
    assert len(finding.examples) == MAX_EXAMPLES


def test_invisible_characters_are_shown():
    assert excerpt("a soft\u00adhyphen in it", 6, 7) == "a soft\\u00adhyphen in"
    assert excerpt("one two", 4, 7) == "two"
    assert excerpt("alone", 0, 5) == "alone"


def test_unspaced_scripts_are_not_one_token_unless_the_set_has_tokens():
    assert found(rows(both(CLEAN["ja"]))) == []
    own = Split.of_set(Dataset("x/t", "t", 1, None, ("A",), {"tr": [Example("A", ("こんにちは",), "こんにちは。")]}))
    assert [f.code for f in found(own)] == ["one-token"]


# Habits

WAYS = {
    "final full stop attached": ("We saw the hills.", "We saw the hills ."),
    "commas attached": ("First, we went home.", "First , we went home."),
    "typographic quotes": ("They call it “home” now.", 'They call it "home" now.'),
    "Penn quotes": ("They call it `` home '' now.", "They call it “home” now."),
    "curly apostrophes": ("We can’t go on.", "We can't go on."),
    "double or unusual spaces": ("We saw  the hills.", "We saw the hills."),
    "contractions split": ("We do n't go on.", "We don't go on."),
    "no final punctuation": ("We saw the hills", "We saw the hills."),
    "initial capital": ("We saw the hills.", "we saw the hills."),
}


def habits(made: Split, expectations: Expectations | None = None):
    """What is found in rows that are all different: a word is put in after the first."""
    words = ("".join("abcdefghij"[int(c)] for c in str(i)) for i in range(len(made)))
    text = (f" {word} ".join(t.split(" ", 1)) for t, word in zip(made.texts, words, strict=True))
    made = replace(made, texts=tuple(text))
    return {
        (f.evidence["habit"], f.evidence["across"]): f
        for f in found(made, expectations)
        if f.code == "mixed-tokenisation"
    }


def test_every_habit_is_tried():
    assert [h.name for h in CONVENTIONS] == list(WAYS)


@pytest.mark.parametrize("habit", WAYS)
def test_a_habit_that_tells_the_class_or_the_split_is_an_error(habit):
    one, two = WAYS[habit]
    by_class = habits(rows([("A", one), ("B", two)] * 50))[habit, "classes"]
    assert (by_class.severity, by_class.split, by_class.count) == ("error", None, 50)
    assert (by_class.evidence["lowest"], by_class.evidence["highest"]) == (0, 1)
    by_split = habits(rows(both([one] * 50), both([two] * 50)))[habit, "splits"]
    assert (by_split.severity, by_split.count) == ("error", 100)


@pytest.mark.parametrize("habit", WAYS)
def test_a_habit_that_is_spread_evenly_is_none(habit):
    assert habits(rows(both(WAYS[habit] * 50), both(WAYS[habit] * 50))) == {}


@pytest.mark.parametrize("habit", WAYS)
def test_a_small_difference_is_a_warning_and_a_smaller_one_is_nothing(habit):
    one, two = WAYS[habit]

    def severity(k):
        made = rows([("A", one if i < k else two) for i in range(1000)] + [("B", two)] * 1000)
        return [f.severity for (name, _), f in habits(made).items() if name == habit]

    assert [severity(k) for k in (20, 60, 600)] == [[], ["warning"], ["error"]]


def test_what_the_task_is_about_is_passed_over():
    told_by = {habit: [("A", one), ("B", two)] * 50 for habit, (one, two) in WAYS.items()}
    ends, capitals, commas = (told_by[h] for h in ("no final punctuation", "initial capital", "commas attached"))
    assert habits(rows(ends), Expectations(solved_by=frozenset({"punctuation"}))) == {}
    assert habits(rows(ends), Expectations(solved_by=frozenset({"edges", "unigrams"}))) == {}
    assert habits(rows(capitals), Expectations(solved_by=frozenset({"edges"}))) == {}
    assert list(habits(rows(capitals), Expectations(solved_by=frozenset({"punctuation"})))) == [
        ("initial capital", "classes")
    ]
    assert list(habits(rows(commas), Expectations(solved_by=frozenset({"edges"})))) == [("commas attached", "classes")]


def test_many_classes_are_compared_as_a_whole():
    one, two = WAYS["curly apostrophes"]
    by_class = [(f"c{c}", one if c % 2 else two) for c in range(200) for _ in range(20)]
    (finding,) = habits(rows(by_class)).values()
    assert finding.severity == "error"
    assert finding.evidence["difference"] == pytest.approx(1, abs=0.05)
    draw = random.Random(1)
    assert habits(rows([(f"c{c}", draw.choice((one, two))) for c in range(200) for _ in range(20)])) == {}


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), min_size=2, max_size=MANY_GROUPS))
def test_the_test_is_scipys(counts):
    groups = [(k, k + rest) for k, rest in counts]
    kept = [(k, rest) for k, rest in counts if k + rest]
    shares = [k / n for k, n in groups if n >= 20]
    apart = max(shares) - min(shares) if shares else 0.0
    expected = None
    if apart >= APART and all(map(any, zip(*kept, strict=True))):
        expected = apart if chi2_contingency(kept, correction=False).pvalue < MAX_P_HABIT else None
    assert difference(groups) == expected


def test_nothing_is_said_of_nothing():
    assert found(rows([])) == []
    assert difference([]) is None
    assert Counter(f.code for f in found(rows([("A", "")]))) == {"empty-text": 1}
