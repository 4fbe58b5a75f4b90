"""What is known about a set: its audit, where it came from, and what papers printed of the suite's own set."""

import pytest

from sonde.published import published
from sonde.report import summarise
from sonde.report.printed import PRINTED
from sonde.run.folder import Run
from sonde.run.log import writing
from tests.report.runs import SUBJ, result


def only(folder, dataset=SUBJ, *, language="en", probe="linear", source=None, **said):
    """What the summary says of the one set of a run, of which run.json says this."""
    record, arrays = result("st:a", dataset, language=language, probe=probe)
    about = {"name": dataset, "digest": record.cell.data, "task": record.cell.task, "source": source, **said}
    with writing(folder) as log:
        log.describe(encoders=["st:a"], datasets=[about])
        log.add(record, arrays)
    (found,) = summarise(Run.load(folder))["sets"]
    return found


def source(kind, *paths, **more):
    return {"kind": kind, "paths": list(paths), "name": "", "task": "", "language": None, **more}


def test_of_a_set_of_which_nothing_is_known(tmp_path):
    found = only(tmp_path / "run", "own/colour")
    assert (found["audit"], found["corpus"], found["source"], found["inputs"], found["printed"]) == (
        None, None, None, [], [],
    )  # fmt: skip


def test_an_audit_is_counted_and_its_findings_kept_short(tmp_path):
    finding = {"code": "small-test", "severity": "warning", "message": "te has 96 rows", "advice": "more", "count": 96}
    found = only(tmp_path / "run", audit=[finding, finding | {"severity": "note"}, finding])
    assert {name: found["audit"][name] for name in ("error", "warning", "note")} == {
        "error": 0,
        "warning": 2,
        "note": 1,
    }
    assert found["audit"]["findings"][0] == {
        "code": "small-test", "severity": "warning", "message": "te has 96 rows",
    }  # fmt: skip
    assert only(tmp_path / "sound", audit=[])["audit"] == {"error": 0, "warning": 0, "note": 0, "findings": []}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (source("made", "/home/me/sets/conneau2018/subj_number"), "made by sonde: sets/conneau2018/subj_number"),
        (source("xprobe", "/x/en/subj/tr.txt", "/x/en/subj/te.txt"), "files in X-Probe's format: x/en/subj"),
        (source("table", "a.csv"), "a table: a.csv"),
        (source("CR", "/CR"), "CR: CR"),
    ],
)
def test_where_it_came_from(tmp_path, given, text):
    found = only(tmp_path / "run", source=given, corpus="en_ewt", inputs=["word"])
    assert (found["source"], found["corpus"], found["inputs"]) == (text, "en_ewt", ["word"])


@pytest.mark.parametrize(("probe", "table"), [("linear", "4"), ("senteval", "4"), ("mlp", "2"), ("unknown", "2")])
def test_the_table_with_the_same_kind_of_probe(tmp_path, probe, table):
    found = only(tmp_path / "run", probe=probe)["printed"]
    assert {(row["paper"], row["table"]) for row in found} == {("conneau2018", table)}
    assert len(found) == 30  # rows of either table: 24 models, 5 baselines, people
    # Conneau et al. (2018), column SubjNum of tables 2 and 4, first row
    assert found[0] == {
        "model": "Majority vote", "kind": "baseline", "accuracy": 0.5, "paper": "conneau2018", "table": table,
    }  # fmt: skip


def test_printed_rows_are_of_the_language_of_the_set(tmp_path):
    assert only(tmp_path / "conneau", language="pl")["printed"] == []
    polish = only(tmp_path / "pl", "universal2019/subj_number", language="pl")["printed"]
    assert [(row["model"], row["accuracy"]) for row in polish] == [
        (row.model, row.value) for row in published("subj_number", suite="universal2019", language="pl")
    ]


def test_sets_of_xprobe_by_their_source(tmp_path):
    given = source("xprobe", "/x/fr/subj_number/te.txt")
    french = only(tmp_path / "run", "subj_number", language="fr", source=given)["printed"]
    assert {row["paper"] for row in french} == {"xprobe2019"}
    assert only(tmp_path / "same name", "subj_number", language="fr")["printed"] == []


def test_transfer_sets_are_of_one_suite(tmp_path):
    found = only(tmp_path / "run", "CR", language=None)["printed"]
    every = [row for row in published("CR", suite="transfer") if row.metric == "accuracy"]
    assert len(found) == PRINTED < len(every)
    kinds = [row["kind"] for row in found]
    assert kinds.count("baseline") == sum(row.kind == "baseline" for row in every)
    worst = min(row["accuracy"] for row in found if row["kind"] == "model")
    shown = {(row["model"], row["accuracy"]) for row in found}
    assert all(row.value <= worst for row in every if row.kind == "model" and (row.model, row.value) not in shown)


def test_without_a_language_nothing_is_said_of_a_task_that_was_printed_in_many(tmp_path):
    assert only(tmp_path / "none", "XNLI", language=None)["printed"] == []
    assert only(tmp_path / "fr", "XNLI", language="fr")["printed"] != []
