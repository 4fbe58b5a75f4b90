"""`sentprobe judge` from sets to the tables and the page of a run."""

import csv
import json
import shutil

import pytest

from sentprobe.report import Report
from sentprobe.run import Run
from tests import command_line
from tests.command_line import sentprobe


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run whose sets two people judged, one of them only in part, and a third who guesses."""
    folder = tmp_path_factory.mktemp("judged")
    made = ("make", "--builtin", "3000", "-t", "bigram_shift", "--sizes", "100/40/60", "-o", "probes")
    assert sentprobe(*made, cwd=folder).returncode == 0
    command = ("run", "probes", "-e", "static:", "-e", "baseline:length", "-o", "run", "--resample", "0")
    assert sentprobe(*command, cwd=folder).returncode == 0
    assert (
        sentprobe("judge", "sample", "probes", "-n", "30", "--control", "10", "-o", "sheets", cwd=folder).returncode
        == 0
    )
    (sheet,) = json.loads((folder / "sheets/key.json").read_text())["sheets"]
    for name in ("anna", "ben", "guess"):
        with (folder / f"{name}.tsv").open("w", newline="") as out:
            writer = csv.writer(out, delimiter="\t", lineterminator="\n")
            writer.writerow(["item", "label"])
            for i, item in enumerate(sheet["items"]):
                answer = "original" if name == "guess" else sheet["answers"][item["label"]]
                writer.writerow([item["id"], "" if name == "ben" and i % 2 else answer])
    read = ("judge", "read", "sheets", "anna.tsv", "ben.tsv", "guess.tsv", "--run", "run", "--min-controls", "3")
    return folder, sentprobe(*read, cwd=folder)


def test_the_table_says_how_well_people_did(run):
    _, done = run
    assert done.returncode == 0
    assert "conneau2018/bigram_shift     100.0" in done.stdout
    assert "2 of 3" in done.stdout
    assert "guess does not count" in done.stdout
    assert "Put beside the results of run" in done.stderr


def test_sheets_of_one_task(run):
    folder, _ = run
    words = ("judge", "sample", "probes", "--control", "3", "-n", "5")
    done = sentprobe(*words, "-t", "bigram_shift", "-o", "shifts", cwd=folder)
    assert done.returncode == 0
    assert "8 sentences of 1 set written to shifts/" in done.stderr
    done = sentprobe(*words, "-t", "passive", "-o", "passives", cwd=folder)
    assert done.returncode == 1
    assert "passive" in done.stderr
    assert not (folder / "passives").exists()


def test_the_table_has_room_for_all_columns_in_80(run, monkeypatch):
    folder, _ = run
    monkeypatch.setitem(command_line.PLAIN, "COLUMNS", "80")
    done = sentprobe("judge", "read", "sheets", "anna.tsv", "ben.tsv", "guess.tsv", "--min-controls", "3", cwd=folder)
    head, first = done.stdout.splitlines()[:2]
    assert head.split()[-3:] == ["ties", "people", "alpha"]
    assert first.split()[-4:] == ["2", "of", "3", "1.00"]
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_people_stand_beside_encoders(run):
    folder, _ = run
    shown = sentprobe("show", "run", "--format", "md", cwd=folder).stdout
    assert "| human |" in shown
    assert "People and encoders on the sentences that people judged" in shown
    assert "Response bias" in shown
    assert ", exchanged |" in shown
    assert "the majority vote of 2 annotators, 1 more having failed the controls, on 30 test sentences" in shown
    narrow = sentprobe("show", "run", cwd=folder).stdout
    assert "alpha" in narrow


def test_encoders_are_scored_on_the_sentences_that_were_judged(run):
    folder, _ = run
    loaded = Run.load(folder / "run")
    (own,) = Report.of(loaded).summary.sets
    assert own.people.n == 30
    assert own.people.dropped == 1
    texts = {
        row["text"]
        for row in json.loads(
            min((folder / "run/people").glob("*.json"), key=lambda p: p.name == "checksums.json").read_text()
        )["votes"]
    }
    for column, name in enumerate(("static:", "baseline:length")):
        (result,) = [r for r in loaded.results if r.cell.encoder == name]
        rows, right = loaded.rows(result), loaded.correct(result)
        mine = [bool(ok) for row, ok in zip(rows, right, strict=True) if row.text in texts]
        assert len(mine) == 30
        assert own.people.columns[column] == pytest.approx(sum(mine) / 30)
    for answers in zip(*(answer.columns for answer in own.people.answers), strict=True):
        assert sum(answers) == pytest.approx(1)


def test_a_filter_keeps_the_numbers_of_its_encoders(run):
    folder, _ = run
    shown = sentprobe("show", "run", "-e", "length", "--format", "json", cwd=folder).stdout
    (own,) = json.loads(shown)["sets"]
    assert len(own["people"]["columns"]) == 1
    assert {len(answer["columns"]) for answer in own["people"]["answers"]} == {1}


def test_the_page_has_a_section_on_people(run):
    folder, _ = run
    page = Report.of(Run.load(folder / "run")).html()
    assert 'id="people"' in page
    assert "Response bias" in page


def test_damaged_judgments_are_a_note_and_the_run_is_shown(run, tmp_path):
    folder, _ = run
    shutil.copytree(folder / "run", tmp_path / "run")
    next((tmp_path / "run/people").glob("*.json")).write_text("{}")
    shown = sentprobe("show", "run", cwd=tmp_path)
    assert shown.returncode == 0
    assert "people" in shown.stdout
    assert "Response bias" not in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("judge", "sample"), "Name the sets to be judged"),
        (("judge", "read", "sheets"), "Name the tables that were filled in"),
        (("judge", "read", "sheets", "anna.tsv", "--expert", "zoe"), "There is no annotator 'zoe'"),
        (("judge", "read", "sheets", "anna.tsv", "--run", "probes"), "it is not a run"),
        (("judge", "read", "probes", "anna.tsv"), "has no key.json"),
        (("judge", "read", "sheets", "anna.tsv", "--control-accuracy", "2"), "from 0 to 1"),
    ],
)
def test_wrong_use_is_explained(run, words, message):
    folder, _ = run
    done = sentprobe(*words, cwd=folder)
    assert done.returncode == 1
    assert message in done.stderr
