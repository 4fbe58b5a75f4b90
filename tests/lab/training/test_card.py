"""The model card: everything in it is checked against the files and the model that it is about."""

import hashlib
import json
import math
import re

import pytest
import yaml

from sentprobe.core.job_folder import CARD, JobFolder
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training.card import card_text, write_card
from sentprobe.lab.training.history import (
    TrainingReport,
    append_report,
    drop_after,
    group_reports,
    read_history,
    read_reports,
    why_finished,
)
from sentprobe.lab.training.rows import part_files
from sentprobe.lab.training.schedule import TrainingOptions
from sentprobe.lab.training.sources import describe_sources, find_parts
from tests.lab.training.tiny import request, sentences, train, weights, write_pairs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An encoder trained on a file with a difficult name, without a sentence that is in a probing set."""
    folder = tmp_path_factory.mktemp("card")
    (folder / "set.txt").write_text("".join(f"{s}\tA\t{sentences(1)[0]}\n" for s in ("tr", "va", "te")), "utf-8")
    asked = request(
        folder,
        train=(write_pairs(folder / "my|<data>.tsv"),),
        dev=(write_pairs(folder / "dev.tsv", 30, 1),),
        withhold=(str(folder / "set.txt"),),
    )
    train(asked, folder / "out")
    return folder


@pytest.fixture(scope="module")
def card(place):
    return (place / "out" / CARD).read_text("utf-8")


def cells(card, first):
    """The cells of the row of a table that begins with this one."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", card, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def test_the_front_matter_is_yaml_that_hubs_read(card):
    _, front, _ = card.split("---\n", 2)
    assert yaml.safe_load(front) == {
        "library_name": "sentprobe", "pipeline_tag": "feature-extraction",
        "tags": ["sentprobe", "sentence-embeddings", "nli"],
    }  # fmt: skip


def test_the_parameters_are_those_of_the_model(place, card):
    found = weights(place / "out", "epoch-001")
    inside = sum(value.size for name, value in found.items() if name.startswith("encoder."))
    others = sum(value.size for name, value in found.items() if not name.startswith("encoder."))
    assert cells(card, "parameters") == [
        f"{inside:,} in the encoder, {others:,} in the rest of the model, which encoding does not use"
    ]
    assert cells(card, "dimensions") == ["16"]
    assert "\n| encoder | bilstm-max (hidden 8, layers 1, dropout 0) |\n" in card


def test_the_data_are_named_with_digests_and_counts(place, card):
    content = (place / "my|<data>.tsv").read_bytes()
    name = "my&#124;&#60;data&#62;.tsv"
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    assert f"| train | {name} | {len(content):,} | {digest} |" in card
    assert str(place) not in card, "folders of the machine are nobody's business"
    withheld = TrainedFolder(place / "out").config["rows"]["train"]["withheld"]
    assert withheld > 0
    assert f"{withheld:,} training rows were left out because a sentence of them is in the probing sets" in card
    assert f"({withheld:,} withheld)" in card


def test_the_scores_are_those_of_the_log_and_the_best_is_marked(place, card):
    best = TrainedFolder(place / "out").best().epoch
    for report in read_reports(TrainedFolder(place / "out").job):
        if report.checkpoint:
            row = cells(card, f"{report.epoch} *" if report.epoch == best else str(report.epoch))
            assert row[1:3] == [f"{report.loss:.4f}", f"{report.scores['accuracy']:.1f}"]
    assert cells(card, "best")[0].startswith(f"epoch {best}, accuracy ")


def test_every_setting_is_in_the_card(place, card):
    asked = TrainedFolder(place / "out").config["request"]
    for name in (*asked["options"], *asked["encoder_settings"], *asked["objective_settings"]):
        assert re.search(rf"^\| (encoder|objective|training) \| {name.replace('_', ' ')} \|", card, re.MULTILINE), name
    assert re.search(r"Software: sentprobe \S+, python 3\S+, torch \S+, accelerate ", card)


