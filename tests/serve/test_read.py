"""Sentences → readings: what the probes of the run say, beside what is true."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sentprobe.encoders import load
from sentprobe.errors import UsageError
from sentprobe.probes import Features
from sentprobe.results.log import open_log
from sentprobe.results.run import Run
from sentprobe.serve.choices import probe_catalogue
from sentprobe.serve.encoders import Encoders
from sentprobe.serve.predict import MAX_SENTENCE_LENGTH, MAX_SENTENCES, PredictionRequest, Predictor, check_sentences
from tests.run.sets import Knowing, dataset
from tests.serve.runs import CONTENT, LENGTH, run, sentence_length, word_content, word_presence

SENTENCES = ["the boats in a", "He had , with the rivers and the towers .", "at by for"]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    return run(tmp_path_factory.mktemp("served") / "run", sets=(sentence_length, word_content, word_presence))


@pytest.fixture(scope="module")
def predictor():
    return Predictor(Encoders())


def answer(predictor, run, *sentences, **more):
    return predictor.predict(run, probe_catalogue(run), PredictionRequest(list(sentences), **more))


def test_readings_are_what_the_probes_of_the_run_say(predictor, served):
    found = answer(predictor, served, *SENTENCES)
    assert [e["name"] for e in found["encoders"]] == ["static:", "static:?dim=64"]
    assert found["problems"] == []
    assert [s["text"] for s in found["sentences"]] == SENTENCES
    for j, encoder in enumerate(found["encoders"]):
        table = load(encoder["name"])(SENTENCES)
        for k, name in enumerate((LENGTH, CONTENT)):
            result = next(r for r in served if (r.cell.encoder, r.cell.dataset) == (encoder["name"], name))
            shares = np.exp(served.model(result).scores(Features.of(table)))
            for i, said in enumerate(found["sentences"]):
                row = said["sets"][k]
                assert row["name"] == name
                cell = row["cells"][j]
                assert cell["label"] == result.labels[shares[i].argmax()]
                assert cell["classes"][0]["label"] == cell["label"]
                for one in cell["classes"]:
                    assert one["probability"] == pytest.approx(shares[i][result.labels.index(one["label"])], abs=1e-6)
                assert len(cell["classes"]) == 3
                assert cell["others"] == len(result.labels) - 3
                total = sum(one["probability"] for one in cell["classes"]) + cell["rest"]
                assert total == pytest.approx(1, abs=1e-5)


def test_what_is_true_stands_beside(predictor, served):
    found = answer(predictor, served, *SENTENCES)
    truths = [[row["truth"] for row in said["sets"]] for said in found["sentences"]]
    assert truths[0] == [{"labels": ["0"], "text": "4 tokens"}, {"labels": ["boats"], "text": "boats"}]
    assert truths[1] == [
        {"labels": ["2"], "text": "10 tokens"},
        {"labels": ["rivers", "towers"], "text": "rivers, towers"},
    ]
    assert truths[2][1] == {"labels": [], "text": "none of the 5 words"}
    # word content is solved by a mean of words: with one of the words the reading is right, with none there is no right
    content = [said["sets"][1]["cells"] for said in found["sentences"]]
    assert [cell["correct"] for cell in content[0]] == [True, True]
    assert all(cell["correct"] == (cell["label"] in ("rivers", "towers")) for cell in content[1])
    assert [cell["correct"] for cell in content[2]] == [None, None]
    assert found["sentences"][0]["sets"][1]["agreement"] == {"label": "boats", "n": 2, "of": 2}
    assert found["sentences"][0]["sets"][0]["cells"][0]["shown"].endswith(" tokens")


def test_sets_that_read_more_than_a_sentence_are_left_out(predictor, served):
    found = answer(predictor, served, "the boats in a")
    assert found["excluded"] == [{"set": "Word presence", "why": "Its probe takes the sentence and word."}]


def test_baselines_are_read_if_they_are_asked_for(predictor, served):
    found = answer(predictor, served, "the boats in a", encoders=["baseline:hash"])
    assert [row["cells"][0]["label"] for row in found["sentences"][0]["sets"]][1] == "boats"
    assert found["sentences"][0]["sets"][0]["agreement"] is None


def test_two_sentences_are_compared(predictor, served):
    found = answer(predictor, served, "the boats in a", "boats the in a", compare=True)
    assert [[round(c["value"], 3) for c in cosines] for cosines in found["cosines"]] == [
        [1.0],
        [1.0],
    ]  # a mean of words
    one, two = (load("static:")([text])[0] for text in ("the boats", "a tower"))
    other = answer(predictor, served, "the boats", "a tower", compare=True, encoders=["static:"])
    expected = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert other["cosines"] == [[{"layer": None, "value": pytest.approx(float(expected), abs=1e-6)}]]
    with pytest.raises(UsageError, match="Expected two sentences to compare, got 1"):
        answer(predictor, served, "the boats", compare=True)


def test_a_zero_vector_has_no_cosine(served):
    class Zero(Encoders):
        def vectors(self, name, identity, texts):
            found = super().vectors(name, identity, texts)
            return replace(found, vectors=np.zeros_like(found.vectors))

    found = answer(Predictor(Zero()), served, "a", "b", compare=True, encoders=["static:"])
    assert found["cosines"] == [[{"layer": None, "value": None}]]


class Layered(Knowing):
    """An encoder with a layer that knows and one that does not."""

    layers = ("0", "1")

    def __call__(self, texts):
        known = super().__call__(texts)
        return np.stack([np.random.default_rng(0).normal(size=known.shape), known])


class Holding(Encoders):
    """Encoders that are objects of the test."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def _load(self, name):
        return self.encoder


