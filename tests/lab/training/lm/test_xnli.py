"""Fine-tuning a language model on pairs with labels, and what it makes of other languages."""

import json

import numpy as np
import pytest
import torch

from sentprobe.errors import CorpusError, UsageError
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.examples import epoch_steps
from sentprobe.lab.training.lm.pretrained import load_pair_classifier, open_start
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import make_request
from sentprobe.lab.training.train import train
from sentprobe.lab.xnli.pairs import read_pairs
from sentprobe.lab.xnli.zero_shot import zero_shot
from tests.command_line import sentprobe
from tests.lab.training.lm.tiny import request, sentences, write
from tests.lab.training.tiny import same_weights

# so few updates are in an epoch that it begins to learn after the third
pytestmark = pytest.mark.filterwarnings("ignore:After 3 epochs, accuracy on dev")
KINDS = ("entailment", "neutral", "contradiction")


def _pairs(folder, name, language="en", n=90, seed=0):
    """Pairs whose label can be told by the second sentence alone."""
    texts = sentences(n, seed, language)
    said = {"entailment": "yes", "neutral": "maybe so", "contradiction": "no no no"}
    lines = [f"{texts[i]}\t{said[KINDS[i % 3]]}\t{KINDS[i % 3]}" for i in range(n)]
    return write(folder / f"{name}-{language}.tsv", lines)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    path = tmp_path_factory.mktemp("start")
    return train(request(path, "mlm", settings={"positions": 512}, options={"epochs": 1}), path / "lm").path


def _request(path, start, **more):
    settings = {"from": str(start), "samples": 60, **more.pop("settings", {})}
    options = {"epochs": 14, "lr": 0.01, "batch": 8, "patience": 0, **more.pop("options", {})}
    files = {"train": (f"en={_pairs(path, 'train')}",)}
    files["dev"] = tuple(f"{name}={_pairs(path, 'dev', name, 30, 1)}" for name in ("en", "qto"))
    return make_request("xnli", settings=settings, options=options, **{**files, **more})


@pytest.fixture(scope="module")
def trained(tmp_path_factory, start):
    path = tmp_path_factory.mktemp("xnli")
    return train(_request(path, start), path / "nli"), path


def test_it_learns_and_other_languages_are_scored_zero_shot(trained):
    folder, _ = trained
    scores = folder.scores(folder.best())
    assert scores["accuracy en"] > 60  # of three labels
    assert scores["accuracy"] == scores["accuracy en"]
    assert 0 <= scores["accuracy qto"] <= 100
    assert folder.config["facts"]["zero-shot"] == ["qto"]
    assert folder.config["rows"]["dev qto"]["used"] == 30
    assert folder.config["data"]["from"][0]["name"] == "lm/epoch-001"


def test_it_begins_with_the_language_model_and_changes_all_of_it(trained, start):
    folder, _ = trained
    before, first, last = open_start(str(start)).weights(), *(
        folder.weights(checkpoint) for checkpoint in (folder.find("epoch", 0), folder.checkpoints()[-1])
    )  # fmt: skip
    for name, weight in first.items():
        if name.startswith("transformer."):
            assert torch.equal(weight, before[name])
            assert not torch.equal(weight, last[name]) or "lang_embeddings" in name


def test_an_epoch_has_a_set_number_of_pairs_and_goes_on_in_the_next(tmp_path, start):
    plan = TrainingPlan(_request(tmp_path, start), tmp_path / "data")
    prepared = OBJECTIVES.get("xnli").prepare(plan)
    epochs = [epoch_steps(prepared.streams, 8, 1, epoch) for epoch in (1, 2, 3)]
    assert [len(steps) for steps in epochs] == pytest.approx([60 / 8] * 3, abs=1)
    seen = np.concatenate([step.rows for steps in epochs[:2] for step in steps])[:90]
    assert len(set(seen.tolist())) > 80  # of 90 pairs, before any is seen twice


def test_transformers_loads_the_classifier(trained):
    transformers = pytest.importorskip("transformers")
    folder, path = trained
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder.path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder.path)
    pairs = read_pairs(str(path / "dev-en.tsv"))
    inputs = tokenizer([p.premise for p in pairs], [p.hypothesis for p in pairs], padding=True, return_tensors="pt")
    with torch.inference_mode():
        theirs = model(**inputs, langs=torch.zeros_like(inputs["input_ids"])).logits.argmax(1).tolist()
    ours = load_pair_classifier(f"trained:{folder.path}")([(p.premise, p.hypothesis) for p in pairs], "en")
    assert theirs == ours
    assert model.config.id2label[0] == "entailment"
    with pytest.raises(UsageError, match="epcoh"):
        load_pair_classifier(f"trained:{folder.path}?epcoh=1")


def test_the_same_accuracy_by_the_command(trained, monkeypatch):
    folder, path = trained
    name = f"trained:{folder.path}"
    found = zero_shot(name, name, [pair.__class__(*_values(pair)) for pair in read_pairs(str(path / "dev-en.tsv"))])
    assert 100 * found.accuracy == pytest.approx(folder.scores(folder.best())["accuracy en"])
    monkeypatch.chdir(path)
    done = sentprobe("data", "xnli", "zero-shot", "dev-en.tsv", "dev-qto.tsv", "--classifier", name)
    assert done.returncode == 0
    assert f"{100 * found.accuracy:.1f} %" in done.stdout


def _values(pair):
    return pair.premise, pair.hypothesis, pair.label, "en", pair.votes


def test_it_resumes_bit_for_bit(trained, tmp_path, start):
    folder, _ = trained
    for epochs in (1, 2):
        train(_request(tmp_path, start, options={"epochs": epochs}), tmp_path / "nli")
    assert same_weights(folder.path, tmp_path / "nli")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"settings": {"from": ""}}, "Name a language model to begin with"),
        ({"train": ("xx=dev.tsv",)}, r"--train xx=…: .* knows en, qto"),
        ({"train": ("en-qto=dev.tsv",)}, "both sentences of a pair are of one language"),
        ({"train": ()}, "Name training data with its language"),
        ({"dev": ()}, "There is no dev data"),
        ({"settings": {"hidden": 32}}, "has sizes of its own"),
    ],
)
def test_bad_requests_are_refused(tmp_path, start, more, said):
    write(tmp_path / "dev.tsv", ["a\tb\tneutral"])
    more = {key: tuple(v.replace("dev.tsv", str(tmp_path / "dev.tsv")) for v in value) if key != "settings" else value
            for key, value in more.items()}  # fmt: skip
    with pytest.raises(UsageError, match=said):
        OBJECTIVES.get("xnli").prepare(TrainingPlan(_request(tmp_path, start, **more), tmp_path / "data"))


def test_other_folders_and_other_labels_are_refused(trained, tmp_path, start):
    with pytest.raises(UsageError, match="has no trained encoder"):
        open_start(str(tmp_path))
    bad = write(tmp_path / "bad.tsv", ["a b\tc d\tperhaps"])
    plan = TrainingPlan(_request(tmp_path, start, train=(f"en={bad}",)), tmp_path / "data")
    with pytest.raises(CorpusError, match="perhaps"):
        OBJECTIVES.get("xnli").prepare(plan)
    assert json.loads((trained[0].path / "config.json").read_text())["label2id"]["neutral"] == 1
