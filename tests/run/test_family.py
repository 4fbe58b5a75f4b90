"""A family of encoders: each set is probed with the member of its language."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe import Dataset, Example, evaluate, make_sets, select_tasks
from sentprobe.data.layouts import read_layout
from sentprobe.data.splits import splits_of
from sentprobe.encoders import encoder_info, load
from sentprobe.encoders.store import Store
from sentprobe.errors import DataError, EncoderError, SentProbeError, SentProbeWarning, UsageError
from sentprobe.report.summary import full_summary
from sentprobe.run.controls.memorise import memorise_labels
from sentprobe.run.encoder import splits_in_languages

CODE = """
import numpy as np

def _member(word):
    def encode(texts):
        assert all(word in text for text in texts), texts
        return np.array([[len(text), "yes" in text, "no" in text, word == "le"] for text in texts], float)
    encode.identity = "knows " + word
    return encode

en, fr = _member("the"), _member("le")
wide = lambda texts: np.ones((len(texts), 5))
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "members.py").write_text(CODE)
    (tmp_path / "both.toml").write_text('en = "py:members.py:en"\nfr = "py:members.py:fr"\n')
    return tmp_path


def make_set(language, word):
    rows = [Example(("yes", "no")[i % 2], (word,), f"{word} {('yes', 'no')[i % 2]} {i}") for i in range(120)]
    splits = {"tr": rows[:60], "va": rows[60:80], "te": rows[80:]}
    return Dataset(f"{language}/mood", "mood", 1, language, ("no", "yes"), splits)


def test_each_set_is_probed_with_the_member_of_its_language(place):
    sets = [make_set("en", "the"), make_set("fr", "le"), make_set("fr-CA", "le"), make_set("pl", "to")]
    run = evaluate("family:both.toml", sets, "run", baselines=["majority"], resample=0, store=Store(place / "store"))
    scores = {r.cell.dataset: r.score for r in run if r.cell.encoder == "family:both.toml"}
    assert scores == {"en/mood": 1.0, "fr/mood": 1.0, "fr-CA/mood": 1.0}
    (failure,) = run.failures
    assert failure.cell.dataset == "pl/mood"
    assert failure.error == (
        "There is no member for the language pl: both.toml has members for en, fr. Add one, or leave the set out."
    )
    summary = full_summary(run)
    assert len([c for c in summary.columns if c.encoder == "family:both.toml"]) == 1, "one column for all languages"


def test_a_set_without_a_language_and_controls(place):
    unknown = replace(make_set("en", "the"), language=None)
    with pytest.warns(SentProbeWarning, match="has members for en, and no set is in that language"):
        run = evaluate(
            "family:both.toml", [unknown, make_set("fr", "le")], "run", baselines=[], resample=0, controls=["permuted"]
        )  # fmt: skip
    assert {"--as-language" in f.error for f in run.failures} == {True}
    assert [r.cell.variant for r in run.extras]