def test_layers_are_the_best_on_dev_or_as_asked(tmp_path):
    own = run(tmp_path / "run", {"layered": Layered()}, (dataset,), baselines=[], probe_seeds=[1, 2])
    here = Predictor(Holding(Layered()))
    (choice,) = probe_catalogue(own).choices
    assert choice.layers == ["0", "1"]
    found = answer(here, own, "c1 bal")
    assert found["sentences"][0]["sets"][0]["cells"][0] | {"classes": 0} == {
        "label": "c1", "shown": "c1", "probability": pytest.approx(1, abs=0.05), "layer": "1", "classes": 0,
        "others": 0, "rest": pytest.approx(0, abs=1e-6), "correct": None,
    }  # fmt: skip
    other = answer(here, own, "c1 bal", layers={"layered": "0"})
    assert other["sentences"][0]["sets"][0]["cells"][0]["layer"] == "0"
    compared = answer(here, own, "c1 bal", "c0 bal", compare=True)
    assert [c["layer"] for c in compared["cosines"][0]] == ["1"]
    with pytest.raises(UsageError, match="no layer '7'; expected one of 0, 1"):
        answer(here, own, "c1 bal", layers={"layered": "7"})


def test_an_encoder_that_cannot_be_loaded_is_told_and_the_others_are_read(predictor, tmp_path):
    own = run(tmp_path / "run", ["static:"], (word_content,), baselines=[])
    run(tmp_path / "run", {"mine": Knowing()}, (dataset,), baselines=[])
    found = answer(predictor, Run.load(tmp_path / "run"), "the boats")
    assert [problem["encoder"] for problem in found["problems"]] == ["mine"]
    assert "was passed to the run as a function" in found["problems"][0]["error"]
    by = {row["name"]: row["cells"] for row in found["sentences"][0]["sets"]}
    assert by[CONTENT][0]["label"] == "boats"
    assert by[CONTENT][1] is None
    assert by["own/task"] == [None, None]
    assert len(own) == 1


def test_a_damaged_probe_is_told_and_the_others_are_read(predictor, tmp_path):
    own = run(tmp_path / "run", baselines=[])
    result = next(r for r in own if (r.cell.encoder, r.cell.dataset) == ("static:", CONTENT))
    (own.folder / "probes" / f"{result.key}.npz").write_bytes(b"no archive")
    found = answer(predictor, own, "the boats")
    assert [(p["encoder"], "cannot be read" in p["error"]) for p in found["problems"]] == [("static:", True)]
    assert [cell and cell["label"] for cell in found["sentences"][0]["sets"][1]["cells"]] == [None, "boats"]


def test_a_probe_that_went_astray_is_told(predictor, tmp_path):
    own = run(tmp_path / "run", ["static:"], (word_content,), baselines=[])
    (result,) = own.results
    model = own.model(result)
    with open_log(own.folder) as log:
        log.add(result, None, {"weights": model.weights * np.nan, "bias": model.bias})
    found = answer(predictor, Run.load(own.folder), "the boats")
    assert "no probabilities" in found["problems"][0]["error"]
    assert found["sentences"][0]["sets"][0]["cells"] == [None]