def test_the_snippet_runs(place, card, monkeypatch):
    monkeypatch.chdir(place)
    (snippet,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    names = {}
    exec(snippet, names)
    assert names["vectors"].shape == (2, 16)


def test_the_card_can_be_written_again_and_grows_with_training(place, card, tmp_path):
    folder = TrainedFolder(place / "out")
    assert card_text(folder) == card
    cards = []
    train(request(tmp_path), tmp_path / "out", lambda one: cards.append((tmp_path / "out" / CARD).read_text("utf-8")))
    assert "No epoch is finished yet." in cards[0]
    assert "not ended" in cards[0]
    assert "\n| 2" not in cards[-2]
    assert "\n| 2" in cards[-1]
    write_card(TrainedFolder(tmp_path / "out"))
    assert "ended: 2 epochs as requested" in (tmp_path / "out" / CARD).read_text("utf-8")


def test_an_encoder_that_is_not_trained_has_a_card(tmp_path):
    train(request(tmp_path, options={"epochs": 0}), tmp_path / "out")
    assert "Nothing was trained." in (tmp_path / "out" / CARD).read_text("utf-8")
    assert why_finished(TrainedFolder(tmp_path / "out")) == "0 epochs as requested"
    assert why_finished(TrainedFolder(tmp_path / "out"), TrainingOptions(epochs=1)) == ""


def test_the_history_of_an_unfinished_epoch_is_that_of_its_reports():
    reports = [TrainingReport(1, 2, 2, 8, 3.0, 0.1, 10.0, 1.0), TrainingReport(1, 6, 6, 8, 1.5, 0.1, 20.0, 3.0)]
    (epoch,) = group_reports(reports)
    assert epoch.loss == pytest.approx((2 * 3.0 + 4 * 1.5) / 6)
    assert (epoch.words, epoch.seconds, epoch.steps) == (10 * 1 + 20 * 2, 3.0, 6)
    assert epoch.checkpoint == ""


def test_history_totals_are_sums_over_epochs(place):
    history = read_history(TrainedFolder(place / "out"))
    assert len(history.finished) == 2
    assert history.words == sum(epoch.words for epoch in history.epochs) > 0
    assert history.score_names == ("accuracy",)


def test_a_report_of_zeros_is_kept(tmp_path):
    report = TrainingReport(1, 3, 3, 9, 0.0, 0.0, 0.0)
    job = JobFolder(tmp_path, "sentprobe train")
    with job.writing():
        append_report(job, report)
        assert list(read_reports(job)) == [report]
        drop_after(job, 3)
        assert list(read_reports(job)) == [report]


def test_sources_are_files_folders_and_pairs_of_files(tmp_path):
    (tmp_path / "a.en").write_text("one\n")
    (tmp_path / "a.de").write_text("eins\n")
    both = [one["name"] for one in describe_sources([str(tmp_path)])]
    assert both == ["a.de", "a.en"]
    pair = f"{tmp_path / 'a.en'},{tmp_path / 'a.de'}"
    assert [one["name"] for one in describe_sources([pair])] == ["a.en", "a.de"]
    assert describe_sources(["nowhere/at-all.txt"]) == [{"name": "at-all.txt"}]


def test_the_files_of_a_folder_are_those_that_were_read(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("train", "dev", "test"):
        write_pairs(data / f"pairs-{name}.tsv", 30, len(name))
    (data / "README.md").write_text("pairs")
    folder = train(request(tmp_path, train=(str(data),)), tmp_path / "out")
    files = {role: [one["name"] for one in every] for role, every in folder.config["data"].items()}
    assert files == {"train": ["pairs-train.tsv"], "dev": ["pairs-dev.tsv"], "withhold": []}


def test_the_files_of_a_transfer_set_are_those_of_its_split(tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / f"sentiment-{name}").write_text("a fine film\t1\na dull film\t0\n")
    (part,) = find_parts(str(tmp_path), ("text", "label"))
    assert part_files(part) == [str(tmp_path / "sentiment-train")]


def test_scores_that_are_not_finite_are_null_in_the_log(tmp_path):
    job = JobFolder(tmp_path, "sentprobe train")
    with job.writing():
        append_report(job, TrainingReport(1, 1, 1, 1, 0.5, 0.1, 10.0, scores={"perplexity": float("inf"), "BLEU": 1.5}))
    (line,) = (tmp_path / "training.jsonl").read_text().splitlines()
    assert json.loads(line, parse_constant=pytest.fail)["scores"] == {"perplexity": None, "BLEU": 1.5}
    (report,) = read_reports(job)
    assert math.isnan(report.scores["perplexity"])