def test_training_rows_may_be_in_another_language(place):
    pairs = [("yes", "entailment"), ("no", "contradiction"), ("", "neutral")]
    for file, word in (("train-en", "the"), ("dev-fr", "le"), ("test-fr", "le")):
        rows = []
        for i in range(60):
            second, label = pairs[i % 3]
            letters = chr(97 + i // 8) + chr(97 + i % 8)
            rows.append(f"{word} {letters}\t{word} {second} {letters}\t{label}\n")
        (place / f"{file}.tsv").write_text("".join(rows))
    xnli = read_layout("XNLI", place, language="fr")
    assert (xnli.language, xnli.manifest["train_language"]) == ("fr", "en")
    parts = splits_in_languages(splits_of(xnli), load("family:both.toml"))
    assert [part.texts[0].partition("\t")[0] for part in (parts.train, parts.dev, parts.test)] == ["en", "fr", "fr"]
    run = evaluate("family:both.toml", xnli, "run", baselines=[], resample=0)
    assert not run.failures
    assert [r.n["te"] for r in run] == [60]
    rows = memorise_labels(splits_of(xnli), 1)
    found = splits_in_languages(rows, load("family:both.toml"))
    assert found.test is found.train, "it is tested on its training rows"
    assert found.test.texts[0].startswith("en\t")
    assert read_layout("XNLI", place, language="fr", train="train-en.tsv").manifest["train_language"] == "en"
    (place / "multinli.train.fr.tsv").write_bytes((place / "test-fr.tsv").read_bytes())
    translated = read_layout("XNLI", place, language="fr", train="multinli.train.fr.tsv")
    assert translated.manifest["train_language"] == "fr"
    (place / "dev-fr.tsv").unlink()
    held_out = splits_in_languages(splits_of(read_layout("XNLI", place, language="fr")), load("family:both.toml"))
    assert held_out.dev.texts[0].startswith("en\t"), "dev rows come from train"
    (place / "train-en.tsv").rename(place / "train-fr.tsv")
    assert read_layout("XNLI", place, language="fr", train="train-fr.tsv").manifest["train_language"] == "fr"


def test_texts_go_to_their_members_and_come_back_in_order(place):
    family = load("family:both.toml")
    texts = [*family.in_language(["le a"], "fr"), *family.in_language(["the bb", "the"], "en-GB")]
    assert family(texts)[:, [0, 3]].tolist() == [[4, 1], [6, 0], [3, 0]]
    assert family.cost(texts) == [4, 6, 3]
    assert "both.toml" in repr(family)
    identity = str(encoder_info(family).identity)
    (place / "both.toml").write_text('en = "py:members.py:en"\n')
    assert str(encoder_info(load("family:both.toml")).identity) != identity
    with pytest.raises(UsageError, match="name the member itself"):
        family(["the text"])


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "names no encoder"), ("fr = 3", "an encoder, in quotes"), ("fr: x", "expected lines such as fr ="),
     ('fr = "nothing:x"', "There is no encoder scheme"), ('fr = "family:bad.toml"', "and not one of family:"),
     (None, "cannot be read")],
)  # fmt: skip
def test_files_that_name_no_family(place, content, message):
    if content is not None:
        (place / "bad.toml").write_text(content)
    with pytest.raises(SentProbeError, match=message):
        load("family:bad.toml")


def test_a_member_whose_file_is_missing_is_found_before_anything_is_computed(place):
    (place / "lost.toml").write_text('en = "py:members.py:en"\nfr = "trained:nowhere"\n')
    with pytest.raises(UsageError, match=r"^family:lost\.toml: .*nowhere"):
        evaluate(["static:", "family:lost.toml"], make_set("en", "the"), "run")
    assert not (place / "run").exists()
    evaluate("family:both.toml", make_set("en", "the"), "run", baselines=[], resample=0)


def test_members_of_other_sizes_are_refused(place):
    (place / "bad.toml").write_text('en = "py:members.py:wide"\nfr = "py:members.py:fr"\n')
    family = load("family:bad.toml")
    with pytest.raises(EncoderError, match="differ in the dimensions of a vector: en 5, fr 4"):
        family([*family.in_language(["the"], "en"), *family.in_language(["le"], "fr")])
    assert encoder_info(family).identity is None
    with pytest.raises(DataError):
        load("family:nowhere.toml")


def test_untrained_members(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from sentprobe.run.controls.untrained import untrained
    from tests.lab.networks.folders import write_folder

    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "en", 1, hidden=4)
    (tmp_path / "f.toml").write_text('en = "trained:en?epoch=1"\nfr = "trained:en"\n')
    assert untrained("family:f.toml", 3) == "family:f.toml?random=3"
    family = load("family:f.toml?random=3")
    texts = ["the river was", "she never"]
    assert np.array_equal(family(family.in_language(texts, "fr")), load("trained:en?random=3")(texts))


def test_a_family_of_one_has_the_results_of_its_member(tmp_path, monkeypatch, small):
    """With measures that are given another encoder, controls, and tasks whose words are further inputs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.toml").write_text('en = "builtin:"\n')
    tasks = ["adi2017/word_order", "universal2019/past_present"]
    requests = [r for name in tasks for r in select_tasks(*name.split("/"), sizes="120/30/40")]
    sets = list(make_sets(small, requests))
    run = evaluate(
        ["builtin:", "family:one.toml"], sets, "run", resample=0, controls=["memorise"], measures=["given:words"]
    )  # fmt: skip
    assert not run.failures
    results = {}
    for r in [*run, *run.extras]:
        where = (r.cell.dataset, r.cell.variant)
        results.setdefault(r.cell.encoder, {})[where] = r.scores
    assert len(results["builtin:"]) > 4
    assert results["family:one.toml"].keys() == results["builtin:"].keys()
    for where, scores in results["builtin:"].items():
        assert results["family:one.toml"][where] == pytest.approx(scores, abs=1e-4), where