def test_a_run_without_probes_offers_nothing(predictor, tmp_path):
    own = run(tmp_path / "run", ["static:"], (word_content,))
    for path in (own.folder / "probes").iterdir():
        path.unlink()
    catalogue = probe_catalogue(own)
    assert catalogue.choices == []
    assert [left["set"] for left in catalogue.excluded] == ["Word content"]
    assert "not stored" in catalogue.excluded[0]["why"]
    with pytest.raises(UsageError, match="No encoder was selected"):
        answer(predictor, own, "the boats")


def test_a_length_set_without_its_rows_has_no_truth(tmp_path):
    own = run(tmp_path / "run", ["static:"], (sentence_length,), baselines=[])
    for path in (own.folder / "datasets").iterdir():
        path.unlink()
    (row,) = answer(Predictor(Encoders()), own, "the boats in a")["sentences"][0]["sets"]
    assert row["truth"]["labels"] == []
    assert row["cells"][0]["shown"] == row["cells"][0]["label"]


def test_names_are_told_apart(tmp_path):
    own = run(tmp_path / "run", ["static:"], (word_content,), probes=["linear", "senteval?passes=1"], baselines=[])
    run(tmp_path / "run", ["static:"], (word_content,), limit=50, baselines=[])
    names = [choice.name for choice in probe_catalogue(Run.load(own.folder)).choices]
    assert len(set(names)) == len(names) == 3
    assert all(name.startswith("static:, ") for name in names)


def test_an_encoder_elsewhere_is_asked_only_if_it_is_named(served):
    with open_log(served.folder.parent / "copy") as log:
        log.describe(encoders=["openai:text-embedding-3-small"], datasets=list(served.info["datasets"]))
        result = served.results[0]
        cell = replace(result.cell, encoder="openai:text-embedding-3-small")
        log.add(
            replace(result, key=cell.key, cell=cell),
            served.predictions(result),
            {"weights": np.zeros((3, 256)), "bias": np.zeros(3)},
        )
    catalogue = probe_catalogue(Run.load(served.folder.parent / "copy"))
    assert [choice.remote for choice in catalogue.choices] == [True]
    assert catalogue.selected(None, {}) == []
    assert len(catalogue.selected(["openai:text-embedding-3-small"], {})) == 1


def test_unknown_encoders_are_named(served):
    with pytest.raises(UsageError, match=r"no stored probe of 'st:x'; expected one of static:, static:\?dim=64"):
        probe_catalogue(served).selected(["st:x"], {})
    with pytest.raises(UsageError, match="no layers to choose from"):
        probe_catalogue(served).selected(["static:"], {"static:": "3"})


@pytest.mark.parametrize(
    ("sentences", "why"),
    [
        ([], "Type a sentence"),
        (["fine", "  \t "], "Type a sentence"),
        (["a"] * (MAX_SENTENCES + 1), f"{MAX_SENTENCES + 1} sentences"),
        (["a" * (MAX_SENTENCE_LENGTH + 1)], "2,001 characters"),
        ([" " * MAX_SENTENCE_LENGTH + "a"], "2,001 characters"),
        (["half \ud83d"], "lone surrogate"),
    ],
)
def test_sentences_that_are_refused(sentences, why):
    with pytest.raises(UsageError, match=why):
        check_sentences(PredictionRequest(sentences))


def test_white_space_is_made_single():
    assert check_sentences(PredictionRequest(["\ta \n b\u2028c  "])) == ["a b c"]
    assert len(check_sentences(PredictionRequest(["a" * MAX_SENTENCE_LENGTH] * MAX_SENTENCES))) == MAX_SENTENCES


HOSTILE = [
    "\x00",
    "\u202egnp.exe",
    "<script>alert(1)</script>",
    "𝕬" * 600,
    "ـ" * 900,
    "(" * 1999,
    "🏴󠁧󠁢󠁳󠁣󠁴󠁿" * 50,
    "%s{0}${x}",
    "'; --",
]


def test_hostile_sentences_are_read_like_others(predictor, served):
    found = answer(predictor, served, *HOSTILE)
    assert [s["text"] for s in found["sentences"]] == HOSTILE
    assert found["problems"] == []
    assert b"NaN" not in msgspec.json.encode(found)
