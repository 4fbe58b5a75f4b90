"""Rows in another language are found, and only those; without a detector nothing is said."""

import random
from itertools import islice, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.audit.checks import language as module
from sentprobe.audit.checks.language import MOST_ROWS, audit_check, find
from sentprobe.corpus.languages import FEWEST_WORDS, has_detector
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import Example
from tests.audit.test_text import CLEAN

needs_detector = pytest.mark.skipif(not has_detector(), reason="needs the extra annotate")
ENGLISH = (
    *(t for t in CLEAN["en"] if len(t.split()) > FEWEST_WORDS),
    "The children were playing behind the church when it began to snow.",
    "He wanted to know why the train had stopped between two stations.",
)
FRENCH = (
    "Les enfants jouaient derrière l'église quand il a commencé à neiger.",
    "Il voulait savoir pourquoi le train s'était arrêté entre deux gares.",
    "Nous avons acheté des pommes, des poires et un morceau de pain.",
)
RUSSIAN = (
    "Дети играли за церковью, когда пошёл снег.",
    "Он хотел знать, почему поезд остановился между двумя станциями.",
)


def rows(*splits: list[str], labels="AB") -> Split:
    examples = {
        s: [Example(labels[i % len(labels)], tuple(t.split()), t) for i, t in enumerate(texts)]
        for s, texts in zip(("tr", "va", "te"), splits, strict=False)
    }
    return Split.of_set(Dataset("x/t", "t", 1, "en", tuple(sorted(labels)), examples))


def found(made: Split, code: str | None = "en"):
    return list(find(made, Expectations(language=code)))


def test_every_code_is_documented():
    assert [c.name for c in audit_check.codes] == ["other-language", "language-not-checked"]
    assert all(c.meaning.endswith(".") and c.advice.endswith(".") for c in audit_check.codes)


def test_without_a_detector_or_a_language_nothing_is_said(monkeypatch):
    assert found(rows(list(FRENCH)), None) == []
    monkeypatch.setattr(module, "has_detector", lambda: False)
    assert found(rows(list(FRENCH))) == []


@needs_detector
@pytest.mark.parametrize("code", ["en", "fr", "de", "pl", "ru", "tr", "el", "ja", "fa", "hi"])
def test_sound_sentences_are_in_their_own_language_and_in_no_other(code):
    assert found(rows(list(CLEAN[code])), code) == []
    (finding,) = found(rows([*CLEAN[code], *FRENCH, *RUSSIAN]), code)
    planted = {"fr": 3, "ru": 2}
    planted.pop(code, None)
    assert {k: v for k, v in finding.evidence.items() if k in ("fr", "ru")} == planted
    assert finding.count == sum(planted.values())


@needs_detector
@settings(max_examples=25)
@given(
    clean=st.lists(st.sampled_from(ENGLISH), min_size=1, max_size=40),
    planted=st.lists(st.sampled_from(FRENCH + RUSSIAN), min_size=1, max_size=10),
    seed=st.integers(0, 2**32),
)
def test_k_planted_rows_are_counted_whatever_the_order_and_the_labels(clean, planted, seed):
    texts = clean + planted
    shuffled = random.Random(seed).sample(texts, len(texts))
    (finding,) = found(rows(texts))
    assert (finding.code, finding.split, finding.count) == ("other-language", "tr", len(planted))
    assert finding.evidence["looked at"] == finding.evidence["rows"] == len(texts)
    assert found(rows(shuffled, labels="xyz")) == [finding]


@needs_detector
@pytest.mark.parametrize(("k", "severity"), [(1, "note"), (2, "warning"), (19, "warning"), (20, "error")])
def test_severity_follows_the_share(k, severity):
    (finding,) = found(rows([FRENCH[0]] * k + [ENGLISH[0]] * (198 - k)))
    assert finding.severity == severity


@needs_detector
def test_splits_are_reported_apart_and_examples_are_short():
    one, two = found(rows(list(ENGLISH), [*ENGLISH, FRENCH[0]], [RUSSIAN[0], *ENGLISH]))
    assert (one.split, two.split) == ("va", "te")
    assert one.examples == ("Les enfants jouaient derrière …",)


@needs_detector
def test_short_rows_are_not_looked_at():
    assert found(rows(["Il a mangé hier soir"[: -len(" soir")], "1 2 3 4 Où est-elle ?", *ENGLISH])) == []


@needs_detector
def test_a_large_split_is_sampled_by_its_text():
    nouns = ("baker", "king", "postman", "teacher", "sailor", "farmer", "doctor", "singer", "child", "neighbour")
    verbs = ("saw", "followed", "remembered", "forgot", "helped")
    places = ("in the garden", "before the war", "near the old bridge", "after a long summer", "at the station")
    every = (f"The {a} {v} the {b} {p}." for a, v, b, p in product(nouns, verbs, nouns, places))
    texts = [*islice(every, 2400), *(f"{t} Fin numéro {i}." for i in range(40) for t in FRENCH)]
    (finding,) = found(rows(texts))
    assert (finding.evidence["rows"], finding.evidence["looked at"]) == (2520, MOST_ROWS)
    # 120 of 2520 rows are French; of 2000 drawn without replacement 95 ± 4.3 (hypergeometric)
    assert 95 - 4 * 4.3 < finding.count < 95 + 4 * 4.3
    assert found(rows(texts[::-1])) == [finding]


@needs_detector
def test_a_language_that_the_detector_does_not_know_is_a_note():
    (finding,) = found(rows(list(ENGLISH)), "tlh")
    assert (finding.code, finding.severity, finding.split) == ("language-not-checked", "note", None)
    assert "tlh" in finding.message


@needs_detector
@pytest.mark.parametrize("code", ["en-GB", "en_US", "EN"])
def test_regions_make_no_difference(code):
    assert found(rows(list(ENGLISH)), code) == []
    assert found(rows(list(FRENCH)), code)[0].count == 3


@needs_detector
def test_close_relatives_count_as_one():
    serbian = ["Djeca su se igrala iza crkve kada je počeo da pada snijeg.", "Juče smo kupili jabuke, kruške i hljeb."]
    assert found(rows(serbian), "hr") == found(rows(serbian), "sr") == []
    assert found(rows(serbian), "en")[0].count == 2
